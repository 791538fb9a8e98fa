//! File of the players of a tournament and their keys: a name and a key in each line.

use std::{collections::BTreeMap, io, path::Path};

use zeitnot_net::secret::Secret;
use zeitnot_net::{
    append_whole,
    secret_file::{self, SecretFileError},
};
use zeitnot_pairing::Name;
use zeitnot_wire::contest::Extension;

/// Largest file in bytes.
const MAX_FILE: u64 = 1 << 20;
/// First line of a new file.
const HEADING: &str = "# Players and their keys. A program joins with: JOIN tournament name key\n";

/// Error of a file of keys.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum KeysError {
    #[error(transparent)]
    File(#[from] SecretFileError),
    #[error("line {0} is not: name, key")]
    Line(usize),
    #[error("line {0} has the name of an earlier line")]
    Twice(usize),
    #[error("the system has no random numbers")]
    NoRandom,
}

impl From<io::Error> for KeysError {
    fn from(error: io::Error) -> Self {
        KeysError::File(error.into())
    }
}

/// Players and their keys.
#[derive(Debug, Default)]
pub struct Keys(BTreeMap<Name, Secret>);

impl Keys {
    pub(crate) fn new(keys: BTreeMap<Name, Secret>) -> Keys {
        Keys(keys)
    }

    /// Reads a file that only its owner can read.
    ///
    /// # Errors
    /// [`KeysError`]
    pub fn open(path: &Path) -> Result<Keys, KeysError> {
        Keys::parse(&secret_file::read_up_to(path, MAX_FILE)?)
    }

    pub(crate) fn parse(text: &str) -> Result<Keys, KeysError> {
        let mut keys = BTreeMap::new();
        for (at, line) in text.lines().enumerate() {
            let words: Vec<_> = line.split_whitespace().collect();
            let (name, key) = match words.as_slice() {
                [] => continue,
                [first, ..] if first.starts_with('#') => continue,
                [name, key] if !Extension::is_in(key) => (Name::try_from(*name), Secret::try_from(*key)),
                _ => return Err(KeysError::Line(at + 1)),
            };
            let (Ok(name), Ok(key)) = (name, key) else { return Err(KeysError::Line(at + 1)) };
            if keys.insert(name, key).is_some() {
                return Err(KeysError::Twice(at + 1));
            }
        }
        Ok(Keys(keys))
    }

    /// Adds keys for those names that have none to the file, which is made if there is none; returns those names.
    ///
    /// # Errors
    /// [`KeysError`]
    pub fn add(path: &Path, names: &[Name]) -> Result<Vec<Name>, KeysError> {
        let (mut known, is_new) = match Keys::open(path) {
            Ok(keys) => (keys, false),
            Err(KeysError::File(SecretFileError::Io(error))) if error.kind() == io::ErrorKind::NotFound => {
                (Keys::default(), true)
            }
            Err(error) => return Err(error),
        };
        let (mut added, mut text) = (Vec::new(), if is_new { HEADING.to_owned() } else { String::new() });
        for name in names {
            if !known.0.contains_key(name) {
                let key = Secret::random().ok_or(KeysError::NoRandom)?;
                text += &format!("{name} {}\n", key.expose());
                known.0.insert(name.clone(), key);
                added.push(name.clone());
            }
        }
        append_whole(&mut secret_file::private().append(true).create(true).open(path)?, &text)?;
        Ok(added)
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &Name> {
        self.0.keys()
    }

    pub(crate) fn of(&self, name: &Name) -> Option<&Secret> {
        self.0.get(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<Name> {
        names.iter().map(|name| Name::try_from(*name).unwrap()).collect()
    }

    #[test]
    fn keys_are_added_and_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("keys");
        assert_eq!(Keys::add(&path, &names(&["alice", "bob"])).unwrap(), names(&["alice", "bob"]));
        let before = std::fs::read_to_string(&path).unwrap();
        assert_eq!(Keys::add(&path, &names(&["bob", "carol", "carol"])).unwrap(), names(&["carol"]));
        let after = std::fs::read_to_string(&path).unwrap();
        assert!(after.starts_with(&before) && after.lines().count() == 4, "{after}");
        let keys = Keys::open(&path).unwrap();
        let shown = before.lines().nth(1).unwrap().strip_prefix("alice ").unwrap();
        assert!(keys.of(&names(&["alice"])[0]).unwrap().is(shown));
        assert!(!format!("{keys:?}").contains(shown));
    }

    #[test]
    fn mistakes_are_reported_without_the_keys() {
        for (text, why) in [
            ("alice hush bot", "line 1 is not: name, key"),
            ("# x\n\nalice", "line 3 is not: name, key"),
            ("ali\u{200b}ce hush", "line 1 is not: name, key"),
            ("alice hush\nalice hush2", "line 2 has the name of an earlier line"),
        ] {
            assert_eq!(Keys::parse(text).unwrap_err().to_string(), why);
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_others_can_read_is_refused() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("keys");
        Keys::add(&path, &names(&["alice"])).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
        let error = Keys::open(&path).unwrap_err().to_string();
        assert!(error.starts_with("others can read it: chmod 600"), "{error}");
    }
}
