//! A file that holds the state of a run. It is replaced as a whole, so a kill leaves the one before.

use std::{
    fs::File,
    io::{self, Read},
    path::{Path, PathBuf},
};

use zeitnot_engine::net::NetShape;
use zeitnot_rules::fnv1a_bytes;

use crate::{
    corpus::Corpus, error::TrainError, feed::Place, layers::Shape, optimizer::Moments,
    parameters::Parameters, settings::Settings,
};

/// First bytes of the file; the last one is the version of the format.
const MAGIC: &[u8; 8] = b"ZNTTRN\0\x01";
/// Place of the version.
const VERSION: usize = MAGIC.len() - 1;
/// Settings that are compared, the size of the hidden layer first, and then the fingerprint of the games.
const SETTINGS: usize = 9;
/// Numbers of the state besides the parameters.
const NUMBERS: usize = 6;
/// Bytes of one of them.
const WORD: usize = 8;
/// Bytes before the parameters.
const HEAD: usize = MAGIC.len() + WORD * (SETTINGS + NUMBERS);
/// More is no checkpoint: a hidden layer of 1,024 needs ten.
const MAX_SIZE: u64 = 64 << 20;

/// All that changes during a run.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct State {
    pub(crate) parameters: Parameters,
    pub(crate) moments: Moments,
    /// Batches so far.
    pub(crate) batches: u64,
    /// Place of the next batch.
    pub(crate) place: Place,
    /// Sum of squared errors since the last report, and the number of positions.
    pub(crate) errors: (f64, u64),
}

/// State of a run, as a file holds it.
#[derive(Clone, Debug)]
pub struct Checkpoint {
    path: PathBuf,
    settings: [u64; SETTINGS],
    state: State,
}

impl Checkpoint {
    pub(crate) fn new(settings: &Settings, corpus: &Corpus, state: State) -> Checkpoint {
        Checkpoint { path: PathBuf::new(), settings: words(settings, corpus), state }
    }

    /// Reads a file; `None` if there is none.
    pub fn read(path: &Path) -> Result<Option<Checkpoint>, TrainError> {
        let mut bytes = Vec::new();
        match File::open(path).and_then(|file| file.take(MAX_SIZE).read_to_end(&mut bytes)) {
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(TrainError::Checkpoint { path: path.to_owned(), source }),
        }
        if bytes.starts_with(&MAGIC[..VERSION]) && bytes.get(VERSION) > MAGIC.get(VERSION) {
            return Err(TrainError::NewerCheckpoint(path.to_owned()));
        }
        let (settings, state) = parse(&bytes).ok_or_else(|| TrainError::NotACheckpoint(path.to_owned()))?;
        Ok(Some(Checkpoint { path: path.to_owned(), settings, state }))
    }

    pub fn parameters(&self) -> &Parameters {
        &self.state.parameters
    }

    /// The state, if it belongs to these settings and games.
    pub(crate) fn into_state(self, settings: &Settings, corpus: &Corpus) -> Result<State, TrainError> {
        let differs =
            |was: String, now: String| Err(TrainError::Differs { path: self.path.clone(), was, now });
        for ((name, now), was) in settings.in_common().into_iter().zip(self.settings) {
            if was != now {
                return differs(format!("--{name} {}", shown(name, was)), shown(name, now));
            }
        }
        if self.settings[SETTINGS - 1] != corpus.fingerprint() {
            return differs("other games".to_owned(), "these".to_owned());
        }
        Ok(self.state)
    }

    /// Returns the contents of its file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let State { parameters, moments, batches, place, errors } = &self.state;
        let numbers = [*batches, place.epoch, place.block, place.batch, errors.0.to_bits(), errors.1];
        let mut bytes = MAGIC.to_vec();
        bytes.extend(self.settings.iter().chain(&numbers).flat_map(|number| number.to_le_bytes()));
        for values in [&parameters.values, &moments.mean, &moments.square] {
            bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
        }
        bytes.extend(fnv1a_bytes(&bytes).to_le_bytes());
        bytes
    }
}

fn words(settings: &Settings, corpus: &Corpus) -> [u64; SETTINGS] {
    let mut words = [corpus.fingerprint(); SETTINGS];
    for (word, (_, value)) in words.iter_mut().zip(settings.in_common()) {
        *word = value;
    }
    words
}

/// A setting as it is written on the command line.
fn shown(name: &str, bits: u64) -> String {
    match name {
        "rate" | "score-weight" => f32::from_bits(bits as u32).to_string(),
        _ => bits.to_string(),
    }
}

fn parse(bytes: &[u8]) -> Option<([u64; SETTINGS], State)> {
    let (rest, told) = bytes.split_last_chunk()?;
    if !rest.starts_with(MAGIC) || fnv1a_bytes(rest) != u64::from_le_bytes(*told) {
        return None;
    }
    let (head, values) = rest.split_at_checked(HEAD)?;
    let (words, _) = head[MAGIC.len()..].as_chunks();
    let mut words = words.iter().map(|word| u64::from_le_bytes(*word));
    let mut next = || words.next();
    let mut settings = [0; SETTINGS];
    for setting in &mut settings {
        *setting = next()?;
    }
    let shape = NetShape::new(usize::try_from(settings[0]).ok()?)?;
    let batches = next()?;
    let place = Place { epoch: next()?, block: next()?, batch: next()? };
    let errors = (f64::from_bits(next()?), next()?);
    let count = Shape::from(shape).parameters();
    let (values, rest) = values.as_chunks();
    if values.len() != 3 * count || !rest.is_empty() {
        return None;
    }
    let values: Vec<f32> = values.iter().map(|value| f32::from_le_bytes(*value)).collect();
    let [values, mean, square] = [0, 1, 2].map(|part| values[part * count..][..count].to_vec());
    let state = State {
        parameters: Parameters { shape, values },
        moments: Moments { mean, square },
        batches,
        place,
        errors,
    };
    Some((settings, state))
}
