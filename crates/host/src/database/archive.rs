//! Reading of the past a page at a time: games that are over, and tournaments.

use sqlx::{AnyConnection, query, query_scalar};

use super::{
    change::{RefusalRecord, SettingsText, TournamentId, TournamentState},
    error::DatabaseError,
    open::within,
    read::{FoundGame, History, Reader, StoredTournament, found_game, history, latest, refusals, tournament},
    write::number,
};
use zeitnot_pairing::Name;

/// Games that are over and listed: those at the board, but for those at tables, which are shown to whoever has their link.
macro_rules! ended_games {
    ($condition:literal) => {
        concat!(
            "SELECT game.*, tournament.name AS tournament, pairing FROM game
             LEFT JOIN tournament ON tournament.id = game.tournament_id
             WHERE ended IS NOT NULL AND source <> 'table' AND termination <> 'forfeit' ",
            $condition,
            " ORDER BY ended DESC, game.id DESC LIMIT $1"
        )
    };
}

/// A game that runs is later than all that are over.
const EARLIER_GAMES: &str = ended_games!(
    "AND (ended, game.id) < (SELECT COALESCE(last.ended, '9999'), last.id FROM game AS last WHERE last.id = $2)"
);
const LATEST_GAMES: &str = ended_games!("");

/// History, settings and refusals of a stored tournament, without the moves of its games.
#[allow(missing_docs)]
#[derive(Debug)]
pub struct StoredOutcome {
    pub history: History,
    /// Of a tournament that the organiser has created.
    pub settings: Option<SettingsText>,
    pub refusals: Vec<RefusalRecord>,
}

impl TournamentId {
    /// Number that is greater for later tournaments.
    pub fn number(self) -> i64 {
        self.0
    }
}

impl Reader {
    /// Returns listed games that are over, the latest first, at most so many: of all, or of those that ended before
    /// the game of that id.
    pub async fn ended_games(
        &mut self,
        before: Option<&str>,
        max: usize,
    ) -> Result<Vec<FoundGame>, DatabaseError> {
        within(self.limit, ended_games(&mut self.connection, before, max)).await
    }

    /// Returns tournaments, the latest first, at most so many: of all, or of those before that number. On a server those
    /// that are not complete are the affair of the arenas that run them.
    pub async fn tournaments_before(
        &mut self,
        before: Option<i64>,
        max: usize,
    ) -> Result<Vec<StoredTournament>, DatabaseError> {
        let state = if self.is_shared { TournamentState::Complete.as_str() } else { "%" };
        within(self.limit, tournaments(&mut self.connection, state, before, max)).await
    }

    /// Returns an edition of a tournament, by default the latest.
    pub async fn tournament(
        &mut self,
        name: &Name,
        edition: Option<u32>,
    ) -> Result<Option<StoredTournament>, DatabaseError> {
        within(self.limit, one_tournament(&mut self.connection, name, edition)).await
    }

    /// Returns what has come of a tournament.
    pub async fn outcome(&mut self, tournament: StoredTournament) -> Result<StoredOutcome, DatabaseError> {
        within(self.limit, outcome(&mut self.connection, tournament)).await
    }
}

async fn ended_games(
    connection: &mut AnyConnection,
    before: Option<&str>,
    max: usize,
) -> Result<Vec<FoundGame>, DatabaseError> {
    let games = match before {
        Some(before) => query(EARLIER_GAMES).bind(number(max)).bind(before),
        None => query(LATEST_GAMES).bind(number(max)),
    };
    games.fetch_all(connection).await?.iter().map(found_game).collect()
}

async fn tournaments(
    connection: &mut AnyConnection,
    state: &str,
    before: Option<i64>,
    max: usize,
) -> Result<Vec<StoredTournament>, DatabaseError> {
    let rows = query("SELECT * FROM tournament WHERE id < $1 AND state LIKE $2 ORDER BY id DESC LIMIT $3");
    let rows = rows.bind(before.unwrap_or(i64::MAX)).bind(state).bind(number(max));
    rows.fetch_all(connection).await?.iter().map(tournament).collect()
}

async fn one_tournament(
    connection: &mut AnyConnection,
    name: &Name,
    edition: Option<u32>,
) -> Result<Option<StoredTournament>, DatabaseError> {
    let Some(edition) = edition else { return latest(connection, name).await };
    let rows = query("SELECT * FROM tournament WHERE name = $1 AND edition = $2");
    let row = rows.bind(name.as_str()).bind(i64::from(edition)).fetch_optional(connection).await?;
    row.as_ref().map(tournament).transpose()
}

async fn outcome(
    connection: &mut AnyConnection,
    tournament: StoredTournament,
) -> Result<StoredOutcome, DatabaseError> {
    let id = tournament.id;
    let settings = query_scalar("SELECT settings FROM tournament WHERE id = $1");
    let settings: Option<String> = settings.bind(id.0).fetch_one(&mut *connection).await?;
    let refusals = refusals(connection, Some(id)).await?;
    let history = history(connection, tournament).await?;
    Ok(StoredOutcome { history, settings: settings.map(SettingsText), refusals })
}
