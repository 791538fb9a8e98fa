//! Look-ups in the database: games that ended long ago or in an earlier run, which the hub does not have.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use axum::http::StatusCode;
use tokio::{task::spawn_blocking, time::Instant};
use zeitnot_host::{
    database::{DatabaseError, DatabaseLocation, GameRow, Readers, StoredOutcome, Turn},
    live::{
        stored,
        view::{Game, Numbering, Tournament, TournamentSummary},
    },
    pgn,
};
use zeitnot_pairing::format::PairingKind;
use zeitnot_rules::GameError;
use zeitnot_wire::printable;

use super::answer::ApiError;

/// Look-ups at once; others wait.
const AT_ONCE: usize = 4;
/// Longest id of a game.
const MAX_ID: usize = 64;

/// Standings of tournaments by their numbers, each with the time at which they were read.
pub(super) type Summaries = BTreeMap<i64, (Instant, TournamentSummary)>;

/// Function that makes the view of a stored tournament; `None` if it cannot be shown.
pub type ViewStored = fn(&StoredOutcome) -> Option<Tournament>;

/// Games and tournaments in the arena's database, if it keeps one.
#[derive(Clone, Debug)]
pub(crate) struct Archive {
    pub(super) database: Option<Readers>,
    pub(super) view_stored: ViewStored,
    pub(super) summaries: Arc<Mutex<Summaries>>,
}

/// Name and pairing system of a tournament.
type Event = (String, PairingKind);

/// Game of the database, with its tournament.
#[derive(Debug)]
pub(super) struct StoredGame {
    game: GameRow,
    tournament: Option<Event>,
    turn: Turn,
}

impl Archive {
    pub(super) fn new(database: Option<Arc<DatabaseLocation>>, view_stored: ViewStored) -> Archive {
        let database = database.map(|it| Readers::new(it, AT_ONCE));
        Archive { database, view_stored, summaries: Arc::default() }
    }

    /// Finds a game of any front.
    pub(super) async fn find(&self, id: &str) -> Result<Option<StoredGame>, ApiError> {
        let Some(database) = self.database.as_ref().filter(|_| is_id(id)) else { return Ok(None) };
        let turn = turn(database).await?;
        let found = turn.ask(async |reader| reader.game(id).await).await;
        let found = found.map_err(|error| unreadable(database, &error))?;
        Ok(found.map(|(game, tournament)| StoredGame { game, tournament, turn }))
    }

    pub(super) async fn close(&self) {
        if let Some(database) = &self.database {
            database.close().await;
        }
    }
}

pub(super) async fn turn(database: &Readers) -> Result<Turn, ApiError> {
    database.turn().await.ok_or_else(ApiError::stopping)
}

/// Returns whether it may be the id of a game.
pub(super) fn is_id(id: &str) -> bool {
    (1..=MAX_ID).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

pub(super) fn unreadable(database: &Readers, error: &DatabaseError) -> ApiError {
    tracing::error!("cannot read the database {}: {error}", database.location());
    let error = "the database cannot be read; the arena's log has the reason";
    ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, error)
}

impl StoredGame {
    pub(super) async fn view(self) -> Result<Game, ApiError> {
        let numbered = |(name, pairing): Event| (name, Numbering::from(pairing));
        self.replay(move |game, tournament| stored::view(game, tournament.map(numbered))).await
    }

    pub(super) async fn pgn(self) -> Result<String, ApiError> {
        self.replay(|game, tournament| pgn::print_stored(tournament.map(|(name, _)| name), game)).await
    }

    /// Replays the game on a thread for that, as the page's thread must not block. The replay keeps its turn to its end, also
    /// if the visitor has left.
    async fn replay<T: Send + 'static>(
        self,
        replay: impl FnOnce(&GameRow, Option<Event>) -> Result<T, GameError> + Send + 'static,
    ) -> Result<T, ApiError> {
        let StoredGame { game, tournament, turn } = self;
        let id = printable(&game.header.id, MAX_ID);
        let replayed = spawn_blocking(move || (replay(&game, tournament), turn)).await;
        let (replayed, _turn) = replayed.map_err(|_| ApiError::stopping())?;
        replayed.map_err(|error| {
            let error = format!("the stored game {id} cannot be shown: {error}");
            ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, error)
        })
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use zeitnot_host::{
        database::{Change, Database, GameHeader, MoveList, Person, Source},
        tag::GameTag,
    };
    use zeitnot_rules::{ByColor, GameKind};

    use super::*;

    #[test]
    async fn look_ups_share_a_few_connections_and_replays_have_threads_of_their_own() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("zeitnot.db");
        let (database, writer) = Database::open(path.clone().into(), || ()).await.unwrap();
        let id = GameTag::random().to_string();
        let header = GameHeader {
            id: id.as_str().into(),
            source: Source::Contest,
            kind: GameKind::Chess,
            tournament: None,
            round: None,
            opening: None,
            players: ByColor(["alice", "bob"].map(Person::named)),
            time_control: None,
            start: None,
            repeats: None,
            began: time::OffsetDateTime::UNIX_EPOCH,
        };
        let game = GameRow { header: header.into(), moves: MoveList::default(), end: None };
        database.commit(vec![Change::Game(game)]).await;

        let archive = Archive::new(Some(Arc::new(path.clone().into())), |_| None);
        let readers = archive.database.clone().unwrap();
        for _ in 0..3 {
            assert_eq!(archive.find(&id).await.unwrap().unwrap().view().await.unwrap().summary.id, id);
        }
        assert_eq!(readers.free(), (AT_ONCE, 1));
        // A game that was found keeps its turn until it is replayed.
        let mut held = Vec::new();
        for _ in 0..AT_ONCE {
            held.push(archive.find(&id).await.unwrap().unwrap());
        }
        assert_eq!(readers.free(), (0, 1));
        let here = thread::current().id();
        let there = held.pop().unwrap().replay(|_, _| Ok(thread::current().id())).await.unwrap();
        assert_ne!(here, there);
        drop(held);
        assert_eq!(readers.free().0, AT_ONCE);

        archive.close().await;
        drop(database);
        writer.join().await;
        assert!(path.exists() && !folder.path().join("zeitnot.db-wal").exists());
    }
}
