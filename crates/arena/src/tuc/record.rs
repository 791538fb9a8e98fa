//! Records of games: a line in the original's `scores.log`, and all messages in a file beside it.

use std::{
    collections::VecDeque,
    fs::OpenOptions,
    io,
    path::{Path, PathBuf},
};

use time::{OffsetDateTime, format_description::well_known::Rfc3339};
use tokio::task::spawn_blocking;

use zeitnot_net::append_whole;
use zeitnot_rules::ByColor;

use super::game::Finished;

/// Texts that are kept while the disk is full.
const MAX_UNWRITTEN: usize = 256;

/// The files of one table.
pub(super) struct Records {
    folder: PathBuf,
    port: u16,
    /// Texts that could not be written, with their files, oldest first.
    unwritten: VecDeque<(PathBuf, String)>,
}

impl Records {
    pub(super) fn new(folder: PathBuf, port: u16) -> Records {
        Records { folder, port, unwritten: VecDeque::new() }
    }

    /// Appends a game, after those that could not be written before.
    pub(super) async fn write(&mut self, game: &Finished) {
        let now = OffsetDateTime::now_utc().format(&Rfc3339).unwrap_or_default();
        let (folder, port) = (&self.folder, self.port);
        let ByColor([white, black]) = &game.names;
        let ByColor([first, second]) = game.points;
        let told = format!("# {now} {game} ({})\n{}\n\n", game.rules, game.messages.join("\n"));
        self.unwritten.push_back((folder.join(format!("tuc-{port}.txt")), told));
        if game.ending.result.is_some() {
            let score = format!("{white} {first} {black} {second} {now}\n");
            self.unwritten.push_back((folder.join(format!("tuc-{port}-scores.log")), score));
        }
        let surplus = self.unwritten.len().saturating_sub(MAX_UNWRITTEN);
        self.unwritten.drain(..surplus);
        let texts = std::mem::take(&mut self.unwritten);
        if let Ok((unwritten, error)) = spawn_blocking(|| append_all(texts)).await {
            self.unwritten = unwritten;
            if let Some(error) = error {
                let folder = self.folder.display();
                tracing::error!(
                    "cannot write a game to {folder}: {error}; it is kept and tried again after the next"
                );
            }
        }
    }
}

/// Appends the texts up to the first that fails; returns those left, and why.
fn append_all(mut texts: VecDeque<(PathBuf, String)>) -> (VecDeque<(PathBuf, String)>, Option<io::Error>) {
    while let Some((path, text)) = texts.front() {
        if let Err(error) = append(path, text) {
            return (texts, Some(error));
        }
        texts.pop_front();
    }
    (texts, None)
}

fn append(path: &Path, text: &str) -> io::Result<()> {
    append_whole(&mut OpenOptions::new().create(true).append(true).open(path)?, text)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn texts_that_cannot_be_written_are_kept_in_their_order() {
        let folder = tempfile::tempdir().unwrap();
        let (games, scores) = (folder.path().join("games"), folder.path().join("scores"));
        let texts = [(&games, "one\n"), (&scores, "1\n"), (&games, "two\n")];
        let texts = texts.map(|(path, text)| (path.clone(), text.to_owned())).into();
        // No file can be made in the place of a folder.
        fs::create_dir(&scores).unwrap();
        let (left, error) = append_all(texts);
        assert!(left.len() == 2 && error.is_some(), "{left:?}");
        fs::remove_dir(&scores).unwrap();
        let (left, error) = append_all(left);
        assert!(left.is_empty() && error.is_none(), "{error:?}");
        assert_eq!(fs::read_to_string(games).unwrap(), "one\ntwo\n");
        assert_eq!(fs::read_to_string(scores).unwrap(), "1\n");
    }
}
