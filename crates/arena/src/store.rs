//! File of finished games: one file for each tournament and run, one append for each game.
//!
//! Disks can be slow, so writing has its own thread.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
};

use time::{OffsetDateTime, macros::format_description};
use tokio::sync::mpsc;

use crate::error::ArenaError;

/// Games that may wait for the disk.
const QUEUE: usize = 1024;

/// Format of the games.
#[derive(Copy, Clone, Debug)]
pub(crate) enum Kind {
    Pgn,
    /// One line for each game.
    Text,
}

impl Kind {
    fn ending(self) -> &'static str {
        match self {
            Kind::Pgn => "pgn",
            Kind::Text => "txt",
        }
    }
}

/// Sender of games to the writer.
#[derive(Clone, Debug)]
pub(crate) struct Store {
    games: mpsc::Sender<String>,
}

/// Writer, the owner of the file.
#[derive(Debug)]
pub(crate) struct StoreActor {
    games: mpsc::Receiver<String>,
    file: File,
    path: PathBuf,
}

impl Store {
    /// Creates a new file in the folder, named after the tournament and the time.
    pub(crate) fn open(
        folder: &Path,
        tournament: &str,
        kind: Kind,
        now: OffsetDateTime,
    ) -> Result<(Store, StoreActor), ArenaError> {
        let error = |source| ArenaError::Games { folder: folder.to_owned(), source };
        fs::create_dir_all(folder).map_err(error)?;
        let (file, path) = create(folder, &stem(tournament, now), kind).map_err(error)?;
        let (tx, rx) = mpsc::channel(QUEUE);
        Ok((Store { games: tx }, StoreActor { games: rx, file, path }))
    }

    /// Sends the text of a game.
    pub(crate) async fn write(&self, game: String) {
        // The writer lives as long as there is a sender; it does not give up on errors.
        let _ = self.games.send(game).await;
    }
}

impl StoreActor {
    /// Writes until no sender is left. Blocks: for a thread of its own.
    ///
    /// Returns the file, or `None` if there was nothing to write and the file is removed again.
    pub(crate) fn run(mut self) -> Option<PathBuf> {
        let mut written = 0_usize;
        while let Some(game) = self.games.blocking_recv() {
            written += 1;
            if let Err(error) = self.append(&game) {
                tracing::error!(file = %self.path.display(), %error, "could not write this game:\n{game}");
            }
        }
        if written == 0 {
            let _ = fs::remove_file(&self.path);
            return None;
        }
        Some(self.path)
    }

    fn append(&mut self, game: &str) -> io::Result<()> {
        self.file.write_all(game.as_bytes())?;
        self.file.sync_data()
    }
}

/// Returns `class-2026-03-01-123000`, with only such characters as every file system takes.
fn stem(tournament: &str, now: OffsetDateTime) -> String {
    let plain = |c: char| if c.is_alphanumeric() || matches!(c, '-' | '_') { c } else { '_' };
    let name: String = tournament.chars().map(plain).collect();
    let format = format_description!("[year]-[month]-[day]-[hour][minute][second]");
    format!("{name}-{}", now.format(format).unwrap_or_default())
}

/// Creates a file that did not exist; a number is added where the name is taken.
fn create(folder: &Path, stem: &str, kind: Kind) -> io::Result<(File, PathBuf)> {
    let (mut number, ending) = (1, kind.ending());
    loop {
        let name = if number == 1 { format!("{stem}.{ending}") } else { format!("{stem}-{number}.{ending}") };
        let path = folder.join(name);
        match OpenOptions::new().append(true).create_new(true).open(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && number < 1000 => number += 1,
            opened => return opened.map(|file| (file, path)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_overwritten_and_nothing_empty_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let now = time::macros::datetime!(2026-03-01 12:30:05 UTC);
        let open = || Store::open(&folder.path().join("games"), "../class", Kind::Pgn, now).unwrap();
        let ((first, first_actor), (second, second_actor)) = (open(), open());
        first.games.blocking_send("one\n".into()).unwrap();
        first.games.blocking_send("two\n".into()).unwrap();
        drop((first, second));
        let path = first_actor.run().unwrap();
        assert!(path.ends_with("games/___class-2026-03-01-123005.pgn"), "{path:?}");
        assert_eq!(fs::read_to_string(path).unwrap(), "one\ntwo\n");
        assert_eq!(second_actor.run(), None);
        assert_eq!(fs::read_dir(folder.path().join("games")).unwrap().count(), 1);
    }
}
