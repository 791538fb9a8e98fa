//! Users of IMCS: names, passwords and ratings, and the file that keeps them.

use std::{collections::BTreeMap, fs, io, path::Path};

use tokio::task::spawn_blocking;
use zeitnot_net::{FileVersion, replace_secret_file};

use crate::error::ArenaError;

pub(super) const FIRST_RATING: i32 = 1000;
const K: f64 = 32.0;
const MAX_USERS: usize = 10_000;
/// Longest name or password.
const MAX_LENGTH: usize = 100;
/// First line of the file.
const HEADING: &str = "# Users of IMCS, version 1: name, password, rating. Passwords are in the clear, as the protocol has them.\n";
/// Text before the version in that line. A file without it is of the first version.
const BEFORE_VERSION: &str = "# Users of IMCS, version ";
/// Version of the file.
const VERSION: u64 = 1;

#[derive(Clone, PartialEq, Eq)]
pub(super) struct User {
    pub(super) password: String,
    pub(super) rating: i32,
}

#[derive(Default)]
pub(crate) struct Users {
    pub(super) users: BTreeMap<String, User>,
}

/// Omits the users: there are passwords among them.
impl std::fmt::Debug for Users {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} users", self.users.len())
    }
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum RegisterError {
    Taken,
    Name,
    Password,
    Full,
}

impl Users {
    /// Reads the file, if there is one.
    pub(crate) fn open(path: &Path) -> Result<Users, ArenaError> {
        let error = |why: String| ArenaError::Users { path: path.to_owned(), why };
        match fs::read_to_string(path) {
            Ok(text) => {
                version(&text).check(VERSION).map_err(|newer| error(newer.to_string()))?;
                Users::parse(&text)
                    .map_err(|line| error(format!("line {line} is not: name, password, rating")))
            }
            Err(failed) if failed.kind() == io::ErrorKind::NotFound => Ok(Users::default()),
            Err(failed) => Err(error(failed.to_string())),
        }
    }

    /// Fails with a line number.
    fn parse(text: &str) -> Result<Users, usize> {
        let mut users = BTreeMap::new();
        for (at, line) in text.lines().enumerate() {
            let words: Vec<&str> = line.split_whitespace().collect();
            match words.as_slice() {
                [] => {}
                [first, ..] if first.starts_with('#') => {}
                [name, password, rating] if is_name(name) && is_password(password) => {
                    let rating = rating.parse().map_err(|_| at + 1)?;
                    users.insert((*name).to_owned(), User { password: (*password).to_owned(), rating });
                }
                _ => return Err(at + 1),
            }
        }
        Ok(Users { users })
    }

    fn print(&self) -> String {
        self.users.iter().fold(HEADING.to_owned(), |text, (name, User { password, rating })| {
            text + &format!("{name} {password} {rating}\n")
        })
    }

    /// Writes the file, and returns whether that worked.
    pub(super) async fn save(&self, path: &Path) -> bool {
        let (text, file) = (self.print(), path.to_owned());
        let saved = spawn_blocking(move || save(&file, &text)).await;
        let saved = saved.map_err(io::Error::from).flatten();
        if let Err(error) = &saved {
            let file = path.display();
            tracing::error!(
                "cannot write the users of IMCS to {file}: {error}; tried again with the next change and at the end: make room on the disk"
            );
        }
        saved.is_ok()
    }

    pub(super) fn register(&mut self, name: &str, password: &str) -> Result<(), RegisterError> {
        if self.users.contains_key(name) {
            return Err(RegisterError::Taken);
        } else if !is_name(name) {
            return Err(RegisterError::Name);
        } else if !is_password(password) {
            return Err(RegisterError::Password);
        } else if self.users.len() >= MAX_USERS {
            return Err(RegisterError::Full);
        }
        self.users.insert(name.to_owned(), User { password: password.to_owned(), rating: FIRST_RATING });
        Ok(())
    }

    /// Names and ratings, best first.
    pub(super) fn ranking(&self) -> Vec<(&str, i32)> {
        let mut ranking: Vec<_> =
            self.users.iter().map(|(name, user)| (name.as_str(), user.rating)).collect();
        ranking.sort_by_key(|(_, rating)| std::cmp::Reverse(*rating));
        ranking
    }

