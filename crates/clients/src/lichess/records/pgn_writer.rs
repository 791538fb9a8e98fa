//! PGN writer: writes games to disk one after the other, so that no game waits for the disk. A game that cannot be
//! written, as on a full disk, is kept and tried again.

use std::{collections::VecDeque, io, time::Duration};

use tokio::{select, sync::mpsc, task::spawn_blocking, time::Instant};
use tokio_util::task::AbortOnDropHandle;
use tracing::{debug, error, info};
use zeitnot_rules::Color;
use zeitnot_wire::lichess::GameFull;

use super::{pgn_files::PgnFiles, record::GameRecord};
use crate::wait::until;

/// Games that may wait; more wait only if the disk does not work.
const INBOX: usize = 64;
/// Games that are kept after a failure.
const MAX_UNWRITTEN: usize = 256;
/// After a failure the kept games are tried again this often.
const RETRY_INTERVAL: Duration = Duration::from_secs(60);

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Task {
    Write,
    Suspend,
}

/// Handle of the games to the writer's task. Without files to write to, there are no records.
#[derive(Clone, Debug)]
pub(crate) struct PgnWriter(Option<mpsc::Sender<(GameRecord, Task)>>);

impl PgnWriter {
    /// Starts the writer's task. It ends when everything is written and no [`PgnWriter`] is left.
    pub(crate) fn start(files: Option<PgnFiles>) -> (PgnWriter, AbortOnDropHandle<()>) {
        let (sender, mut inbox) = mpsc::channel::<(GameRecord, Task)>(INBOX);
        let writer = PgnWriter(files.is_some().then_some(sender));
        let work = async move {
            let Some(files) = files else { return };
            let mut queue = WriteQueue { files, unwritten: VecDeque::new() };
            let mut retry_at = None;
            loop {
                select! {
                    task = inbox.recv() => match task {
                        Some((record, task)) => queue.take(record, task).await,
                        None => break,
                    },
                    () = until(retry_at) => queue.retry().await,
                }
                retry_at = (!queue.unwritten.is_empty()).then(|| Instant::now() + RETRY_INTERVAL);
            }
            queue.close().await;
        };
        (writer, AbortOnDropHandle::new(tokio::spawn(work)))
    }

    /// Begins the record of a game, if records are written.
    pub(crate) fn begin(&self, full: &GameFull, color: Color) -> Option<GameRecord> {
        self.0.as_ref().map(|_| GameRecord::new(full.clone(), color))
    }

    pub(crate) fn write(&self, record: GameRecord) {
        self.send(record, Task::Write);
    }

    /// Keeps our evaluations in a game that continues later.
    pub(crate) fn suspend(&self, record: GameRecord) {
        if record.has_evals() {
            self.send(record, Task::Suspend);
        }
    }

    fn send(&self, record: GameRecord, task: Task) {
        if let Some(sender) = &self.0
            && sender.try_send((record, task)).is_err()
        {
            error!("too many games are waiting to be written; this one is not written");
        }
    }
}

/// Games on their way to the disk.
struct WriteQueue {
    files: PgnFiles,
    /// Games that could not be written, oldest first.
    unwritten: VecDeque<GameRecord>,
}

impl WriteQueue {
    /// Writes a game, after those that could not be written before.
    async fn take(&mut self, record: GameRecord, task: Task) {
        self.retry().await;
        let id = record.id();
        let (record, written) = self.write(record, task).await;
        let Err(error) = written else { return };
        let directory = self.files.directory.display();
        match record.filter(|_| task == Task::Write) {
            Some(record) => {
                error!(game = %id, "cannot write the game to {directory}: {error}; it is kept and tried again");
                self.keep(record);
            }
            None => {
                error!(game = %id, "cannot write to {directory}: {error}; the notes on the game are lost")
            }
        }
    }

    fn keep(&mut self, record: GameRecord) {
        if self.unwritten.len() >= MAX_UNWRITTEN
            && let Some(oldest) = self.unwritten.pop_front()
        {
            error!(game = %oldest.id(), "too many games could not be written; this one is lost");
        }
        self.unwritten.push_back(record);
    }

    /// Tries the kept games again.
    async fn retry(&mut self) {
        for record in std::mem::take(&mut self.unwritten) {
            let id = record.id();
            match self.write(record, Task::Write).await {
                (_, Ok(())) => info!(game = %id, "wrote the game that had been kept"),
                (record, Err(_)) => self.unwritten.extend(record),
            }
        }
    }

    /// Tries the kept games for the last time.
    async fn close(mut self) {
        self.retry().await;
        if !self.unwritten.is_empty() {
            let games = self.unwritten.len();
            let directory = self.files.directory.display();
            error!("games lost, as {directory} could not be written to: {games}");
        }
    }

    /// Works on a thread that may block. Gives the record back, unless that panicked.
    async fn write(&self, mut record: GameRecord, task: Task) -> (Option<GameRecord>, io::Result<()>) {
        let id = record.id();
        let files = self.files.clone();
        let work = move || {
            let path = match task {
                Task::Write => files.write(&mut record),
                Task::Suspend => files.suspend(&mut record),
            };
            (record, path.map(|path| debug!(game = %id, path = %path.display(), "written")))
        };
        match spawn_blocking(work).await {
            Ok((record, written)) => (Some(record), written),
            Err(panic) => (None, Err(io::Error::other(panic))),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{
        super::{
            pgn_files::{
                PgnGrouping,
                tests::{files, pgn},
            },
            record::tests::full,
        },
        *,
    };

    #[test(start_paused = true)]
    async fn games_that_cannot_be_written_are_kept_and_tried_again() {
        let folder = tempfile::tempdir().unwrap();
        let directory = folder.path().join("games");
        // No folder can be made in the place of a file.
        fs::write(&directory, "").unwrap();
        let files = files(directory.clone(), PgnGrouping::All);
        let game = |moves| GameRecord::new(full("Bob", moves), Color::White);
        let first = game("e2e4");
        let second = game("d2d4");
        let mut queue = WriteQueue { files, unwritten: VecDeque::new() };
        for task in [Task::Suspend, Task::Write] {
            queue.take(first.clone(), task).await;
        }
        assert_eq!(queue.unwritten.len(), 1);
        queue.retry().await;
        assert_eq!(queue.unwritten.len(), 1);
        fs::remove_file(&directory).unwrap();
        queue.take(second.clone(), Task::Write).await;
        assert!(queue.unwritten.is_empty());
        let text = fs::read_to_string(directory.join("games.pgn")).unwrap();
        assert_eq!(text, pgn(&first) + &pgn(&second));
    }

    #[test]
    async fn the_writer_tries_once_more_at_its_end() {
        let folder = tempfile::tempdir().unwrap();
        let directory = folder.path().join("games");
        fs::write(&directory, "").unwrap();
        let files = files(directory.clone(), PgnGrouping::All);
        let record = GameRecord::new(full("Bob", "e2e4"), Color::White);
        let unwritten = VecDeque::from([record.clone()]);
        WriteQueue { files: files.clone(), unwritten: unwritten.clone() }.close().await;
        fs::remove_file(&directory).unwrap();
        WriteQueue { files, unwritten }.close().await;
        assert_eq!(fs::read_to_string(directory.join("games.pgn")).unwrap(), pgn(&record));
    }
}
