//! Reading of tournaments and games: of an arena that starts again, and of others while it runs.

use std::{sync::Arc, time::Duration};

use futures_util::TryStreamExt;
use sqlx::{AnyConnection, Connection, Row, any::AnyRow, query};
use time::{OffsetDateTime, format_description::well_known::Rfc3339};
use zeitnot_pairing::{
    Name,
    format::{self, Format, MAX_PLAYERS, PairingKind},
};
use zeitnot_rules::{ByColor, Color, GameKind, GameResult};

use super::{
    change::{
        Corrected, ExportFile, Fact, GameEnd, GameHeader, GameState, LichessKind, LichessRow, MoveList,
        Place, RefusalRecord, SettingsText, TournamentId, TournamentState,
    },
    check::check,
    error::DatabaseError,
    location::DatabaseLocation,
    open::{self, within},
};
use crate::{live::view::Source, note::Note, origin::Origin};

/// An edition of a tournament.
#[allow(missing_docs)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredTournament {
    pub id: TournamentId,
    pub name: Name,
    /// Tournaments of one name follow each other, from 1.
    pub edition: u32,
    pub kind: GameKind,
    pub time_control: String,
    pub state: TournamentState,
    pub opened: OffsetDateTime,
    pub format: Format,
}

impl StoredTournament {
    /// Returns whether an arena goes on with it.
    pub(crate) fn is_unfinished(&self) -> bool {
        self.state != TournamentState::Complete
    }
}

/// A tournament with all that has happened in it, without the moves of its games.
#[allow(missing_docs)]
#[derive(Clone, Debug)]
pub struct History {
    pub tournament: StoredTournament,
    events: Vec<(Place, Fact)>,
    /// In the order in which they ended; those without a result and those that run come last.
    pub games: Vec<GameState>,
}

/// Step of a tournament's history.
#[allow(missing_docs)]
#[derive(Copy, Clone, Debug)]
pub enum Step<'h> {
    Fact(&'h Fact),
    /// A game that counts.
    Result(&'h GameHeader, &'h GameEnd, GameResult),
}