    /// Rates a game; the score is that of the first: 1, a half or 0.
    pub(super) fn rate(&mut self, names: [&str; 2], score: f64) {
        let [first, second] = names.map(|name| self.users.get(name).map(|user| user.rating));
        let (Some(first), Some(second), true) = (first, second, names[0] != names[1]) else { return };
        for (name, rating) in
            [(names[0], rated(first, second, score)), (names[1], rated(second, first, 1.0 - score))]
        {
            if let Some(user) = self.users.get_mut(name) {
                user.rating = rating;
            }
        }
    }
}

/// Version of a file by its first line.
fn version(text: &str) -> FileVersion {
    let told = text.strip_prefix(BEFORE_VERSION).and_then(|rest| rest.split_once(':'));
    FileVersion::new(told.and_then(|(number, _)| number.parse().ok()).unwrap_or(VERSION))
}

fn rated(ours: i32, theirs: i32, score: f64) -> i32 {
    let expected = 1.0 / (1.0 + 10f64.powf((f64::from(theirs) - f64::from(ours)) / 400.0));
    ours.saturating_add((K * (score - expected)).floor() as i32)
}

fn is_name(name: &str) -> bool {
    let plain = name.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b));
    plain && (1..=MAX_LENGTH).contains(&name.len())
}

pub(super) fn is_password(password: &str) -> bool {
    (1..=MAX_LENGTH).contains(&password.len()) && password.bytes().all(|b| b.is_ascii_graphic())
}

fn save(path: &Path, text: &str) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    replace_secret_file(path, text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_are_read_back() {
        let mut users = Users::default();
        users.register("alice", "se#same").unwrap();
        assert_eq!(users.register("alice", "x"), Err(RegisterError::Taken));
        assert_eq!(users.register("al ice", "x"), Err(RegisterError::Name));
        assert_eq!(users.register("#", "x"), Err(RegisterError::Name));
        assert_eq!(users.register("bob", "é"), Err(RegisterError::Password));
        users.users.get_mut("alice").unwrap().rating = -5;
        let again = Users::parse(&users.print()).unwrap();
        assert!(again.users == users.users);
        assert!(!format!("{users:?}").contains("same"));
        assert!(matches!(Users::parse("# x\n\nalice x 1\nbob x"), Err(4)));
        assert!(matches!(Users::parse("alice x one"), Err(1)));
    }

    #[test]
    fn ratings_are_rounded_down() {
        let mut users = Users::default();
        ["a", "b"].iter().for_each(|name| users.register(name, "x").unwrap());
        users.rate(["a", "b"], 1.0);
        assert_eq!(users.ranking(), [("a", 1016), ("b", 984)]);
        users.rate(["a", "b"], 0.5);
        assert_eq!(users.ranking(), [("a", 1014), ("b", 985)]);
        users.rate(["a", "a"], 1.0);
        assert_eq!(users.users.get("a").unwrap().rating, 1014);
    }

    #[test]
    fn a_file_is_replaced_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new/users");
        save(&path, "one").unwrap();
        save(&path, "two").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "two");
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
        assert!(Users::open(&path).unwrap_err().to_string().contains("line 1"));
    }

    #[test]
    fn a_file_of_this_release_is_read_and_a_newer_one_refused() {
        let kept = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/files-0.1/imcs-users");
        let users = Users::open(Path::new(kept)).unwrap();
        assert_eq!(users.ranking(), [("alice", 1016), ("bob", -5)]);
        let text = fs::read_to_string(kept).unwrap();
        assert_eq!(users.print(), text);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("users");
        fs::write(&path, text.replace("version 1", "version 2")).unwrap();
        let told = Users::open(&path).unwrap_err().to_string();
        assert!(told.contains("is of a newer zeitnot (version 2, known is 1); update this one"), "{told}");
        // From before it had a version.
        fs::write(&path, text.split_once('\n').unwrap().1).unwrap();
        assert_eq!(Users::open(&path).unwrap().ranking().len(), 2);
    }
}
