//! File of finished games: one file for each tournament and run, one append for each game.
//!
//! Disks can be slow, so writing has its own thread; and full, so a game that cannot be written is kept and tried
//! again.

use std::{
    collections::HashSet,
    fs::{self, File, OpenOptions},
    io,
    path::{Path, PathBuf},
};

use time::{OffsetDateTime, macros::format_description};
use tokio::sync::mpsc;

use zeitnot_net::{Outage, OutageNews, RecordQueue, append_whole};

use crate::error::ArenaError;

/// Games that may wait for the disk.
const QUEUE: usize = 1024;

/// New file of games.
#[derive(Debug)]
pub(crate) struct GameFile {
    file: File,
    path: PathBuf,
    games: usize,
    outage: Outage,
}

impl GameFile {
    /// Creates the file in the folder, named after the tournament and the time, with this ending.
    pub(crate) fn create(
        folder: &Path,
        tournament: &str,
        ending: &str,
        now: OffsetDateTime,
    ) -> Result<GameFile, ArenaError> {
        let stem = stem(tournament, now);
        fs::create_dir_all(folder)
            .and_then(|()| create(folder, &stem, ending))
            .map(|(file, path)| GameFile { file, path, games: 0, outage: Outage::default() })
            .map_err(|source| ArenaError::Games { folder: folder.to_owned(), source })
    }

    /// Appends a game, and waits until it is on the disk. A game that cannot be written whole is not written, and its
    /// owner should try again; the first such failure is reported.
    pub(crate) fn append(&mut self, game: &str) -> io::Result<()> {
        let written = append_whole(&mut self.file, game);
        let file = self.path.display();
        match (self.outage.note(&written), &written) {
            (Some(OutageNews::Begins), Err(error)) => tracing::error!(
                "cannot write a game to {file}: {error}; it is kept and tried again with the next: make room on the disk"
            ),
            (Some(OutageNews::Ends(_)), _) => tracing::info!("games are written to {file} again"),
            _ => {}
        }
        self.games += usize::from(written.is_ok());
        written
    }

    /// Reports games that are given up.
    pub(crate) fn report_lost(&self, games: usize) {
        if games > 0 {
            tracing::error!("games lost, as {} could not be written to: {games}", self.path.display());
        }
    }

    /// Leaves out the games whose marks are in a file of this kind in this folder.
    fn drop_written(&self, games: &mut Vec<Earlier>) {
        if games.is_empty() {
            return;
        }
        let files = self.path.parent().and_then(|folder| fs::read_dir(folder).ok());
        let paths = files.into_iter().flatten().flatten().map(|file| file.path());
        for path in paths.filter(|path| path.extension() == self.path.extension()) {
            let text = fs::read_to_string(path).unwrap_or_default();
            let marks: HashSet<_> = text.lines().collect();
            games.retain(|game| !marks.contains(game.mark.as_str()));
        }
    }

    /// Returns whether a file of this kind in this folder holds the game.
    pub(crate) fn is_written(&self, game: &str) -> bool {
        let files = self.path.parent().and_then(|folder| fs::read_dir(folder).ok());
        let paths = files.into_iter().flatten().flatten().map(|file| file.path());
        let mut same_kind = paths.filter(|path| path.extension() == self.path.extension());
        same_kind.any(|path| fs::read_to_string(path).is_ok_and(|text| text.contains(game)))
    }

