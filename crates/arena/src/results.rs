//! Results of a tournament from the database of an arena, running or not: as text, CSV, JSON and PGN.

use std::fmt::{self, Display};

use tokio::task::{JoinError, spawn_blocking};
use zeitnot_host::{
    database::{
        DatabaseError, DatabaseLocation, GameCursor, GameState, History, Reader, Source, StoredTournament,
        TournamentId, moment,
    },
    pgn,
};
use zeitnot_pairing::{
    format::TieBreak,
    standings::{Row, Standings, Tally},
};

use crate::{
    results_file::{ResultsFile, ResultsGame, ResultsPlayer},
    tournament::restore,
};

/// Reason why there are no results.
#[allow(missing_docs)]
#[derive(Debug, thiserror::Error)]
pub enum ResultsError {
    #[error("cannot read the database {location}: {why}")]
    Database { location: DatabaseLocation, why: DatabaseError },
    #[error("there is no tournament '{name}' in {location}; it has: {known}")]
    Unknown { location: DatabaseLocation, name: String, known: String },
    #[error("{name} has more players or rounds than a report file holds: take the results as CSV or JSON")]
    NoReport { name: String },
}

/// Returns all tournaments of a database, one a line, the latest first.
///
/// # Errors
/// [`ResultsError::Database`].
pub async fn tournaments(database: &DatabaseLocation) -> Result<Vec<String>, ResultsError> {
    let tournaments = read(database, async |reader| reader.tournaments().await).await?;
    Ok(tournaments.iter().map(describe).collect())
}

/// Returns the games of a front without tournaments: `imcs`, `tuc`, `lichess` or `table`.
///
/// # Errors
/// [`ResultsError::Database`].
pub async fn front_games(database: &DatabaseLocation, front: &str) -> Result<Vec<ResultsGame>, ResultsError> {
    let Some(source) = Source::read(front) else { return Ok(Vec::new()) };
    let games = read(database, async |reader| reader.games(source).await).await?;
    Ok(games.iter().map(ResultsGame::new).collect())
}

/// Games of a page: some hundred kilobytes of PGN.
const PAGE: u32 = 128;

/// Games of a tournament, page by page, as there may be more than fit into memory.
#[derive(Clone, Debug)]
pub struct GamePages {
    database: DatabaseLocation,
    tournament: TournamentId,
    event: String,
    cursor: GameCursor,
}

impl GamePages {
    /// Finds an edition of a tournament, by default the latest.
    ///
    /// # Errors
    /// [`ResultsError`].
    pub async fn open(
        database: &DatabaseLocation,
        name: &str,
        edition: Option<u32>,
    ) -> Result<GamePages, ResultsError> {
        let found = find(database, name, edition, async |_, tournament| Ok(tournament)).await?;
        Ok(GamePages {
            database: database.clone(),
            tournament: found.id,
            event: found.name.to_string(),
            cursor: GameCursor::start(),
        })
    }

    /// Returns the next games as PGN: those at the board, over or not. `None` at the end.
    ///
    /// # Errors
    /// [`ResultsError::Database`].
    pub async fn pgn(&mut self) -> Result<Option<String>, ResultsError> {
        let Some(games) = self.next().await? else { return Ok(None) };
        let event = self.event.clone();
        let print = move || {
            let played = games.iter().filter(|game| game.end.as_ref().is_none_or(|end| end.is_played()));
            played.map(|game| pgn::print_or_explain(Some(event.clone()), game)).collect()
        };
        // Games at tables are played on this thread.
        let printed = spawn_blocking(print).await;
        let failed = |error: JoinError| DatabaseError::Other(error.to_string());
        let location = self.database.clone();
        printed.map(Some).map_err(|error| ResultsError::Database { location, why: failed(error) })
    }

    /// Returns the next games for [`ResultsFile`]. `None` at the end.
    ///
    /// # Errors
    /// [`ResultsError::Database`].
    pub async fn rows(&mut self) -> Result<Option<Vec<ResultsGame>>, ResultsError> {
        Ok(self.next().await?.map(|games| games.iter().map(ResultsGame::new).collect()))
    }

    async fn next(&mut self) -> Result<Option<Vec<GameState>>, ResultsError> {
        // Whoever reads slowly holds no connection meanwhile.
        let GamePages { database, tournament, cursor, .. } = self;
        let games = read(database, async |reader| reader.game_page(*tournament, cursor, PAGE).await).await?;
        Ok((!games.is_empty()).then_some(games))
    }
}

/// Results of one edition of a tournament.
#[derive(Clone, Debug)]
pub struct TournamentResults {
    history: History,
    standings: Standings,
}

impl TournamentResults {
    /// Reads an edition of a tournament, by default the latest.
    ///
    /// # Errors
    /// [`ResultsError`].
    pub async fn read(
        database: &DatabaseLocation,
        name: &str,
        edition: Option<u32>,
    ) -> Result<TournamentResults, ResultsError> {
        let history =
            find(database, name, edition, async |reader, tournament| reader.history(tournament).await)
                .await?;
        let standings = restore::standings(&history);
        Ok(TournamentResults { history, standings })
    }

