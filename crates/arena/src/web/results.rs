//! Files with the results of a tournament, read from the database. Standings are read one at a time, and no oftener than
//! each second; games page by page.

use std::{
    collections::BTreeMap,
    mem::replace,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use axum::{
    Extension,
    body::{Body, Bytes},
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use futures_util::{StreamExt, stream::unfold};
use tokio::{sync::Semaphore, task::spawn_blocking, time::Instant};
use utoipa_axum::{router::OpenApiRouter, routes};
use zeitnot_host::database::{DatabaseLocation, Readers};
use zeitnot_web::page::{ApiError, ErrorBody, Param, WebState, edition, unknown_tournament};
use zeitnot_wire::printable;

use crate::{
    results::{GamePages, ResultsError, TournamentResults},
    results_file::ResultsFile,
};

/// Time for which a file is handed out again as it was.
const FRESH: Duration = Duration::from_secs(1);

/// Pages of games that are read at once for all visitors; more wait. Each needs a connection.
const PAGES_AT_ONCE: usize = 4;

/// Returns the connections for files of results.
pub(crate) fn readers(database: Arc<DatabaseLocation>) -> Readers {
    Readers::new(database, PAGES_AT_ONCE)
}

/// Reader of the database for visitors.
#[derive(Debug)]
pub(super) struct ResultFiles {
    database: Readers,
    /// A visitor who reads keeps others from it.
    turn: Arc<Semaphore>,
    latest: Mutex<BTreeMap<(String, FileKind), (Instant, Bytes)>>,
}

pub(super) fn routes() -> OpenApiRouter<WebState> {
    OpenApiRouter::new().routes(routes!(results))
}

/// Shows all results as a file: `results.csv`, `results.json`, `results.pgn` or `results.trf`
#[utoipa::path(get, path = "/api/tournaments/{name}/{file}", params(("name" = String, Path), ("file" = String, Path)),
    responses(
        (status = 200, content((String = "text/csv"), (ResultsFile = "application/json"),
            (String = "application/x-chess-pgn"), (String = "text/plain"))),
        (status = 404, body = ErrorBody)))]
async fn results(
    Extension(files): Extension<Option<Arc<ResultFiles>>>,
    Param((name, file)): Param<(String, String)>,
) -> Result<Response, ApiError> {
    let Some(kind) = FileKind::read(&file) else {
        let file = printable(&file, 50);
        let files = "results.csv, results.json, results.pgn or results.trf";
        return Err(ApiError::missing(format!("there is no {file}: {files}")));
    };
    let Some(files) = files else {
        return Err(ApiError::missing("this arena keeps no database, and so no results: set arena.database"));
    };
    let body = files.answer(&name, kind).await?;
    Ok(([(header::CONTENT_TYPE, kind.content_type())], body).into_response())
}

/// Kind of file.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum FileKind {
    Csv,
    Json,
    Pgn,
    Trf,
}

impl FileKind {
    /// Reads the name of a file.
    fn read(file: &str) -> Option<FileKind> {
        Some(match file {
            "results.csv" => FileKind::Csv,
            "results.json" => FileKind::Json,
            "results.pgn" => FileKind::Pgn,
            "results.trf" => FileKind::Trf,
            _ => return None,
        })
    }

    fn content_type(self) -> &'static str {
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
            FileKind::Trf => results.trf()?,
            FileKind::Pgn => String::new(),
        })
    }
}

impl ResultFiles {
    pub(super) fn new(database: Readers) -> ResultFiles {
        ResultFiles { database, turn: Arc::new(Semaphore::new(1)), latest: Mutex::default() }
    }

    /// Returns a file. One with games comes page by page, for as long as that takes.
    async fn answer(&self, tournament: &str, kind: FileKind) -> Result<Body, ApiError> {
        let pages = async || {
            let (name, edition) = edition(tournament);
            let pages = GamePages::open(&self.database, name, edition).await;
            pages.map_err(|error| refusal(&error, tournament))
        };
        match kind {
            FileKind::Csv | FileKind::Trf => self.read(tournament, kind).await.map(Body::from),
            FileKind::Pgn => Ok(stream(PgnStream(pages().await?))),
            FileKind::Json => {
                let (pages, file) = (pages().await?, self.read(tournament, kind).await?);
                Ok(stream(JsonStream::new(pages, &file)))
            }
        }
    }