    /// Returns the file, or `None` if there was nothing to write and the file is removed again.
    pub(crate) fn finish(self) -> Option<PathBuf> {
        if self.games == 0 {
            let _ = fs::remove_file(&self.path);
            return None;
        }
        Some(self.path)
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Store {
    games: mpsc::Sender<String>,
}

/// Game of an arena that was killed, perhaps before the game was written to its file.
#[derive(Clone, Debug)]
pub(crate) struct Earlier {
    /// Line by which it is found again.
    pub(crate) mark: String,
    pub(crate) text: String,
}

#[derive(Debug)]
pub(crate) struct StoreActor {
    games: mpsc::Receiver<String>,
    file: GameFile,
    earlier: Vec<Earlier>,
    unwritten: RecordQueue<String>,
}

impl Store {
    pub(crate) fn channel(file: GameFile) -> (Store, StoreActor) {
        let (tx, games) = mpsc::channel(QUEUE);
        let (earlier, unwritten) = (Vec::new(), RecordQueue::default());
        (Store { games: tx }, StoreActor { games, file, earlier, unwritten })
    }

    pub(crate) async fn write(&self, game: String) {
        // The writer lives as long as there is a sender; it does not give up on errors.
        let _ = self.games.send(game).await;
    }
}

impl StoreActor {
    /// Writes those of these games first that are in no file yet.
    pub(crate) fn after(self, earlier: Vec<Earlier>) -> StoreActor {
        StoreActor { earlier, ..self }
    }

    /// Writes until no sender is left; returns the file, if there were games. Blocks: for a thread of its own.
    pub(crate) fn run(mut self) -> Option<PathBuf> {
        self.file.drop_written(&mut self.earlier);
        for game in std::mem::take(&mut self.earlier) {
            self.unwritten.push(game.text);
            self.write();
        }
        while let Some(game) = self.games.blocking_recv() {
            self.unwritten.push(game);
            self.write();
        }
        self.write();
        self.file.report_lost(self.unwritten.missing());
        self.file.finish()
    }

    fn write(&mut self) {
        // The file reports its failures.
        let _ = self.unwritten.write(|game| self.file.append(game));
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
fn create(folder: &Path, stem: &str, ending: &str) -> io::Result<(File, PathBuf)> {
    let mut number = 1;
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
    fn games_that_cannot_be_written_are_kept_and_tried_again() {
        let folder = tempfile::tempdir().unwrap();
        let now = OffsetDateTime::UNIX_EPOCH;
        let (_, mut actor) = Store::channel(GameFile::create(folder.path(), "class", "pgn", now).unwrap());
        let path = actor.file.path.clone();
        let write = |actor: &mut StoreActor, game: &str| {
            actor.unwritten.push(game.into());
            actor.write();
        };
        write(&mut actor, "one\n");
        // Open for reading only.
        let writable = std::mem::replace(&mut actor.file.file, File::open(&path).unwrap());
        write(&mut actor, "two\n");
        write(&mut actor, "three\n");
        assert_eq!((actor.unwritten.missing(), fs::read_to_string(&path).unwrap()), (2, "one\n".into()));
        actor.file.file = writable;
        write(&mut actor, "four\n");
        assert_eq!(fs::read_to_string(&path).unwrap(), "one\ntwo\nthree\nfour\n");
        // The games still kept at the end are tried once more.
        actor.unwritten.push("five\n".into());
        assert_eq!(actor.run(), Some(path.clone()));
        assert_eq!(fs::read_to_string(&path).unwrap(), "one\ntwo\nthree\nfour\nfive\n");
    }

    #[test]
    fn games_that_a_kill_kept_from_their_file_are_written_once() {
        let folder = tempfile::tempdir().unwrap();
        let game = |id: &str| Earlier {
            mark: format!("[GameId \"{id}\"]"),
            text: format!("[GameId \"{id}\"]\n\n*\n\n"),
        };
        let run = |games: Vec<Earlier>| {
            let file = GameFile::create(folder.path(), "class", "pgn", OffsetDateTime::UNIX_EPOCH).unwrap();
            let (_, actor) = Store::channel(file);
            actor.after(games).run()
        };
        let first = run(vec![game("a")]).unwrap();
        let second = run(vec![game("a"), game("b")]).unwrap();
        assert_eq!(run(vec![game("a"), game("b")]), None);
        assert_eq!(
            [first, second].map(|file| fs::read_to_string(file).unwrap()),
            [game("a").text, game("b").text]
        );
    }

    #[test]
    fn nothing_is_overwritten_and_nothing_empty_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let now = time::macros::datetime!(2026-03-01 12:30:05 UTC);
        let open = || GameFile::create(&folder.path().join("games"), "../class", "pgn", now).unwrap();
        let ((first, writer), second) = (Store::channel(open()), open());
        first.games.blocking_send("one\n".into()).unwrap();
        first.games.blocking_send("two\n".into()).unwrap();
        drop(first);
        let path = writer.run().unwrap();
        assert!(path.ends_with("games/___class-2026-03-01-123005.pgn"), "{path:?}");
        assert_eq!(fs::read_to_string(path).unwrap(), "one\ntwo\n");
        assert!(second.is_written("two\n") && !second.is_written("three\n"));
        assert_eq!(second.finish(), None);
        assert_eq!(fs::read_dir(folder.path().join("games")).unwrap().count(), 1);
    }
}