    /// Standings with a heading, separated by commas.
    pub fn csv(&self) -> String {
        let out = restore::out(&self.history);
        let row = |row: Row| {
            let Row { name, rank, score, tie_breaks, tally, .. } = row;
            let Tally { wins, draws, losses, forfeits, byes } = tally;
            let tie_breaks: String = tie_breaks.iter().map(|(_, value)| format!("{value},")).collect();
            let (name_cell, games) = (text_cell(name.as_str()), tally.games());
            let out = text_cell(out.get(&name).map_or("", String::as_str));
            format!(
                "{rank},{name_cell},{score},{tie_breaks}{games},{wins},{draws},{losses},{forfeits},{byes},{out}\n"
            )
        };
        let column = |tie_break: &TieBreak| tie_break.name().to_lowercase().replace([' ', '-'], "_") + ",";
        let columns: String = self.history.tournament.format.tie_breaks.iter().map(column).collect();
        let heading = format!("rank,name,score,{columns}games,wins,draws,losses,forfeits,byes,out\n");
        [heading].into_iter().chain(self.standings.rows().into_iter().map(row)).collect()
    }

    /// Standings and byes; the games are those of [`GamePages::rows`].
    pub fn json(&self) -> ResultsFile {
        let tournament = &self.history.tournament;
        let out = restore::out(&self.history);
        let player = |row: Row| {
            let out = out.get(&row.name).cloned();
            ResultsPlayer::new(row, out)
        };
        let byes = self.standings.byes().map(|(round, player)| ResultsGame::bye(round, player));
        ResultsFile {
            name: tournament.name.to_string(),
            edition: tournament.edition,
            kind: tournament.kind.name().to_owned(),
            time_control: tournament.time_control.clone(),
            state: tournament.state.to_string(),
            opened: moment(tournament.opened),
            players: self.standings.rows().into_iter().map(player).collect(),
            pairings: byes.collect(),
        }
    }

    /// Report file (TRF16) for arbiters' programs.
    ///
    /// # Errors
    /// [`ResultsError::NoReport`].
    pub fn trf(&self) -> Result<String, ResultsError> {
        let StoredTournament { name, .. } = &self.history.tournament;
        let report = self.standings.trf(name.as_str());
        report.ok_or_else(|| ResultsError::NoReport { name: name.to_string() })
    }
}

impl Display for TournamentResults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let History { tournament, games, .. } = &self.history;
        writeln!(f, "{}\n\n{}\n", describe(tournament), self.standings)?;
        let over = games.iter().filter_map(|game| game.end.as_ref());
        let (played, broken_off) = over.partition::<Vec<_>, _>(|end| end.result.is_some());
        write!(f, "games: {} over", played.len())?;
        let running = games.len() - played.len() - broken_off.len();
        for (count, what) in [(running, "running"), (broken_off.len(), "broken off")] {
            if count > 0 {
                write!(f, ", {count} {what}")?;
            }
        }
        Ok(())
    }
}

/// Cell of a CSV file with text from outside. Spreadsheets run what begins as a formula, unless an apostrophe precedes it
/// (OWASP, "CSV Injection").
fn text_cell(text: &str) -> String {
    let mark = if text.starts_with(['=', '+', '-', '@', '\t', '\r']) { "'" } else { "" };
    match text.contains([',', '"', '\r', '\n']) {
        true => format!("\"{mark}{}\"", text.replace('"', "\"\"")),
        false => format!("{mark}{text}"),
    }
}

/// `class, edition 2: chess at 60+0.5, running since 2026-03-01`
fn describe(tournament: &StoredTournament) -> String {
    let StoredTournament { name, edition, kind, time_control, state, opened, .. } = tournament;
    let edition = if *edition > 1 { format!(", edition {edition}") } else { String::new() };
    let (kind, date) = (kind.name(), opened.date());
    format!("{name}{edition}: {kind} at {time_control}, {state}, begun on {date}")
}

fn known(tournaments: &[StoredTournament]) -> String {
    let mut names: Vec<_> = tournaments.iter().map(|tournament| tournament.name.to_string()).collect();
    names.sort();
    names.dedup();
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

/// Finds an edition of a tournament, by default the latest, and reads about it.
async fn find<T>(
    database: &DatabaseLocation,
    name: &str,
    edition: Option<u32>,
    ask: impl AsyncFnOnce(&mut Reader, StoredTournament) -> Result<T, DatabaseError>,
) -> Result<T, ResultsError> {
    let is_it = |tournament: &StoredTournament| {
        tournament.name.as_str() == name && edition.is_none_or(|edition| tournament.edition == edition)
    };
    let found = read(database, async |reader| {
        let mut tournaments = reader.tournaments().await?;
        let Some(at) = tournaments.iter().position(is_it) else { return Ok(Err(tournaments)) };
        ask(reader, tournaments.swap_remove(at)).await.map(Ok)
    });
    found.await?.map_err(|tournaments| {
        let name = edition.map_or(name.to_owned(), |edition| format!("{name}, edition {edition}"));
        ResultsError::Unknown { location: database.clone(), name, known: known(&tournaments) }
    })
}

async fn read<T>(
    database: &DatabaseLocation,
    ask: impl AsyncFnOnce(&mut Reader) -> Result<T, DatabaseError>,
) -> Result<T, ResultsError> {
    let asked = async {
        let mut reader = Reader::open(database).await?;
        let answer = ask(&mut reader).await;
        reader.close().await;
        answer
    };
    asked.await.map_err(|why| ResultsError::Database { location: database.clone(), why })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_that_begins_as_a_formula_is_text() {
        for (text, cell) in [
            ("alice", "alice"),
            ("a=b-1", "a=b-1"),
            ("=1+1", "'=1+1"),
            ("+1", "'+1"),
            ("-1", "'-1"),
            ("@SUM(A1,A2)", "\"'@SUM(A1,A2)\""),
            ("\t=1", "'\t=1"),
            ("\r=1", "\"'\r=1\""),
            ("=HYPERLINK(\"x\")", "\"'=HYPERLINK(\"\"x\"\")\""),
        ] {
            assert_eq!(text_cell(text), cell);
        }
    }
}
