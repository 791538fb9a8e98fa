//! Who is known: names, passwords and ratings, and the file that keeps them.

use std::{
    collections::BTreeMap,
    fs, io,
    io::Write,
    path::{Path, PathBuf},
};

use tokio::{sync::watch, task::spawn_blocking};

use crate::error::ArenaError;

/// What everybody begins with.
pub(super) const FIRST_RATING: i32 = 1000;
/// What one game can change.
const K: f64 = 32.0;
/// Users, at most.
const MOST: usize = 10_000;
/// The longest name or password.
const LONGEST: usize = 100;
/// On top of the file.
const HEADING: &str =
    "# Users of IMCS: name, password, rating. Passwords are in the clear, as the protocol has them.\n";

/// One user.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct User {
    pub(super) password: String,
    pub(super) rating: i32,
}

/// All users by name.
#[derive(Default)]
pub(super) struct Book {
    users: BTreeMap<String, User>,
}

/// There are passwords in it.
impl std::fmt::Debug for Book {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Book of {} users", self.users.len())
    }
}

/// Why somebody cannot be registered.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Unfit {
    Taken,
    Name,
    Password,
    Full,
}

impl Book {
    /// Reads the file; there may be none yet.
    ///
    /// # Errors
    /// [`ArenaError::Users`] if it cannot be read, or a line of it.
    pub(super) fn open(path: &Path) -> Result<Book, ArenaError> {
        let error = |why: String| ArenaError::Users { path: path.to_owned(), why };
        match fs::read_to_string(path) {
            Ok(text) => Book::parse(&text)
                .map_err(|line| error(format!("line {line} is not: name, password, rating"))),
            Err(failed) if failed.kind() == io::ErrorKind::NotFound => Ok(Book::default()),
            Err(failed) => Err(error(failed.to_string())),
        }
    }

    /// Fails with the number of a line.
    fn parse(text: &str) -> Result<Book, usize> {
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
        Ok(Book { users })
    }

    /// The text of the file.
    pub(super) fn print(&self) -> String {
        self.users.iter().fold(HEADING.to_owned(), |text, (name, User { password, rating })| {
            text + &format!("{name} {password} {rating}\n")
        })
    }

    pub(super) fn find(&self, name: &str) -> Option<&User> {
        self.users.get(name)
    }

    pub(super) fn find_mut(&mut self, name: &str) -> Option<&mut User> {
        self.users.get_mut(name)
    }

    pub(super) fn register(&mut self, name: &str, password: &str) -> Result<(), Unfit> {
        if self.users.contains_key(name) {
            return Err(Unfit::Taken);
        } else if !is_name(name) {
            return Err(Unfit::Name);
        } else if !is_password(password) {
            return Err(Unfit::Password);
        } else if self.users.len() >= MOST {
            return Err(Unfit::Full);
        }
        self.users.insert(name.to_owned(), User { password: password.to_owned(), rating: FIRST_RATING });
        Ok(())
    }

    /// The best first.
    pub(super) fn ranking(&self) -> Vec<(&str, i32)> {
        let mut ranking: Vec<_> =
            self.users.iter().map(|(name, user)| (name.as_str(), user.rating)).collect();
        ranking.sort_by_key(|(_, rating)| std::cmp::Reverse(*rating));
        ranking
    }

    /// What a game changes; the score is that of the first: 1, a half or 0.
    pub(super) fn rate(&mut self, names: [&str; 2], score: f64) {
        let [first, second] = names.map(|name| self.find(name).map(|user| user.rating));
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

/// Elo, rounded down.
fn rated(ours: i32, theirs: i32, score: f64) -> i32 {
    let expected = 1.0 / (1.0 + 10f64.powf((f64::from(theirs) - f64::from(ours)) / 400.0));
    ours.saturating_add((K * (score - expected)).floor() as i32)
}

fn is_name(name: &str) -> bool {
    let plain = name.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b));
    plain && (1..=LONGEST).contains(&name.len())
}

pub(super) fn is_password(password: &str) -> bool {
    (1..=LONGEST).contains(&password.len()) && password.bytes().all(|b| b.is_ascii_graphic())
}

/// Writes the file whenever it changes; of many changes at once, the last.
pub(super) struct Saver {
    texts: watch::Receiver<String>,
    path: PathBuf,
}

/// A saver for the file, and what to hand texts to.
pub(super) fn saver(path: PathBuf) -> (watch::Sender<String>, Saver) {
    let (tx, texts) = watch::channel(String::new());
    (tx, Saver { texts, path })
}

impl Saver {
    /// Runs until nobody can hand it a text any more, and the last one is written.
    pub(super) async fn run(mut self) {
        while self.texts.changed().await.is_ok() {
            let text = self.texts.borrow_and_update().clone();
            let path = self.path.clone();
            let saved = spawn_blocking(move || save(&path, &text)).await;
            if let Ok(Err(error)) = saved {
                tracing::error!(file = %self.path.display(), %error, "cannot write the users of IMCS");
            }
        }
    }
}

/// The old file or the new one, never half of it.
fn save(path: &Path, text: &str) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_printed_is_read() {
        let mut book = Book::default();
        book.register("alice", "se#same").unwrap();
        assert_eq!(book.register("alice", "x"), Err(Unfit::Taken));
        assert_eq!(book.register("al ice", "x"), Err(Unfit::Name));
        assert_eq!(book.register("#", "x"), Err(Unfit::Name));
        assert_eq!(book.register("bob", "é"), Err(Unfit::Password));
        book.find_mut("alice").unwrap().rating = -5;
        let again = Book::parse(&book.print()).unwrap();
        assert!(again.users == book.users);
        assert!(!format!("{book:?}").contains("same"));
        assert!(matches!(Book::parse("# x\n\nalice x 1\nbob x"), Err(4)));
        assert!(matches!(Book::parse("alice x one"), Err(1)));
    }

    #[test]
    fn ratings_are_rounded_down() {
        let mut book = Book::default();
        ["a", "b"].iter().for_each(|name| book.register(name, "x").unwrap());
        book.rate(["a", "b"], 1.0);
        assert_eq!(book.ranking(), [("a", 1016), ("b", 984)]);
        book.rate(["a", "b"], 0.5);
        assert_eq!(book.ranking(), [("a", 1014), ("b", 985)]);
        book.rate(["a", "a"], 1.0);
        assert_eq!(book.find("a").unwrap().rating, 1014);
    }

    #[test]
    fn a_file_is_replaced_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new/users");
        save(&path, "one").unwrap();
        save(&path, "two").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "two");
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
        assert!(Book::open(&path).unwrap_err().to_string().contains("line 1"));
    }
}