    /// Returns a file without games, not older than a second. Whoever asks meanwhile waits and gets the same.
    async fn read(&self, tournament: &str, kind: FileKind) -> Result<Bytes, ApiError> {
        let turn = self.turn.clone().acquire_owned().await.map_err(|_| ApiError::stopping())?;
        let key = (tournament.to_owned(), kind);
        if let Some(known) = self.fresh(&key) {
            return Ok(known);
        }
        let (name, edition) = edition(tournament);
        let results = TournamentResults::read(&self.database, name, edition).await;
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

/// File that is printed page by page.
trait Pages: Send + 'static {
    /// Returns the next part; `None` at the end.
    fn next(&mut self) -> impl Future<Output = Result<Option<String>, ResultsError>> + Send;
}

/// Sends a file as fast as its reader takes it.
fn stream(pages: impl Pages) -> Body {
    let parts = unfold(Some(pages), |pages| async {
        let mut pages = pages?;
        match pages.next().await {
            Ok(part) => part.map(|part| (Ok(part), Some(pages))),
            // It breaks off, so that nobody takes it for whole.
            Err(error) => {
                tracing::error!("{error}");
                Some((Err(error), None))
            }
        }
    });
    // Compression asks again at the end.
    Body::from_stream(parts.fuse())
}

struct PgnStream(GamePages);

impl Pages for PgnStream {
    async fn next(&mut self) -> Result<Option<String>, ResultsError> {
        self.0.pgn().await
    }
}

/// [`ResultsFile`](crate::ResultsFile), whose games follow its other fields.
struct JsonStream {
    pages: GamePages,
    /// All up to the last pairing so far, once.
    head: Option<String>,
    needs_comma: bool,
    is_over: bool,
}

impl JsonStream {
    /// Takes the file without games, whose last field is the list of pairings.
    fn new(pages: GamePages, file: &[u8]) -> JsonStream {
        let head = head(file);
        JsonStream { pages, needs_comma: !head.ends_with('['), head: Some(head), is_over: false }
    }
}

/// Returns the text up to the end of the last list, which ends the file.
fn head(file: &[u8]) -> String {
    let file = String::from_utf8_lossy(file);
    file.strip_suffix("]}").unwrap_or(&file).to_owned()
}

impl Pages for JsonStream {
    async fn next(&mut self) -> Result<Option<String>, ResultsError> {
        if let Some(head) = self.head.take() {
            return Ok(Some(head));
        }
        if self.is_over {
            return Ok(None);
        }
        let Some(games) = self.pages.rows().await? else {
            self.is_over = true;
            return Ok(Some("]}".to_owned()));
        };
        let mut text = String::new();
        for game in games {
            text.push_str(if replace(&mut self.needs_comma, true) { "," } else { "" });
            text.push_str(&serde_json::to_string(&game).unwrap_or_default());
        }
        Ok(Some(text))
    }
}

fn refusal(error: &ResultsError, tournament: &str) -> ApiError {
    match error {
        ResultsError::Unknown { .. } => unknown_tournament(tournament),
        ResultsError::NoReport { .. } => ApiError::missing(error.to_string()),
        ResultsError::Database { .. } => {
            tracing::error!("{error}");
            let told = "the database cannot be read; the arena's log has the reason";
            ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, told)
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use axum::body::to_bytes;
    use futures_util::{FutureExt, future::JoinAll, future::join_all};
    use zeitnot_host::database::{Database, Opening};
    use zeitnot_pairing::{Name, format::Format};

    use super::*;

    #[test]
    fn games_follow_the_byes() {
        assert_eq!(head(br#"{"pairings":[]}"#), r#"{"pairings":["#);
        assert_eq!(head(br#"{"pairings":[{"moves":[]}]}"#), r#"{"pairings":[{"moves":[]}"#);
    }

    /// A folder with a database that has a tournament, without its arena.
    async fn database() -> (tempfile::TempDir, ResultFiles) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("zeitnot.db");
        let (database, writer) = Database::open(path.clone().into(), || ()).await.unwrap();
        let name = Name::try_from("class").unwrap();
        let kind = zeitnot_rules::GameKind::Chess;
        let (time_control, format) = ("3".parse().unwrap(), Format::default());
        let opening = Opening { name, kind, time_control, format, created: None };
        database.open_tournament(opening).await.unwrap();
        drop(database);
        writer.join().await;
        let files = ResultFiles::new(readers(Arc::new(path.into())));
        (folder, files)
    }

    #[test]
    async fn a_file_is_read_once_for_all_who_ask_within_a_second() {
        let (_folder, files) = database().await;
        let read = async || files.read("class", FileKind::Csv).await.unwrap();
        let (first, second) = tokio::join!(read(), read());
        assert_eq!(first.as_ptr(), second.as_ptr(), "one text for both");
        files.latest().values_mut().for_each(|(read, _)| *read -= FRESH);
        assert_ne!(read().await.as_ptr(), first.as_ptr(), "no older than a second");
        assert_eq!(files.latest().len(), 1);
        files.database.close().await;
    }

    #[test]
    async fn downloads_share_a_few_connections() {
        let (_folder, files) = database().await;
        let answer = async |_| files.answer("class", FileKind::Json).await.unwrap();
        let downloads = join_all((0..4 * PAGES_AT_ONCE).map(answer)).await;
        // A download that has begun and is read slowly holds none.
        let (free, idle) = files.database.free();
        assert_eq!(free, PAGES_AT_ONCE);
        assert!((1..=PAGES_AT_ONCE).contains(&idle), "{idle}");
        let turns = join_all((0..PAGES_AT_ONCE).map(|_| files.database.turn())).await;
        let mut waiting =
            downloads.into_iter().map(|body| to_bytes(body, usize::MAX)).collect::<JoinAll<_>>();
        assert!((&mut waiting).now_or_never().is_none(), "they wait for their turns");
        drop(turns);
        assert!(waiting.await.into_iter().all(|file| file.unwrap().ends_with(b"\"pairings\":[]}")));
        files.database.close().await;
        assert!(files.read("class", FileKind::Csv).await.is_err(), "the arena is stopping");
    }
}
