//! Games: of a front, of a tournament page by page, one by its id, and those that are over, the latest first.

use std::sync::Arc;

use sqlx::{AnyConnection, Row, any::AnyRow, query};
use zeitnot_pairing::format::PairingKind;
use zeitnot_rules::ByColor;

use super::{
    change::{Corrected, GameEnd, GameHeader, GameRow, MoveList, TournamentId},
    error::DatabaseError,
    open::within,
    read::{Reader, damaged, moment, note, number, pairing_kind, result, text},
    write,
};
use crate::live::view::{Person, Source};

/// Place in the games of a tournament, which are read page by page.
#[derive(Clone, Debug)]
pub enum GameCursor {
    /// After the games that count up to this place.
    Place(i64),
    /// After all games that count, and the others up to this beginning and id.
    Began(String, String),
}

impl GameCursor {
    /// Begins with the first game.
    pub fn start() -> GameCursor {
        GameCursor::Place(-1)
    }
}

/// Game with the name and the pairing system of its tournament.
pub type FoundGame = (GameRow, Option<(String, PairingKind)>);

/// Games that are over and listed: those at the board, but for those at tables, which are shown to anybody who has their link.
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

impl Reader {
    /// Returns the games of a front that belong to no tournament, in the order in which they began.
    pub async fn games(&mut self, source: Source) -> Result<Vec<GameRow>, DatabaseError> {
        within(self.limit, games(&mut self.connection, source)).await
    }

    /// Returns the next games of a tournament with their moves, in the order in which they ended; those without a result and
    /// those that run come last. There are no more if the page is empty.
    pub async fn game_page(
        &mut self,
        tournament: TournamentId,
        cursor: &mut GameCursor,
        limit: u32,
    ) -> Result<Vec<GameRow>, DatabaseError> {
        within(self.limit, game_page(&mut self.connection, tournament, cursor, limit)).await
    }

    /// Returns a game of any front, with the name and the pairing system of its tournament.
    pub async fn game(&mut self, id: &str) -> Result<Option<FoundGame>, DatabaseError> {
        within(self.limit, game(&mut self.connection, id)).await
    }

    /// Returns listed games that are over, the latest first, at most so many: of all, or of those that ended before
    /// the game of that id.
    pub async fn ended_games(
        &mut self,
        before: Option<&str>,
        max: usize,
    ) -> Result<Vec<FoundGame>, DatabaseError> {
        within(self.limit, ended_games(&mut self.connection, before, max)).await
    }
}

async fn games(connection: &mut AnyConnection, source: Source) -> Result<Vec<GameRow>, DatabaseError> {
    let games = query("SELECT * FROM game WHERE source = $1 AND tournament_id IS NULL ORDER BY began, id");
    let games = games.bind(source.as_str()).fetch_all(connection).await?;
    games.iter().map(game_state).collect()
}

async fn game_page(
    connection: &mut AnyConnection,
    TournamentId(tournament): TournamentId,
    cursor: &mut GameCursor,
    limit: u32,
) -> Result<Vec<GameRow>, DatabaseError> {
    if let GameCursor::Place(after) = cursor {
        let games =
            query("SELECT * FROM game WHERE tournament_id = $1 AND place > $2 ORDER BY place LIMIT $3");
        let games = games.bind(tournament).bind(*after).bind(i64::from(limit));
        let rows = games.fetch_all(&mut *connection).await?;
        if let Some(last) = rows.last() {
            *after = last.try_get("place")?;
            return rows.iter().map(game_state).collect();
        }
        *cursor = GameCursor::Began(String::new(), String::new());
    }
    let GameCursor::Began(began, id) = cursor else { return Ok(Vec::new()) };
    let games = query(
        "SELECT * FROM game WHERE tournament_id = $1 AND place IS NULL
                AND (began > $2 OR (began = $2 AND id > $3)) ORDER BY began, id LIMIT $4",
    );
    let games = games.bind(tournament).bind(&*began).bind(&*id).bind(i64::from(limit));
    let rows = games.fetch_all(connection).await?;
    if let Some(last) = rows.last() {
        (*began, *id) = (last.try_get("began")?, last.try_get("id")?);
    }
    rows.iter().map(game_state).collect()
}

async fn game(connection: &mut AnyConnection, id: &str) -> Result<Option<FoundGame>, DatabaseError> {
    let game = query(
        "SELECT game.*, tournament.name AS tournament, pairing FROM game
         LEFT JOIN tournament ON tournament.id = game.tournament_id WHERE game.id = $1",
    );
    let row = game.bind(id).fetch_optional(connection).await?;
    row.as_ref().map(found_game).transpose()
}

/// Reads a game with the name and the pairing system of its tournament.
pub(super) fn found_game(row: &AnyRow) -> Result<FoundGame, DatabaseError> {
    let tournament: Option<String> = row.try_get("tournament")?;
    let pairing = pairing_kind(row)?;
    Ok((game_state(row)?, tournament.map(|name| (name, pairing))))
}

async fn ended_games(
    connection: &mut AnyConnection,
    before: Option<&str>,
    max: usize,
) -> Result<Vec<FoundGame>, DatabaseError> {
    let games = match before {
        Some(before) => query(EARLIER_GAMES).bind(write::number(max)).bind(before),
        None => query(LATEST_GAMES).bind(write::number(max)),
    };
    games.fetch_all(connection).await?.iter().map(found_game).collect()
}

pub(super) fn game_state(row: &AnyRow) -> Result<GameRow, DatabaseError> {
    let tournament: Option<i64> = row.try_get("tournament_id")?;
    let header = GameHeader {
        id: row.try_get::<&str, _>("id")?.into(),
        source: text(row, "source", Source::read)?,
        kind: text(row, "kind", |kind| kind.parse().ok())?,
        tournament: tournament.map(TournamentId),
        round: number(row, "round")?,
        opening: number(row, "opening")?,
        players: ByColor([
            person(row, ["white", "white_rating", "white_bot"])?,
            person(row, ["black", "black_rating", "black_bot"])?,
        ]),
        time_control: row.try_get("time_control")?,
        start: row.try_get("start")?,
        repeats: row.try_get("repeats")?,
        began: text(row, "began", moment)?,
    };
    let ended: Option<&str> = row.try_get("ended")?;
    let end = match ended {
        None => None,
        Some(_) => {
            let corrected: Option<&str> = row.try_get("corrected")?;
            let corrected = corrected.map(|corrected| result(corrected).ok_or_else(|| damaged("corrected")));
            Some(GameEnd {
                result: text(row, "result", result)?,
                note: note(row)?,
                corrected: corrected.transpose()?.map(Corrected),
                reason: row.try_get("reason")?,
                termination: row.try_get("termination")?,
                place: number(row, "place")?,
                at: text(row, "ended", moment)?,
            })
        }
    };
    let positions: Option<String> = row.try_get("positions")?;
    let moves = MoveList { moves: row.try_get("moves")?, positions: positions.unwrap_or_default() };
    Ok(GameRow { header: Arc::new(header), moves, end })
}

fn person(row: &AnyRow, [name, rating, bot]: [&'static str; 3]) -> Result<Person, DatabaseError> {
    let bot = number(row, bot)?.map(|bot: u8| bot == 1);
    Ok(Person { name: row.try_get(name)?, rating: number(row, rating)?, bot })
}
