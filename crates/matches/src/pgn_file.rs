//! File of the games of a match. A game that cannot be written whole is tried again with the next.

use std::{
    fs::{self, File, OpenOptions},
    path::PathBuf,
};

use zeitnot_net::{Outage, OutageNews, RecordQueue, append_whole};

use crate::file_error::{FileError, unwritten};

/// The file, open.
#[derive(Debug)]
pub struct PgnFile {
    path: PathBuf,
    file: File,
    games: RecordQueue<String>,
    outage: Outage,
}

impl PgnFile {
    /// Opens the file for appending, and makes it and its folder if they are not there.
    pub fn open(path: PathBuf) -> Result<PgnFile, FileError> {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let file = folder
            .map_or(Ok(()), fs::create_dir_all)
            .and_then(|()| OpenOptions::new().append(true).create(true).open(&path))
            .map_err(unwritten(&path))?;
        Ok(PgnFile { path, file, games: RecordQueue::default(), outage: Outage::default() })
    }

    /// Appends a game, after those that could not be written before. Returns a line for the user when that begins to
    /// fail, and when it works again.
    pub fn append(&mut self, game: String) -> Option<String> {
        self.games.push(game);
        let written = self.games.write(|game| append_whole(&mut self.file, game));
        let path = self.path.display();
        match (self.outage.note(&written), written) {
            (Some(OutageNews::Begins), Err(error)) => Some(format!(
                "{path}: a game cannot be written: {error}; it is kept and tried again with the next: make room on the disk"
            )),
            (Some(OutageNews::Ends(_)), _) => {
                Some(format!("{path}: games are written again, also those that were kept"))
            }
            _ => None,
        }
    }

    /// Tries the games that are kept once more.
    pub fn close(mut self) -> Result<(), FileError> {
        let written = self.games.write(|game| append_whole(&mut self.file, game));
        let (games, path) = (self.games.missing(), self.path);
        let why = written.err().map_or_else(String::new, |error| format!(": {error}"));
        if games > 0 { Err(FileError::GamesLost { path, games, why }) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn games_are_kept_until_they_can_be_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new/games.pgn");
        let mut pgn = PgnFile::open(path.clone()).unwrap();
        assert_eq!(pgn.append("one\n".into()), None);
        // Open for reading only.
        let writable = std::mem::replace(&mut pgn.file, File::open(&path).unwrap());
        let told = pgn.append("two\n".into()).unwrap();
        assert!(told.contains("games.pgn: a game cannot be written: "), "{told}");
        assert_eq!(pgn.append("three\n".into()), None, "said once");
        pgn.file = writable;
        assert!(pgn.append("four\n".into()).unwrap().contains("written again"));
        let writable = std::mem::replace(&mut pgn.file, File::open(&path).unwrap());
        assert!(pgn.append("five\n".into()).is_some());
        pgn.file = writable;
        pgn.close().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "one\ntwo\nthree\nfour\nfive\n");
    }
}