impl History {
    /// Returns the facts and the results in their order.
    pub fn steps(&self) -> Vec<Step<'_>> {
        let events = self.events.iter().map(|(place, fact)| (*place, Step::Fact(fact)));
        let games = self.games.iter().filter_map(|game| {
            let end = game.end.as_ref()?;
            Some((end.place?, Step::Result(&game.header, end, end.result?)))
        });
        let mut steps: Vec<_> = events.chain(games).collect();
        steps.sort_by_key(|(place, _)| *place);
        steps.into_iter().map(|(_, step)| step).collect()
    }

    /// Returns the facts in their order.
    pub fn facts(&self) -> impl Iterator<Item = &Fact> {
        self.events.iter().map(|(_, fact)| fact)
    }

    /// Returns the place of what happens next.
    pub fn next_place(&self) -> Place {
        let events = self.events.iter().map(|(place, _)| *place);
        let games = self.games.iter().filter_map(|game| game.end.as_ref()?.place);
        events.chain(games).max().map_or(0, |last| last.saturating_add(1))
    }
}

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

    /// Returns all tournaments, the latest first.
    pub async fn tournaments(&mut self) -> Result<Vec<StoredTournament>, DatabaseError> {
        within(self.limit, tournaments(&mut self.connection)).await
    }

    /// Returns the refusals of no tournament, the latest last.
    pub(super) async fn refusals(&mut self) -> Result<Vec<RefusalRecord>, DatabaseError> {
        within(self.limit, refusals(&mut self.connection, None)).await
    }

    /// Returns the tournaments with settings whose latest edition is not complete, in the order of their creation.
    pub(super) async fn created(&mut self) -> Result<Vec<(Name, SettingsText)>, DatabaseError> {
        within(self.limit, created(&mut self.connection)).await
    }

    /// Returns the games of a front that belong to no tournament, in the order in which they began.
    pub async fn games(&mut self, source: Source) -> Result<Vec<GameState>, DatabaseError> {
        within(self.limit, games(&mut self.connection, source)).await
    }

    /// Returns the next games of a tournament with their moves, in the order in which they ended; those without a result and
    /// those that run come last. There are no more if the page is empty.
    pub async fn game_page(
        &mut self,
        tournament: TournamentId,
        cursor: &mut GameCursor,
        limit: u32,
    ) -> Result<Vec<GameState>, DatabaseError> {
        within(self.limit, game_page(&mut self.connection, tournament, cursor, limit)).await
    }

    /// Returns a game of any front, with the name and the pairing system of its tournament.
    pub async fn game(&mut self, id: &str) -> Result<Option<FoundGame>, DatabaseError> {
        within(self.limit, game(&mut self.connection, id)).await
    }

    /// Returns the first games of the tournaments of that name, or of the Lichess API, that are over and in no file of
    /// games.
    pub(crate) async fn unexported(
        &mut self,
        tournament: Option<&Name>,
        limit: usize,
    ) -> Result<Vec<GameState>, DatabaseError> {
        within(self.limit, unexported(&mut self.connection, tournament, limit)).await
    }

    /// Returns the file of games of the tournaments of that name, or of the Lichess API.
    pub(crate) async fn export_file(
        &mut self,
        tournament: Option<&Name>,
    ) -> Result<Option<ExportFile>, DatabaseError> {
        within(self.limit, export_file(&mut self.connection, tournament)).await
    }

    /// Returns the state of the Lichess API.
    pub async fn lichess(&mut self) -> Result<Vec<LichessRow>, DatabaseError> {
        within(self.limit, lichess(&mut self.connection)).await
    }

    /// Returns what has happened in a tournament. The games have no moves.
    pub async fn history(&mut self, tournament: StoredTournament) -> Result<History, DatabaseError> {
        let read = async {
            // All from one moment.
            let mut transaction = self.connection.begin().await?;
            history(&mut transaction, tournament).await
        };
        within(self.limit, read).await
    }
}

/// Game with the name and the pairing system of its tournament.
pub type FoundGame = (GameState, Option<(String, PairingKind)>);

async fn tournaments(connection: &mut AnyConnection) -> Result<Vec<StoredTournament>, DatabaseError> {
    let rows = query("SELECT * FROM tournament ORDER BY id DESC").fetch_all(connection).await?;
    rows.iter().map(tournament).collect()
}

async fn created(connection: &mut AnyConnection) -> Result<Vec<(Name, SettingsText)>, DatabaseError> {
    let created = query(
        "SELECT name, settings FROM tournament AS it
         WHERE settings IS NOT NULL AND state <> $1
               AND edition = (SELECT MAX(edition) FROM tournament WHERE name = it.name)
         ORDER BY id",
    );
    let rows = created.bind(TournamentState::Complete.as_str()).fetch_all(connection).await?;
    rows.iter().map(|row| Ok((name(row, "name")?, SettingsText(row.try_get("settings")?)))).collect()
}

async fn games(connection: &mut AnyConnection, source: Source) -> Result<Vec<GameState>, DatabaseError> {
    let games = query("SELECT * FROM game WHERE source = $1 AND tournament_id IS NULL ORDER BY began, id");
    let games = games.bind(source.as_str()).fetch_all(connection).await?;
    games.iter().map(game_state).collect()
}

