//! State file of a tuning: its values so far, from which the same command goes on.

use std::{collections::BTreeMap, fs, io::ErrorKind, path::Path};

use serde::{Deserialize, Serialize};
use zeitnot_arena::matches::spsa::{Progress, Spsa};

use crate::cli::{CliError, replace_file::replace_file, unwritten};

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct State {
    /// Identifies the arguments that it belongs to.
    settings: String,
    /// Pairs played.
    pairs: u32,
    values: BTreeMap<String, f64>,
}

/// Goes on with what the file holds, or begins if there is none.
pub(super) fn resume(path: &Path, settings: &str, spsa: Spsa) -> Result<Spsa, CliError> {
    let wrong = |why: &str| CliError::Usage(format!("{}: {why}; or give another --state", path.display()));
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(spsa),
        Err(error) => return Err(wrong(&format!("cannot be read: {error}"))),
    };
    let state: State =
        toml::from_str(&text).map_err(|_| wrong("is no state of `zeitnot spsa`: remove it"))?;
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

pub(super) fn save(path: &Path, settings: &str, spsa: &Spsa) -> Result<(), CliError> {
    let Progress { pairs, values } = spsa.progress();
    let names = spsa.values().map(|(parameter, _)| parameter.name.clone());
    let state = State {
        settings: settings.to_owned(),
        pairs: *pairs,
        values: names.zip(values.iter().copied()).collect(),
    };
    let text = toml::to_string(&state).map_err(crate::cli::usage)?;
    replace_file(path, &format!("# State of `zeitnot spsa`: the same command goes on with it.\n{text}"))
        .map_err(unwritten(path))
}
