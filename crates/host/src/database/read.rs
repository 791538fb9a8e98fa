//! Connections that only read, values of columns, and rows that belong to no tournament and no game.

use std::time::Duration;

use sqlx::{AnyConnection, Connection, Row, any::AnyRow, query};
use time::{OffsetDateTime, format_description::well_known::Rfc3339};
use zeitnot_pairing::{
    Name,
    format::{self, PairingKind},
};
use zeitnot_rules::{Color, GameResult};

use super::{
    change::{LichessKind, LichessRow, RefusalRecord, TournamentId},
    error::DatabaseError,
    location::DatabaseLocation,
    open::{self, within},
};
use crate::note::Note;

/// Connection that only reads. It sees what is written until the beginning of each question.
#[derive(Debug)]
pub struct Reader {
    pub(super) connection: AnyConnection,
    /// Longest time for an answer.
    pub(super) limit: Option<Duration>,
    /// Other arenas may write to it.
    pub(super) is_shared: bool,
}

impl Reader {
    /// Opens the database of an arena, which may be running.
    pub async fn open(location: &DatabaseLocation) -> Result<Reader, DatabaseError> {
        let connection = open::for_reading(location).await?;
        let is_shared = matches!(location, DatabaseLocation::Server(_));
        Ok(Reader { connection, limit: location.max_history(), is_shared })
    }

    /// Closes the connection; a dropped one is closed later, by a thread of its own.
    pub async fn close(self) {
        let close = async { Ok(self.connection.close().await?) };
        // It has changed nothing.
        let _ = within(self.limit, close).await;
    }

    /// Returns whether the server is still there.
    pub(super) async fn is_alive(&mut self) -> bool {
        let ping = async { Ok(self.connection.ping().await?) };
        within(self.limit, ping).await.is_ok()
    }

    /// Returns the refusals of no tournament, the latest last.
    pub(super) async fn refusals(&mut self) -> Result<Vec<RefusalRecord>, DatabaseError> {
        within(self.limit, refusals(&mut self.connection, None)).await
    }

    /// Returns the state of the Lichess API.
    pub async fn lichess(&mut self) -> Result<Vec<LichessRow>, DatabaseError> {
        within(self.limit, lichess(&mut self.connection)).await
    }
}

async fn lichess(connection: &mut AnyConnection) -> Result<Vec<LichessRow>, DatabaseError> {
    // Earlier arenas had rows of further kinds.
    let rows =
        query("SELECT * FROM lichess WHERE kind IN ('account', 'challenge', 'game') ORDER BY kind, id");
    let rows = rows.fetch_all(connection).await?;
    let row = |row: &AnyRow| {
        let kind = text(row, "kind", LichessKind::read)?;
        Ok(LichessRow { kind, id: row.try_get("id")?, value: row.try_get("value")? })
    };
    rows.iter().map(row).collect()
}

/// Returns the refusals of a tournament, or of none, the latest last.
pub(super) async fn refusals(
    connection: &mut AnyConnection,
    tournament: Option<TournamentId>,
) -> Result<Vec<RefusalRecord>, DatabaseError> {
    let refusals = query("SELECT * FROM refusal WHERE tournament_id = $1 ORDER BY number");
    let id = tournament.map_or(0, |TournamentId(id)| id);
    let rows = refusals.bind(id).fetch_all(connection).await?;
    let refusal = |row: &AnyRow| {
        Ok(RefusalRecord {
            slot: number(row, "slot")?.unwrap_or_default(),
            number: number(row, "number")?.unwrap_or_default(),
            at: text(row, "at", moment)?,
            name: row.try_get("name")?,
            reason: row.try_get("reason")?,
        })
    };
    rows.iter().map(refusal).collect()
}

/// Error for a column whose text is not ours.
pub(super) fn damaged(column: &'static str) -> DatabaseError {
    DatabaseError::Damaged(format!("the column {column} cannot be read"))
}

pub(super) fn text<'r, T>(
    row: &'r AnyRow,
    column: &'static str,
    read: impl FnOnce(&'r str) -> Option<T>,
) -> Result<T, DatabaseError> {
    read(row.try_get(column)?).ok_or_else(|| damaged(column))
}

pub(super) fn number<T: TryFrom<i64>>(
    row: &AnyRow,
    column: &'static str,
) -> Result<Option<T>, DatabaseError> {
    let number: Option<i64> = row.try_get(column)?;
    number.map(|number| T::try_from(number).map_err(|_| damaged(column))).transpose()
}

pub(super) fn moment(text: &str) -> Option<OffsetDateTime> {
    OffsetDateTime::parse(text, &Rfc3339).ok()
}

pub(super) fn name(row: &AnyRow, column: &'static str) -> Result<Name, DatabaseError> {
    Ok(Name::try_from(row.try_get::<&str, _>(column)?)?)
}

pub(super) fn note(row: &AnyRow) -> Result<Option<Note>, DatabaseError> {
    let note: Option<&str> = row.try_get("note")?;
    note.map(|note| Note::try_from(note).map_err(|_| damaged("note"))).transpose()
}

/// Reads the pairing system of a tournament; one of an earlier arena has the usual one.
pub(super) fn pairing_kind(row: &AnyRow) -> Result<PairingKind, DatabaseError> {
    let name: Option<&str> = row.try_get("pairing")?;
    name.map_or(Ok(PairingKind::default()), |name| format::read(name).ok_or_else(|| damaged("pairing")))
}

/// Reads `Some(None)` for a game that was broken off.
pub(super) fn result(text: &str) -> Option<Option<GameResult>> {
    let all = Color::BOTH.map(GameResult::Won).into_iter().chain([GameResult::Draw]);
    let mut known = all.map(Some).chain([None]);
    known.find(|result| result.map_or("*", GameResult::as_str) == text)
}
