//! Tournaments: their editions, histories and outcomes.

use futures_util::TryStreamExt;
use sqlx::{AnyConnection, Connection, Row, any::AnyRow, query, query_scalar};
use time::OffsetDateTime;
use zeitnot_pairing::{
    Name,
    format::{self, Format, MAX_PLAYERS},
};
use zeitnot_rules::{GameKind, GameResult};

use super::{
    change::{
        Fact, GameEnd, GameHeader, GameRow, Place, RefusalRecord, SettingsText, TournamentId, TournamentState,
    },
    check::check,
    error::DatabaseError,
    games::game_state,
    open::within,
    read::{Reader, damaged, moment, name, note, number, pairing_kind, refusals, result, text},
    write,
};
use crate::origin::Origin;

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
    pub(super) events: Vec<(Place, Fact)>,
    /// In the order in which they ended; those without a result and those that run come last.
    pub games: Vec<GameRow>,
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
    /// Returns all tournaments, the latest first.
    pub async fn tournaments(&mut self) -> Result<Vec<StoredTournament>, DatabaseError> {
        within(self.limit, tournaments(&mut self.connection)).await
    }

    /// Returns the tournaments with settings whose latest edition is not complete, in the order of their creation.
    pub(super) async fn created(&mut self) -> Result<Vec<(Name, SettingsText)>, DatabaseError> {
        within(self.limit, created(&mut self.connection)).await
    }

    /// Returns tournaments, the latest first, at most so many: of all, or of those before that number. On a server those
    /// that are not complete are the affair of the arenas that run them.
    pub async fn tournaments_before(
        &mut self,
        before: Option<i64>,
        max: usize,
    ) -> Result<Vec<StoredTournament>, DatabaseError> {
        let state = if self.is_shared { TournamentState::Complete.as_str() } else { "%" };
        within(self.limit, tournaments_before(&mut self.connection, state, before, max)).await
    }

    /// Returns an edition of a tournament, by default the latest.
    pub async fn tournament(
        &mut self,
        name: &Name,
        edition: Option<u32>,
    ) -> Result<Option<StoredTournament>, DatabaseError> {
        within(self.limit, one_tournament(&mut self.connection, name, edition)).await
    }

    /// Returns the outcome of a tournament.
    pub async fn outcome(&mut self, tournament: StoredTournament) -> Result<StoredOutcome, DatabaseError> {
        within(self.limit, outcome(&mut self.connection, tournament)).await
    }

    /// Returns the history of a tournament. The games have no moves.
    pub async fn history(&mut self, tournament: StoredTournament) -> Result<History, DatabaseError> {
        let read = async {
            // All from one moment.
            let mut transaction = self.connection.begin().await?;
            let history = history(&mut transaction, tournament).await;
            // A dropped transaction would stay open until the connection is used again.
            transaction.rollback().await?;
            history
        };
        within(self.limit, read).await
    }
}

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

async fn tournaments_before(
    connection: &mut AnyConnection,
    state: &str,
    before: Option<i64>,
    max: usize,
) -> Result<Vec<StoredTournament>, DatabaseError> {
    let rows = query("SELECT * FROM tournament WHERE id < $1 AND state LIKE $2 ORDER BY id DESC LIMIT $3");
    let rows = rows.bind(before.unwrap_or(i64::MAX)).bind(state).bind(write::number(max));
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

/// Returns the latest edition of a tournament.
pub(super) async fn latest(
    connection: &mut AnyConnection,
    name: &Name,
) -> Result<Option<StoredTournament>, DatabaseError> {
    let latest = query("SELECT * FROM tournament WHERE name = $1 ORDER BY edition DESC LIMIT 1");
    let row = latest.bind(name.as_str()).fetch_optional(connection).await?;
    row.as_ref().map(tournament).transpose()
}

/// Games without their moves.
macro_rules! games {
    ($order:literal) => {
        concat!(
            "SELECT id, source, kind, tournament_id, round, opening, white, black, time_control, start, repeats, began,
                    ended, result, reason, termination, place, note, corrected, '' AS moves, '' AS positions,
                    white_rating, black_rating, white_bot, black_bot
             FROM game WHERE tournament_id = $1 AND ",
            $order
        )
    };
}

/// Games that count, which an index has in their order, and the others.
const GAMES: [&str; 2] =
    [games!("place IS NOT NULL ORDER BY place"), games!("place IS NULL ORDER BY began, id")];

/// Reads a history, whose games have no moves: these make up most of a database.
pub(super) async fn history(
    connection: &mut AnyConnection,
    tournament: StoredTournament,
) -> Result<History, DatabaseError> {
    let TournamentId(id) = tournament.id;
    let events = query("SELECT * FROM event WHERE tournament_id = $1 ORDER BY place");
    let events = events.bind(id).fetch_all(&mut *connection).await?;
    let events: Vec<_> = events.iter().map(event).collect::<Result<_, _>>()?;
    // Tens of thousands of rows take more memory than their values, and long to sort.
    let mut games = Vec::new();
    for query in GAMES.map(query) {
        let mut rows = query.bind(id).fetch(&mut *connection);
        while let Some(row) = rows.try_next().await? {
            games.push(game_state(&row)?);
        }
    }
    check(tournament.format.pairing, &events, &games)?;
    Ok(History { tournament, events, games })
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
