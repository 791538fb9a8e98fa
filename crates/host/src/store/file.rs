//! One file of finished games. A game is in it whole or not at all.

use std::{
    fs::{self, File, OpenOptions},
    io,
    path::{Path, PathBuf},
};

use time::{OffsetDateTime, macros::format_description};
use zeitnot_net::{Outage, OutageNews, append_whole};

/// Folder that takes no file of games.
#[derive(Debug, thiserror::Error)]
#[error("cannot write games to {}: {source}; set games = \"…\" to a folder that can be written", folder.display())]
pub struct UnusableFolder {
    /// Folder of the configuration.
    pub folder: PathBuf,
    /// Answer of the system.
    pub source: io::Error,
}

/// New file of games.
#[derive(Debug)]
pub struct GameFile {
    file: File,
    path: PathBuf,
    games: usize,
    bytes: u64,
    outage: Outage,
}

impl GameFile {
    /// Creates the file in the folder, named after the tournament and the time, with this ending.
    pub fn create(
        folder: &Path,
        tournament: &str,
        ending: &str,
        now: OffsetDateTime,
    ) -> Result<GameFile, UnusableFolder> {
        let stem = stem(tournament, now);
        fs::create_dir_all(folder)
            .and_then(|()| create(folder, &stem, ending))
            .map(|(file, path)| GameFile { file, path, games: 0, bytes: 0, outage: Outage::default() })
            .map_err(|source| UnusableFolder { folder: folder.to_owned(), source })
    }

    /// Appends a game, and waits until it is on the disk. A game that cannot be written whole is not written, and its
    /// owner should try again; the first such failure is reported.
    pub fn append(&mut self, game: &str) -> io::Result<()> {
        let written = append_whole(&mut self.file, game);
        let file = self.path.display();
        match (self.outage.note(&written), &written) {
            (Some(OutageNews::Begins), Err(error)) => tracing::error!(
                "cannot write a game to {file}: {error}; retrying with the next game: free some disk space"
            ),
            (Some(OutageNews::Ends(_)), _) => tracing::info!("writing games to {file} again"),
            _ => {}
        }
        if written.is_ok() {
            self.games += 1;
            self.bytes += game.len() as u64;
        }
        written
    }

    /// Returns where it lies.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the length.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    #[cfg(test)]
    pub(super) fn replace(&mut self, file: File) {
        self.file = file;
    }

    /// Reports games that are given up.
    pub fn report_lost(&self, games: usize) {
        if games > 0 {
            tracing::error!("{}: {games} games are lost, as it could not be written", self.path.display());
        }
    }

    /// Returns the file, or `None` if there was nothing to write and the file is removed again.
    pub fn finish(self) -> Option<PathBuf> {
        if self.games == 0 {
            let _ = fs::remove_file(&self.path);
            return None;
        }
        Some(self.path)
    }
}

/// Returns `class-2026-03-01-123000`.
fn stem(tournament: &str, now: OffsetDateTime) -> String {
    let format = format_description!("[year]-[month]-[day]-[hour][minute][second]");
    // Only such characters as every file system takes.
    let plain = |c: char| if c.is_alphanumeric() || matches!(c, '-' | '_') { c } else { '_' };
    let tournament: String = tournament.chars().map(plain).collect();
    format!("{tournament}-{}", now.format(format).unwrap_or_default())
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
    fn nothing_is_overwritten_and_nothing_empty_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let now = time::macros::datetime!(2026-03-01 12:30:05 UTC);
        let open = || GameFile::create(&folder.path().join("games"), "../class", "pgn", now).unwrap();
        let (mut first, second) = (open(), open());
        first.append("one\n").unwrap();
        first.append("two\n").unwrap();
        let writable = std::mem::replace(&mut first.file, File::open(&first.path).unwrap());
        first.append("three\n").unwrap_err();
        first.file = writable;
        first.append("four\n").unwrap();
        assert_eq!(first.bytes(), 13);
        let path = first.finish().unwrap();
        assert!(path.ends_with("games/___class-2026-03-01-123005.pgn"), "{path:?}");
        assert_eq!(fs::read_to_string(path).unwrap(), "one\ntwo\nfour\n");
        assert_eq!(second.finish(), None);
        assert_eq!(fs::read_dir(folder.path().join("games")).unwrap().count(), 1);
    }
}
