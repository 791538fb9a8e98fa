//! Records of games: a line in the original's `scores.log`, and all messages in a file beside it.

use std::{fs::OpenOptions, io, path::PathBuf};

use time::{OffsetDateTime, format_description::well_known::Rfc3339};
use tokio::task::spawn_blocking;

use zeitnot_net::{RecordQueue, append_whole};
use zeitnot_rules::ByColor;

use super::game::Finished;

/// The files of one table.
pub(super) struct Records {
    folder: PathBuf,
    port: u16,
    /// Texts with their files.
    unwritten: RecordQueue<(PathBuf, String)>,
}

impl Records {
    pub(super) fn new(folder: PathBuf, port: u16) -> Records {
        Records { folder, port, unwritten: RecordQueue::default() }
    }

    /// Appends a game, after those that could not be written before.
    pub(super) async fn write(&mut self, game: &Finished) {
        let now = OffsetDateTime::now_utc().format(&Rfc3339).unwrap_or_default();
        let (folder, port) = (&self.folder, self.port);
        let ByColor([white, black]) = &game.names;
        let ByColor([first, second]) = game.points;
        let told = format!("# {now} {game} ({})\n{}\n\n", game.rules, game.messages.join("\n"));
        self.unwritten.push((folder.join(format!("tuc-{port}.txt")), told));
        if game.ending.result.is_some() {
            let score = format!("{white} {first} {black} {second} {now}\n");
            self.unwritten.push((folder.join(format!("tuc-{port}-scores.log")), score));
        }
        if let Err(error) = self.append_all().await {
            let folder = self.folder.display();
            tracing::error!(
                "cannot write a game to {folder}: {error}; it is kept and tried again after the next: make room on the disk"
            );
        }
    }

    /// Tries the texts that are kept once more.
    pub(super) async fn close(mut self) {
        let folder = self.folder.display().to_string();
        if let Err(error) = self.append_all().await {
            let texts = self.unwritten.missing();
            tracing::error!("records lost, as {folder} could not be written to: {texts} ({error})");
        }
    }

    async fn append_all(&mut self) -> io::Result<()> {
        let mut texts = std::mem::take(&mut self.unwritten);
        let work = move || {
            let result = texts.write(append);
            (texts, result)
        };
        let (texts, result) = spawn_blocking(work).await?;
        self.unwritten = texts;
        result
    }
}

fn append((path, text): &(PathBuf, String)) -> io::Result<()> {
    append_whole(&mut OpenOptions::new().create(true).append(true).open(path)?, text)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    async fn texts_that_cannot_be_written_are_kept_in_their_order_and_tried_at_the_end() {
        let folder = tempfile::tempdir().unwrap();
        let (games, scores) = (folder.path().join("games"), folder.path().join("scores"));
        let mut records = Records::new(folder.path().to_owned(), 1);
        for (path, text) in [(&games, "one\n"), (&scores, "1\n"), (&games, "two\n")] {
            records.unwritten.push((path.clone(), text.to_owned()));
        }
        // No file can be made in the place of a folder.
        fs::create_dir(&scores).unwrap();
        assert!(records.append_all().await.is_err());
        assert_eq!(records.unwritten.missing(), 2);
        fs::remove_dir(&scores).unwrap();
        records.close().await;
        assert_eq!(fs::read_to_string(games).unwrap(), "one\ntwo\n");
        assert_eq!(fs::read_to_string(scores).unwrap(), "1\n");
    }
}
