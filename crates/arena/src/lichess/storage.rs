//! Way of accounts, challenges and games to the database, and of records to the file of games, each on a thread of its
//! own.

use std::{collections::BTreeMap, path::PathBuf};

use tokio::{runtime::Handle, sync::mpsc};
use zeitnot_engine::priority;
use zeitnot_host::{
    database::{Change, Database, LichessKind, LichessRow, WeakDatabase},
    store::{GameFile, StoreThread},
};
use zeitnot_wire::lichess::GameId;

/// Records that may wait for the disk.
const QUEUE: usize = 1024;

/// Changes of one moment, and the games whose ends may be told once they are on the disk.
#[derive(Debug, Default)]
pub(super) struct Batch {
    pub(super) changes: Vec<Change>,
    pub(super) ended: Vec<GameId>,
}

/// Hands changes to the thread, which takes them once it has written those before.
pub(super) type Changes = mpsc::Sender<Batch>;

/// Games whose ends are on the disk.
pub(super) type Written = mpsc::Receiver<Vec<GameId>>;

#[derive(Debug)]
pub(super) struct StorageActor {
    changes: mpsc::Receiver<Batch>,
    written: mpsc::Sender<Vec<GameId>>,
    /// Without one, only the records of games are written.
    database: Option<Database>,
    file: GameFile,
    /// Records that are not in the file of games yet, by the ids of their games.
    records: BTreeMap<String, String>,
}

/// Returns the change that hands over the record of a game.
pub(super) fn record(id: impl ToString, text: String) -> Change {
    row(LichessKind::Record, id, Some(text))
}

pub(super) fn row(kind: LichessKind, id: impl ToString, value: Option<String>) -> Change {
    Change::Lichess(LichessRow { kind, id: id.to_string(), value })
}

impl StorageActor {
    /// Creates the writer, and takes the records of earlier runs from these rows.
    pub(super) fn channel(
        database: Option<Database>,
        file: GameFile,
        rows: &mut Vec<LichessRow>,
    ) -> (Changes, Written, StorageActor) {
        let records = rows.extract_if(.., |row| row.kind == LichessKind::Record);
        let records = records.filter_map(|row| Some((row.id, row.value?))).collect();
        let (sender, changes) = mpsc::channel(1);
        let (written, ends) = mpsc::channel(1);
        (sender, ends, StorageActor { changes, written, database, file, records })
    }

    /// Writes until the server is gone. Blocks: for a thread of its own that belongs to a runtime.
    ///
    /// A record is committed with the end of its game, appended to the file of games, and then removed from the
    /// database. So a kill at any moment neither loses a game nor writes it twice.
    pub(super) fn run(mut self) {
        let runtime = Handle::current();
        let (sender, queue) = mpsc::channel(QUEUE);
        let (database, file) = (self.database.as_ref().map(Database::downgrade), self.file);
        let path = file.path().to_owned();
        let writer = RecordWriter { queue, database, file, records: self.records };
        let writer = StoreThread::spawn(path, priority::usual, writer.run());
        while let Some(Batch { changes, ended }) = self.changes.blocking_recv() {
            let records = changes.iter().filter_map(|change| match change {
                Change::Lichess(LichessRow { kind: LichessKind::Record, id, value }) => {
                    Some((id.clone(), value.clone()?))
                }
                _ => None,
            });
            let records: Vec<_> = records.collect();
            if let Some(database) = self.database.as_ref().filter(|_| !changes.is_empty()) {
                runtime.block_on(database.commit(changes));
            }
            if !ended.is_empty() {
                // An error means that the server stops, which has closed all streams.
                let _ = self.written.blocking_send(ended);
            }
            for record in records {
                // The database keeps the rest until the next start.
                if sender.try_send(record).is_err() && self.database.is_none() {
                    tracing::error!("a game is lost, as its file takes none: see whether the disk hangs");
                }
            }
        }
        drop(sender);
        runtime.block_on(writer.join());
    }
}

/// Appends records to the file of games.
struct RecordWriter {
    queue: mpsc::Receiver<(String, String)>,
    database: Option<WeakDatabase>,
    file: GameFile,
    /// Records that are not in the file yet.
    records: BTreeMap<String, String>,
}

