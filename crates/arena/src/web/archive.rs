//! Games that the hub does not have, as they ended long ago or in an earlier run: look-ups in the database.

use std::{path::Path, sync::Arc};

use axum::http::StatusCode;
use tokio::sync::Semaphore;

use super::answer::ApiError;
use crate::{
    database::{DatabaseError, GameState, Reader},
    live::{stored, view::Game},
    name::printable,
    pgn,
    tournament::format::PairingKind,
};

/// Look-ups at once; more wait.
const AT_ONCE: usize = 4;
/// Longest id of a game.
const MAX_ID: usize = 64;

/// Games in the arena's database, if it keeps one.
#[derive(Clone, Debug)]
pub(crate) struct Archive {
    database: Option<Arc<Path>>,
    turns: Arc<Semaphore>,
}

/// Game of the database, with its tournament.
#[derive(Debug)]
pub(super) struct StoredGame {
    game: GameState,
    tournament: Option<(String, PairingKind)>,
}

impl Archive {
    pub(super) fn new(database: Option<Arc<Path>>) -> Archive {
        Archive { database, turns: Arc::new(Semaphore::new(AT_ONCE)) }
    }

    /// Finds a game of any front.
    pub(super) async fn find(&self, id: &str) -> Result<Option<StoredGame>, ApiError> {
        let is_id = (1..=MAX_ID).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_alphanumeric());
        let Some(database) = self.database.as_ref().filter(|_| is_id) else { return Ok(None) };
        let _turn = self.turns.acquire().await.map_err(|_| ApiError::stopping())?;
        let found = async { Reader::open(database).await?.game(id).await };
        match found.await {
            Ok(found) => Ok(found.map(|(game, tournament)| StoredGame { game, tournament })),
            Err(error) => Err(unreadable(database, &error)),
        }
    }
}

fn unreadable(database: &Path, error: &DatabaseError) -> ApiError {
    tracing::error!("cannot read the database {}: {error}", database.display());
    let error = "the database cannot be read: the arena's log says why";
    ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, error)
}

impl StoredGame {
    pub(super) fn view(&self) -> Result<Game, ApiError> {
        let tournament = self.tournament.as_ref().map(|(name, pairing)| (name.clone(), pairing.numbering()));
        stored::view(&self.game, tournament).map_err(|error| self.broken(&error))
    }

    pub(super) fn pgn(&self) -> Result<String, ApiError> {
        let event = self.tournament.as_ref().map_or("?", |(name, _)| name);
        pgn::print_stored(event, &self.game).map_err(|error| self.broken(&error))
    }

    fn broken(&self, error: &impl ToString) -> ApiError {
        let id = printable(&self.game.header.id, MAX_ID);
        let error = format!("the stored game {id} cannot be shown: {}", error.to_string());
        ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, error)
    }
}
