//! Games on their way to the files of games.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use sqlx::{AnyConnection, Row, any::AnyRow, query};
use tokio::sync::OwnedMutexGuard;
use zeitnot_pairing::Name;

use super::{
    WeakDatabase,
    change::{ExportFile, GameRow, TournamentId, TournamentState},
    error::DatabaseError,
    games::game_state,
    open::within,
    read::{Reader, name, number},
};

/// A lock for each tournament name, and one for the Lichess API, held while its games are written to a file.
pub(super) type ExportTurns = Arc<Mutex<BTreeMap<Option<Name>, Arc<tokio::sync::Mutex<()>>>>>;

impl WeakDatabase {
    /// Lets one at a time write the games of a tournament name, or of the Lichess API, to a file; `None` while another
    /// one of this arena does.
    pub(crate) fn export_turn(&self, tournament: Option<&Name>) -> Option<OwnedMutexGuard<()>> {
        // Nothing in here is half done after a panic.
        let mut turns = self.exports.lock().unwrap_or_else(PoisonError::into_inner);
        turns.entry(tournament.cloned()).or_default().clone().try_lock_owned().ok()
    }
}

/// Game that is over and in no file of games, unless its row cannot be read.
#[derive(Debug)]
pub(crate) struct Unexported {
    pub(crate) id: Arc<str>,
    pub(crate) game: Result<GameRow, DatabaseError>,
}

impl Reader {
    /// Returns the names of the tournaments with games that are over and in no file, each with its latest edition. On a
    /// server those that are not complete are left to the arenas that run them.
    pub(super) async fn unexported_tournaments(
        &mut self,
    ) -> Result<Vec<(Name, TournamentId)>, DatabaseError> {
        let state = if self.is_shared { TournamentState::Complete.as_str() } else { "%" };
        within(self.limit, unexported_tournaments(&mut self.connection, state)).await
    }

    /// Returns the first games of the tournaments of that name, or of the Lichess API, that are over and in no file of
    /// games.
    pub(crate) async fn unexported(
        &mut self,
        tournament: Option<&Name>,
        limit: usize,
    ) -> Result<Vec<Unexported>, DatabaseError> {
        within(self.limit, unexported(&mut self.connection, tournament, limit)).await
    }

    /// Returns the file of games of the tournaments of that name, or of the Lichess API.
    pub(crate) async fn export_file(
        &mut self,
        tournament: Option<&Name>,
    ) -> Result<Option<ExportFile>, DatabaseError> {
        within(self.limit, export_file(&mut self.connection, tournament)).await
    }
}

async fn unexported_tournaments(
    connection: &mut AnyConnection,
    state: &str,
) -> Result<Vec<(Name, TournamentId)>, DatabaseError> {
    let rows = query(
        "SELECT name, id FROM tournament AS latest
         WHERE state LIKE $1 AND edition = (SELECT MAX(edition) FROM tournament WHERE name = latest.name)
               AND EXISTS (SELECT 1 FROM game JOIN tournament AS played ON played.id = tournament_id
                           WHERE played.name = latest.name AND exported IS NULL AND termination <> 'forfeit')
         ORDER BY id",
    );
    let rows = rows.bind(state).fetch_all(connection).await?;
    let mut found = Vec::new();
    for row in rows {
        let id = row.try_get("id")?;
        match name(&row, "name") {
            Ok(name) => found.push((name, TournamentId(id))),
            Err(error) => tracing::warn!("the last games of tournament {id} are written to no file: {error}"),
        }
    }
    Ok(found)
}

async fn unexported(
    connection: &mut AnyConnection,
    tournament: Option<&Name>,
    limit: usize,
) -> Result<Vec<Unexported>, DatabaseError> {
    let games = match tournament {
        Some(name) => query(
            "SELECT * FROM game WHERE tournament_id IN (SELECT id FROM tournament WHERE name = $1)
                    AND exported IS NULL AND termination <> 'forfeit'
             ORDER BY ended, id LIMIT $2",
        )
        .bind(name.as_str()),
        // A game without moves has at most a clock.
        None => query(
            "SELECT * FROM game WHERE source = 'lichess' AND exported IS NULL AND ended IS NOT NULL
                    AND moves <> '' AND moves NOT LIKE '@%'
             ORDER BY ended, id LIMIT $1",
        ),
    };
    let games = games.bind(i64::try_from(limit).unwrap_or(i64::MAX));
    let game =
        |row: &AnyRow| Ok(Unexported { id: row.try_get::<&str, _>("id")?.into(), game: game_state(row) });
    games.fetch_all(connection).await?.iter().map(game).collect()
}

async fn export_file(
    connection: &mut AnyConnection,
    tournament: Option<&Name>,
) -> Result<Option<ExportFile>, DatabaseError> {
    let file = query("SELECT * FROM export WHERE tournament = $1").bind(tournament.map_or("", Name::as_str));
    let row = file.fetch_optional(connection).await?;
    let file = |row: AnyRow| {
        let bytes = number(&row, "bytes")?.unwrap_or_default();
        Ok(ExportFile { tournament: tournament.cloned(), file: row.try_get("file")?, bytes })
    };
    row.map(file).transpose()
}
