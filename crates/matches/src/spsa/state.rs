//! State file of a tuning: its values so far, from which the same command goes on.

use std::{collections::BTreeMap, fs, io::ErrorKind, path::Path};

use serde::{Deserialize, Serialize};
use zeitnot_net::{FileVersion, replace_file};

use super::{Progress, Spsa};
use crate::file_error::{FileError, content, unwritten};

/// Version of the file.
const VERSION: u64 = 1;

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct State {
    #[serde(default)]
    version: u64,
    /// Identifies the arguments that it belongs to.
    settings: String,
    /// Pairs played.
    pairs: u32,
    values: BTreeMap<String, f64>,
}

/// Goes on with what the file holds, or begins if there is none.
///
/// # Errors
/// [`FileError::Content`], also if it belongs to other `settings`.
pub fn resume(path: &Path, settings: &str, spsa: Spsa) -> Result<Spsa, FileError> {
    let wrong = |why: &str| content(path, format!("{why}; or give another --state"));
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(spsa),
        Err(error) => return Err(wrong(&format!("cannot be read: {error}"))),
    };
    let state = parse(&text).map_err(|why| wrong(&why))?;
    if state.settings != settings {
        return Err(wrong(
            "is of another tuning: give the engine, options, conditions and length that it was begun with",
        ));
    }
    let values =
        spsa.values().filter_map(|(parameter, _)| state.values.get(&parameter.name).copied()).collect();
    let progress = Progress { pairs: state.pairs, values };
    spsa.resume(progress).ok_or_else(|| wrong("has values out of range: mend it"))
}

fn parse(text: &str) -> Result<State, String> {
    let foreign = |_| "is not a state of `zeitnot spsa`: remove it".to_owned();
    let version: FileVersion = toml::from_str(text).map_err(foreign)?;
    version.check(VERSION).map_err(|newer| newer.to_string())?;
    toml::from_str(text).map_err(foreign)
}

/// Writes the file.
pub fn save(path: &Path, settings: &str, spsa: &Spsa) -> Result<(), FileError> {
    let Progress { pairs, values } = spsa.progress();
    let names = spsa.values().map(|(parameter, _)| parameter.name.clone());
    let state = State {
        version: VERSION,
        settings: settings.to_owned(),
        pairs: *pairs,
        values: names.zip(values.iter().copied()).collect(),
    };
    let text = toml::to_string(&state).map_err(|error| content(path, error))?;
    let text = format!("# State of `zeitnot spsa`: the same command goes on with it.\n{text}");
    replace_file(path, text.as_bytes()).map_err(unwritten(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_this_release_is_read_and_a_newer_one_refused() {
        let kept = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/files-0.1/spsa.toml");
        let kept = &fs::read_to_string(kept).unwrap();
        for text in [kept, &kept.replace("version = 1\n", "")] {
            let state = parse(text).unwrap();
            assert_eq!((state.pairs, state.values["BookDepth"]), (4, 254.5));
        }
        let newer = kept.replace("version = 1", "version = 2\nnew = 1");
        let told = parse(&newer).unwrap_err();
        assert_eq!(told, "is of a newer zeitnot (version 2, known is 1); update this one");
        assert!(parse("pairs = 4").unwrap_err().starts_with("is not a state of"));
    }
}
