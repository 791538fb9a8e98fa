//! The environment of child processes: ours, without secrets.

use std::{
    collections::BTreeSet,
    env,
    ffi::{OsStr, OsString},
    process::Command,
    sync::{Mutex, PoisonError},
};

/// Words in the names of variables with secrets: ours (`LICHESS_BOT_TOKEN`, `ZEITNOT_IMCS_PASSWORD`), and those of
/// others.
const SECRET_WORDS: [&str; 9] = [
    "TOKEN",
    "PASSWORD",
    "PASSWD",
    "SECRET",
    "CREDENTIAL",
    "API_KEY",
    "ACCESS_KEY",
    "PRIVATE_KEY",
    "JOIN_KEY",
];

/// Variables that a configuration takes secrets from.
static WITHHELD: Mutex<BTreeSet<OsString>> = Mutex::new(BTreeSet::new());

/// Withholds a variable from all child processes that start from now on, whatever its name says.
pub fn withhold(variable: &str) {
    WITHHELD.lock().unwrap_or_else(PoisonError::into_inner).insert(variable.into());
}

/// Removes the secrets from the environment of a child.
///
/// There is no list of allowed variables instead: nobody can know what an engine, its libraries or a student's
/// interpreter need.
pub(super) fn clear_of_secrets(command: &mut Command) {
    let withheld = WITHHELD.lock().unwrap_or_else(PoisonError::into_inner);
    for (name, _) in env::vars_os().filter(|(name, _)| withheld.contains(name) || names_secret(name)) {
        command.env_remove(name);
    }
}

fn names_secret(name: &OsStr) -> bool {
    let name = name.to_string_lossy().to_ascii_uppercase();
    SECRET_WORDS.iter().any(|word| name.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_told_by_their_names() {
        for secret in [
            "LICHESS_BOT_TOKEN",
            "LICHESS_EXPLORER_TOKEN",
            "ZEITNOT_TOKEN",
            "ZEITNOT_IMCS_PASSWORD",
            "ZEITNOT_JOIN_KEY",
            "lichess_bot_token",
            "AWS_SECRET_ACCESS_KEY",
        ] {
            assert!(names_secret(secret.as_ref()), "{secret}");
        }
        for plain in
            ["PATH", "HOME", "LD_LIBRARY_PATH", "OMP_NUM_THREADS", "CUDA_VISIBLE_DEVICES", "XKEYSYMDB"]
        {
            assert!(!names_secret(plain.as_ref()), "{plain}");
        }
    }

    #[test]
    fn a_variable_of_any_name_can_be_withheld() {
        // Cargo sets it for tests; no test of this program starts a child that reads it.
        withhold("CARGO_PKG_NAME");
        let mut command = Command::new("engine");
        clear_of_secrets(&mut command);
        let removed: Vec<_> = command.get_envs().collect();
        assert!(removed.contains(&(OsStr::new("CARGO_PKG_NAME"), None)), "{removed:?}");
        assert!(!removed.iter().any(|(name, _)| *name == "PATH"), "{removed:?}");
    }
}
