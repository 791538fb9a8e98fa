//! Files with the results of a tournament, read from the database: one at a time, and no oftener than each second.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use axum::{body::Bytes, http::StatusCode};
use tokio::{sync::Semaphore, task::spawn_blocking, time::Instant};
use zeitnot_wire::printable;

use super::answer::ApiError;
use crate::{
    database::DatabaseLocation,
    results::{ResultsError, TournamentResults},
};

/// Time for which a file is handed out again as it was.
const FRESH: Duration = Duration::from_secs(1);

/// Reader of the database for visitors.
#[derive(Debug)]
pub(super) struct ResultFiles {
    database: Arc<DatabaseLocation>,
    /// A visitor who reads keeps others from it.
    turn: Arc<Semaphore>,
    latest: Mutex<BTreeMap<(String, FileKind), (Instant, Bytes)>>,
}

/// Kind of file.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum FileKind {
    Csv,
    Json,
    Pgn,
    Trf,
}

impl FileKind {
    /// Reads the name of a file.
    pub(super) fn read(file: &str) -> Option<FileKind> {
        Some(match file {
            "results.csv" => FileKind::Csv,
            "results.json" => FileKind::Json,
            "results.pgn" => FileKind::Pgn,
            "results.trf" => FileKind::Trf,
            _ => return None,
        })
    }

    pub(super) fn content_type(self) -> &'static str {
        match self {
            FileKind::Csv => "text/csv; charset=utf-8",
            FileKind::Json => "application/json",
            FileKind::Pgn => "application/x-chess-pgn; charset=utf-8",
            FileKind::Trf => "text/plain; charset=utf-8",
        }
    }

    fn print(self, results: &TournamentResults) -> Result<String, ResultsError> {
        Ok(match self {
            FileKind::Csv => results.csv(),
            FileKind::Json => serde_json::to_string(&results.json()).unwrap_or_default(),
            FileKind::Pgn => results.pgn(),
            FileKind::Trf => results.trf()?,
        })
    }
}

impl ResultFiles {
    pub(super) fn new(database: Arc<DatabaseLocation>) -> ResultFiles {
        ResultFiles { database, turn: Arc::new(Semaphore::new(1)), latest: Mutex::default() }
    }

    /// Returns a file, not older than a second. Whoever asks meanwhile waits and gets the same.
    pub(super) async fn read(&self, tournament: &str, kind: FileKind) -> Result<Bytes, ApiError> {
        let turn = self.turn.clone().acquire_owned().await.map_err(|_| ApiError::stopping())?;
        let key = (tournament.to_owned(), kind);
        if let Some(known) = self.fresh(&key) {
            return Ok(known);
        }
        let results = TournamentResults::read(&self.database, tournament, None).await;
        let results = results.map_err(|error| refusal(&error, tournament))?;
        // Games at tables are played on this thread. A visitor who gives up does not end the turn of a print that runs.
        let printed = spawn_blocking(move || (kind.print(&results), turn)).await;
        let (text, _turn) = printed.map_err(|_| ApiError::stopping())?;
        let text = Bytes::from(text.map_err(|error| refusal(&error, tournament))?);
        self.latest().insert(key, (Instant::now(), text.clone()));
        Ok(text)
    }

    fn fresh(&self, key: &(String, FileKind)) -> Option<Bytes> {
        let mut latest = self.latest();
        latest.retain(|_, (read, _)| read.elapsed() < FRESH);
        latest.get(key).map(|(_, text)| text.clone())
    }

    fn latest(&self) -> std::sync::MutexGuard<'_, BTreeMap<(String, FileKind), (Instant, Bytes)>> {
        // Nothing in here is half done after a panic.
        self.latest.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn refusal(error: &ResultsError, tournament: &str) -> ApiError {
    match error {
        ResultsError::Unknown { .. } => {
            let name = printable(tournament, 50);
            ApiError::missing(format!("there is no tournament {name}: /api/tournaments lists them"))
        }
        ResultsError::NoReport { .. } => ApiError::missing(error.to_string()),
        ResultsError::Database { .. } => {
            tracing::error!("{error}");
            let told = "the database cannot be read: the arena's log says why";
            ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, told)
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use zeitnot_pairing::{Name, format::Format};

    use super::*;
    use crate::database::{Database, Opening};

    #[test]
    async fn a_file_is_read_once_for_all_who_ask_within_a_second() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("zeitnot.db");
        let (database, writer) = Database::open(path.clone().into()).await.unwrap();
        let name = Name::try_from("class").unwrap();
        let kind = zeitnot_rules::GameKind::Chess;
        let (time_control, format) = ("3".parse().unwrap(), Format::default());
        let opening = Opening { name, kind, time_control, format, created: None };
        database.open_tournament(opening).await.unwrap();
        drop(database);
        writer.join().await;

        let files = Arc::new(ResultFiles::new(Arc::new(path.clone().into())));
        let read = |file| {
            let (files, kind) = (files.clone(), FileKind::read(file).unwrap());
            async move { files.read("class", kind).await.map(|text| text.as_ptr() as usize) }
        };
        let (first, second) = tokio::join!(read("results.csv"), read("results.csv"));
        assert_eq!(first.unwrap(), second.unwrap(), "one text for both");
        // A text that was read is kept without the file; other texts need it.
        std::fs::remove_file(&path).unwrap();
        let missing = read("results.json").await.unwrap_err();
        assert_eq!(missing.status, StatusCode::INTERNAL_SERVER_ERROR);
        files.latest().values_mut().for_each(|(read, _)| *read -= FRESH);
        assert!(read("results.csv").await.is_err(), "no older than a second");
        assert!(files.latest().is_empty());
    }
}