impl RecordWriter {
    async fn run(mut self) -> Option<PathBuf> {
        let file = &self.file;
        let written: Vec<_> =
            self.records.extract_if(.., |_, text| file.is_written(text)).map(|(id, _)| id).collect();
        self.forget(written);
        self.append();
        while let Some((id, text)) = self.queue.recv().await {
            self.records.insert(id, text);
            self.append();
        }
        self.append();
        // Those in the database are written at the next start.
        self.file.report_lost(if self.database.is_some() { 0 } else { self.records.len() });
        self.file.finish()
    }

    /// Appends the records. Failed ones are tried again with the next.
    fn append(&mut self) {
        let mut written = Vec::new();
        for (id, text) in std::mem::take(&mut self.records) {
            match self.file.append(&text) {
                Ok(()) => written.push(id),
                Err(_) => drop(self.records.insert(id, text)),
            }
        }
        self.forget(written);
    }

    /// Removes records that are in the file of games from the database.
    fn forget(&self, ids: Vec<String>) {
        let database = self.database.as_ref().and_then(WeakDatabase::upgrade);
        if let Some(database) = database.filter(|_| !ids.is_empty()) {
            database.note(ids.into_iter().map(|id| row(LichessKind::Record, id, None)).collect());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path};

    use time::OffsetDateTime;
    use tokio::task::spawn_blocking;
    use zeitnot_host::database::WriterThread;

    use super::*;

    async fn open(folder: &Path) -> (Database, WriterThread, Changes, StorageActor, Vec<LichessRow>) {
        let (database, writer) = Database::open(folder.join("zeitnot.db").into(), || ()).await.unwrap();
        let file = GameFile::create(&folder.join("games"), "lichess", "pgn", OffsetDateTime::UNIX_EPOCH);
        let mut rows = database.lichess().await.unwrap();
        let (changes, _, actor) = StorageActor::channel(Some(database.clone()), file.unwrap(), &mut rows);
        (database, writer, changes, actor, rows)
    }

    fn games(folder: &Path) -> String {
        let files = fs::read_dir(folder.join("games")).unwrap();
        files.map(|file| fs::read_to_string(file.unwrap().path()).unwrap()).collect()
    }

    fn game(id: &str, value: Option<&str>) -> Change {
        row(LichessKind::Game, id, value.map(str::to_owned))
    }

    #[test]
    async fn rows_are_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let (database, writer, changes_of, actor, rows) = open(folder.path()).await;
        assert!(rows.is_empty());
        let writing = spawn_blocking(move || actor.run());
        let send = |changes| changes_of.send(Batch { changes, ended: Vec::new() });
        send(vec![game("a", Some("1")), game("b", Some("2"))]).await.unwrap();
        send(vec![game("a", None), game("b", Some("3"))]).await.unwrap();
        drop((changes_of, database));
        writing.await.unwrap();
        writer.join().await;
        let (.., rows) = open(folder.path()).await;
        let b = LichessRow { kind: LichessKind::Game, id: "b".to_owned(), value: Some("3".to_owned()) };
        assert_eq!(rows, [b]);
    }

    #[test]
    async fn a_kill_neither_loses_a_record_nor_writes_it_twice() {
        let folder = tempfile::tempdir().unwrap();
        let text = "[GameId a]\n";
        // Killed after the end of the game was saved; and again after its record was appended.
        for _ in 0..2 {
            let (database, writer, changes, actor, _) = open(folder.path()).await;
            database.commit(vec![game("a", Some("over")), record("a", text.to_owned())]).await;
            drop((database, changes, actor));
            writer.join().await;
            let (database, writer, changes, actor, rows) = open(folder.path()).await;
            assert_eq!(rows.len(), 1, "{rows:?}");
            drop((database, changes));
            spawn_blocking(move || actor.run()).await.unwrap();
            writer.join().await;
            assert_eq!(games(folder.path()), text);
        }
        let (.., actor, _) = open(folder.path()).await;
        assert!(actor.records.is_empty());
    }
}