async fn game_page(
    connection: &mut AnyConnection,
    TournamentId(tournament): TournamentId,
    cursor: &mut GameCursor,
    limit: u32,
) -> Result<Vec<GameState>, DatabaseError> {
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

async fn unexported(
    connection: &mut AnyConnection,
    tournament: Option<&Name>,
    limit: usize,
) -> Result<Vec<GameState>, DatabaseError> {
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
    games.fetch_all(connection).await?.iter().map(game_state).collect()
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

async fn lichess(connection: &mut AnyConnection) -> Result<Vec<LichessRow>, DatabaseError> {
    let rows = query("SELECT * FROM lichess ORDER BY kind, id").fetch_all(connection).await?;
    let row = |row: &AnyRow| {
        let kind = text(row, "kind", LichessKind::read)?;
        Ok(LichessRow { kind, id: row.try_get("id")?, value: row.try_get("value")? })
    };
    rows.iter().map(row).collect()
}

/// Returns the latest edition of a tournament.
pub(super) async fn latest(
    connection: &mut AnyConnection,
    name: &Name,
) -> Result<Option<StoredTournament>, DatabaseError> {
    let latest = query("SELECT * FROM tournament WHERE name = $1 ORDER BY edition DESC LIMIT 1");
    let row = latest.bind(name.as_str()).fetch_optional(connection).await?;
    row.as_ref().map(tournament).transpose()
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

/// Reads a history, whose games have no moves: these make up most of a database.
pub(super) async fn history(
    connection: &mut AnyConnection,
    tournament: StoredTournament,
) -> Result<History, DatabaseError> {
    let TournamentId(id) = tournament.id;
    let events = query("SELECT * FROM event WHERE tournament_id = $1 ORDER BY place");
    let events = events.bind(id).fetch_all(&mut *connection).await?;
    let games = query(
        "SELECT id, source, kind, tournament_id, round, opening, white, black, time_control, start, repeats, began,
                ended, result, reason, termination, place, note, corrected, '' AS moves, '' AS positions
         FROM game WHERE tournament_id = $1 ORDER BY place IS NULL, place, began, id",
    );
    let events: Vec<_> = events.iter().map(event).collect::<Result<_, _>>()?;
    // Tens of thousands of rows take more memory than what they hold.
    let (mut rows, mut games) = (games.bind(id).fetch(connection), Vec::new());
    while let Some(row) = rows.try_next().await? {
        games.push(game_state(&row)?);
    }
    drop(rows);
    check(tournament.format.pairing, &events, &games)?;
    Ok(History { tournament, events, games })
}

/// Error for a column whose text is not ours.
fn damaged(column: &'static str) -> DatabaseError {
    DatabaseError::Damaged(format!("the column {column} cannot be read"))
}

fn text<'r, T>(
    row: &'r AnyRow,
    column: &'static str,
    read: impl FnOnce(&'r str) -> Option<T>,
) -> Result<T, DatabaseError> {
    read(row.try_get(column)?).ok_or_else(|| damaged(column))
}

fn number<T: TryFrom<i64>>(row: &AnyRow, column: &'static str) -> Result<Option<T>, DatabaseError> {
    let number: Option<i64> = row.try_get(column)?;
    number.map(|number| T::try_from(number).map_err(|_| damaged(column))).transpose()
}

fn moment(text: &str) -> Option<OffsetDateTime> {
    OffsetDateTime::parse(text, &Rfc3339).ok()
}

fn name(row: &AnyRow, column: &'static str) -> Result<Name, DatabaseError> {
    Ok(Name::try_from(row.try_get::<&str, _>(column)?)?)
}

pub(super) fn tournament(row: &AnyRow) -> Result<StoredTournament, DatabaseError> {
    Ok(StoredTournament {
        id: TournamentId(row.try_get("id")?),
        name: name(row, "name")?,
        edition: number(row, "edition")?.unwrap_or(1),
        kind: text(row, "kind", |kind| kind.parse().ok())?,
        time_control: row.try_get("time_control")?,
        state: text(row, "state", TournamentState::read)?,
        opened: text(row, "opened", moment)?,
        format: tournament_format(row)?,
    })
}

/// Reads the pairing system of a tournament; one of an earlier arena has the usual one.
fn pairing_kind(row: &AnyRow) -> Result<PairingKind, DatabaseError> {
    let name: Option<&str> = row.try_get("pairing")?;
    name.map_or(Ok(PairingKind::default()), |name| format::read(name).ok_or_else(|| damaged("pairing")))
}

/// Reads the format of a tournament; one of an earlier arena has the usual one.
fn tournament_format(row: &AnyRow) -> Result<Format, DatabaseError> {
    let column = |column| row.try_get::<Option<&str>, _>(column);
    let pairing = pairing_kind(row)?;
    let acceleration = column("acceleration")?;
    let acceleration = acceleration.map(|name| format::read(name).ok_or_else(|| damaged("acceleration")));
    let tie_breaks = match column("tie_breaks")? {
        Some(names) => {
            let names = names.split(' ').filter(|name| !name.is_empty()).map(format::read);
            names.collect::<Option<_>>().ok_or_else(|| damaged("tie_breaks"))?
        }
        None => pairing.tie_breaks().to_vec(),
    };
    let rounds: Option<u32> = number(row, "rounds")?;
    if rounds.is_some_and(|rounds| rounds as usize > MAX_PLAYERS) {
        return Err(damaged("rounds"));
    }
    Ok(Format { pairing, rounds, acceleration: acceleration.transpose()?, tie_breaks })
}

fn event(row: &AnyRow) -> Result<(Place, Fact), DatabaseError> {
    let place = number(row, "place")?.unwrap_or_default();
    let player = || name(row, "player");
    let fact = match row.try_get("kind")? {
        "seated" => {
            let holder: Option<&str> = row.try_get("holder")?;
            let holder = holder.map(|holder| Origin::read(holder).ok_or_else(|| damaged("holder")));
            let seat = number(row, "seat")?.ok_or_else(|| damaged("seat"))?;
            Fact::Seated { player: player()?, seat, holder: holder.transpose()? }
        }
        "freed" => Fact::Freed { player: player()? },
        "withdrawn" => Fact::Withdrawn { player: player()? },
        "returned" => Fact::Returned { player: player()? },
        "bye" => Fact::Bye { player: player()?, round: number(row, "round")?.unwrap_or_default() },
        "started" => Fact::Started,
        "paused" => Fact::Paused,
        "resumed" => Fact::Resumed,
        "late-entries" => Fact::LateEntries { allowed: true },
        "no-late-entries" => Fact::LateEntries { allowed: false },
        "round" => Fact::Round { round: number(row, "round")?.unwrap_or_default() },
        "bye-revoked" => {
            Fact::ByeRevoked { player: player()?, round: number(row, "round")?.unwrap_or_default() }
        }
        "removed" => Fact::Removed { player: player()?, note: note(row)? },
        "paired" => Fact::PairedByHand { white: player()?, black: name(row, "opponent")? },
        "corrected" => Fact::Corrected {
            game: row.try_get::<&str, _>("game_id")?.into(),
            result: text(row, "result", result)?,
            note: note(row)?.ok_or_else(|| damaged("note"))?,
        },
        _ => return Err(damaged("kind")),
    };
    Ok((place, fact))
}

fn note(row: &AnyRow) -> Result<Option<Note>, DatabaseError> {
    let note: Option<&str> = row.try_get("note")?;
    note.map(|note| Note::try_from(note).map_err(|_| damaged("note"))).transpose()
}

/// Reads `Some(None)` for a game that was broken off.
fn result(text: &str) -> Option<Option<GameResult>> {
    let all = Color::BOTH.map(GameResult::Won).into_iter().chain([GameResult::Draw]);
    let mut known = all.map(Some).chain([None]);
    known.find(|result| result.map_or("*", GameResult::as_str) == text)
}

fn game_state(row: &AnyRow) -> Result<GameState, DatabaseError> {
    let tournament: Option<i64> = row.try_get("tournament_id")?;
    let header = GameHeader {
        id: row.try_get::<&str, _>("id")?.into(),
        source: text(row, "source", Source::read)?,
        kind: text(row, "kind", |kind| kind.parse().ok())?,
        tournament: tournament.map(TournamentId),
        round: number(row, "round")?,
        opening: number(row, "opening")?,
        names: ByColor([row.try_get("white")?, row.try_get("black")?]),
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
    Ok(GameState { header: Arc::new(header), moves, end })
}
