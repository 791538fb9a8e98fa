//! Results of a tournament from the database of an arena, running or not: as text, CSV, JSON and PGN.

use std::{
    collections::BTreeMap,
    fmt::{self, Display},
};

use tokio::task::spawn_blocking;
use zeitnot_host::{
    database::{
        DatabaseError, DatabaseLocation, GameCursor, GameRow, History, Reader, Readers, Source,
        StoredTournament, TournamentId, Turn, moment,
    },
    live::view::Standing,
    pgn,
};
use zeitnot_pairing::{
    Name,
    format::TieBreak,
    standings::{Row, Standings, Tally},
};
use zeitnot_rules::GameKind;

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
    #[error("{location} has no tournament '{name}'; it has: {known}")]
    Unknown { location: DatabaseLocation, name: String, known: String },
    #[error("{name} has more players or rounds than a report file holds: use the results as CSV or JSON")]
    NoReport { name: String },
}

/// Returns all tournaments of a database, one a line, the latest first.
///
/// # Errors
/// [`ResultsError::Database`].
pub async fn tournaments(database: &Readers) -> Result<Vec<String>, ResultsError> {
    let described = read(database, async |reader| {
        let mut described = Vec::new();
        for tournament in reader.tournaments().await? {
            let games = match tournament.kind {
                GameKind::Chess => {
                    reader.game_page(tournament.id, &mut GameCursor::start(), restore::SAMPLE).await?
                }
                _ => Vec::new(),
            };
            described.push(describe(&tournament, restore::is_chess960(&games)));
        }
        Ok(described)
    });
    Ok(described.await?.0)
}

/// Returns the games of a front without tournaments: `imcs`, `tuc`, `lichess` or `table`.
///
/// # Errors
/// [`ResultsError::Database`].
pub async fn front_games(database: &Readers, front: &str) -> Result<Vec<ResultsGame>, ResultsError> {
    let Some(source) = Source::read(front) else { return Ok(Vec::new()) };
    let (games, _turn) = read(database, async |reader| reader.games(source).await).await?;
    Ok(games.iter().map(ResultsGame::new).collect())
}

/// Games of a page: some hundred kilobytes of PGN.
const PAGE: u32 = 128;

/// Games of a tournament, page by page, as there may be more than fit into memory.
#[derive(Clone, Debug)]
pub struct GamePages {
    database: Readers,
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
        database: &Readers,
        name: &str,
        edition: Option<u32>,
    ) -> Result<GamePages, ResultsError> {
        let (found, _turn) = find(database, name, edition, async |_, tournament| Ok(tournament)).await?;
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
        let Some((games, turn)) = self.next().await? else { return Ok(None) };
        let event = self.event.clone();
        let print = move || {
            let played = games.iter().filter(|game| game.end.as_ref().is_none_or(|end| end.is_played()));
            let text = played.map(|game| pgn::print_or_explain(Some(event.clone()), game)).collect();
            (text, turn)
        };
        // Games at tables are played on this thread. A visitor who gives up does not end the turn of a print that runs.
        let (text, _turn) = spawn_blocking(print).await.map_err(|error| failed(&self.database, &error))?;
        Ok(Some(text))
    }

    /// Returns the next games for [`ResultsFile`]. `None` at the end.
    ///
    /// # Errors
    /// [`ResultsError::Database`].
    pub async fn rows(&mut self) -> Result<Option<Vec<ResultsGame>>, ResultsError> {
        let rows = |(games, _turn): (Vec<GameRow>, Turn)| games.iter().map(ResultsGame::new).collect();
        Ok(self.next().await?.map(rows))
    }

    /// Waits for a turn for each page: a slow reader holds no connection meanwhile.
    async fn next(&mut self) -> Result<Option<(Vec<GameRow>, Turn)>, ResultsError> {
        let GamePages { database, tournament, cursor, .. } = self;
        let page = read(database, async |reader| {
            let mut cursor = cursor.clone();
            let games = reader.game_page(*tournament, &mut cursor, PAGE).await?;
            Ok((games, cursor))
        });
        let ((games, next), turn) = page.await?;
        self.cursor = next;
        Ok((!games.is_empty()).then_some((games, turn)))
    }
}

/// Results of one edition of a tournament.
#[derive(Clone, Debug)]
pub struct TournamentResults {
    tournament: StoredTournament,
    chess960: bool,
    standings: Standings,
    /// Players who are out, each with the reason.
    out: BTreeMap<Name, String>,
    games: GameCounts,
}

/// Numbers of games.
#[derive(Copy, Clone, Debug)]
struct GameCounts {
    over: usize,
    running: usize,
    broken_off: usize,
}

impl TournamentResults {
    /// Reads an edition of a tournament, by default the latest.
    ///
    /// # Errors
    /// [`ResultsError`].
    pub async fn read(
        database: &Readers,
        name: &str,
        edition: Option<u32>,
    ) -> Result<TournamentResults, ResultsError> {
        let history = find(database, name, edition, async |reader, it| reader.history(it).await);
        let (history, turn) = history.await?;
        let count = move || (TournamentResults::new(history), turn);
        let (results, _turn) = spawn_blocking(count).await.map_err(|error| failed(database, &error))?;
        Ok(results)
    }

    fn new(history: History) -> TournamentResults {
        let (standings, out) = (restore::standings(&history), restore::out(&history));
        let chess960 = restore::is_chess960(&history.games);
        let ends = history.games.iter().filter_map(|game| game.end.as_ref());
        let (over, broken_off) = ends.partition::<Vec<_>, _>(|end| end.result.is_some());
        let (over, broken_off) = (over.len(), broken_off.len());
        let running = history.games.len() - over - broken_off;
        let games = GameCounts { over, running, broken_off };
        TournamentResults { tournament: history.tournament, chess960, standings, out, games }
    }

    /// Standings with a heading, separated by commas.
    pub fn csv(&self) -> String {
        let row = |row: Row| {
            let Row { name, rank, score, tie_breaks, tally, .. } = row;
            let Tally { wins, draws, losses, forfeits, byes } = tally;
            let tie_breaks: String = tie_breaks.iter().map(|(_, value)| format!("{value},")).collect();
            let (name_cell, games) = (text_cell(name.as_str()), tally.games());
            let out = text_cell(self.out.get(&name).map_or("", String::as_str));
            format!(
                "{rank},{name_cell},{score},{tie_breaks}{games},{wins},{draws},{losses},{forfeits},{byes},{out}\n"
            )
        };
        let column = |tie_break: &TieBreak| tie_break.name().to_lowercase().replace([' ', '-'], "_") + ",";
        let columns: String = self.tournament.format.tie_breaks.iter().map(column).collect();
        let heading = format!("rank,name,score,{columns}games,wins,draws,losses,forfeits,byes,out\n");
        [heading].into_iter().chain(self.standings.rows().into_iter().map(row)).collect()
    }

    /// Standings and byes; the games are those of [`GamePages::rows`].
    pub fn json(&self) -> ResultsFile {
        let TournamentResults { tournament, chess960, out, .. } = self;
        let player =
            |row: Row| ResultsPlayer { out: out.get(&row.name).cloned(), standing: Standing::from(row) };
        let byes = self.standings.byes().map(|(round, player)| ResultsGame::bye(round, player));
        ResultsFile {
            name: tournament.name.to_string(),
            edition: tournament.edition,
            kind: tournament.kind.name().to_owned(),
            chess960: *chess960,
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
        let StoredTournament { name, .. } = &self.tournament;
        let report = self.standings.trf(name.as_str());
        report.ok_or_else(|| ResultsError::NoReport { name: name.to_string() })
    }
}

impl Display for TournamentResults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let GameCounts { over, running, broken_off } = self.games;
        let heading = describe(&self.tournament, self.chess960);
        write!(f, "{heading}\n\n{}\n\ngames: {over} over", self.standings)?;
        for (count, what) in [(running, "running"), (broken_off, "broken off")] {
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
fn describe(tournament: &StoredTournament, chess960: bool) -> String {
    let StoredTournament { name, edition, kind, time_control, state, opened, .. } = tournament;
    let edition = if *edition > 1 { format!(", edition {edition}") } else { String::new() };
    let game = kind.variant_name(chess960);
    format!("{name}{edition}: {game} at {time_control}, {state}, begun on {}", opened.date())
}

fn known(tournaments: &[StoredTournament]) -> String {
    let mut names: Vec<_> = tournaments.iter().map(|tournament| tournament.name.to_string()).collect();
    names.sort();
    names.dedup();
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

/// Finds an edition of a tournament, by default the latest, and reads about it.
async fn find<T>(
    database: &Readers,
    name: &str,
    edition: Option<u32>,
    ask: impl AsyncFnOnce(&mut Reader, StoredTournament) -> Result<T, DatabaseError>,
) -> Result<(T, Turn), ResultsError> {
    let is_it = |tournament: &StoredTournament| {
        tournament.name.as_str() == name && edition.is_none_or(|edition| tournament.edition == edition)
    };
    let found = read(database, async |reader| {
        let mut tournaments = reader.tournaments().await?;
        let Some(at) = tournaments.iter().position(is_it) else { return Ok(Err(tournaments)) };
        ask(reader, tournaments.swap_remove(at)).await.map(Ok)
    });
    let (found, turn) = found.await?;
    let found = found.map_err(|tournaments| {
        let name = edition.map_or(name.to_owned(), |edition| format!("{name}, edition {edition}"));
        ResultsError::Unknown { location: database.location().clone(), name, known: known(&tournaments) }
    });
    Ok((found?, turn))
}

/// Waits for a turn and asks; the turn goes on while the answer is worked on.
async fn read<T>(
    database: &Readers,
    question: impl AsyncFnOnce(&mut Reader) -> Result<T, DatabaseError>,
) -> Result<(T, Turn), ResultsError> {
    let turn = database.turn().await.ok_or_else(|| failed(database, &"the arena is stopping"))?;
    let answer = turn.ask(question).await;
    let location = || database.location().clone();
    Ok((answer.map_err(|why| ResultsError::Database { location: location(), why })?, turn))
}

fn failed(database: &Readers, why: &dyn Display) -> ResultsError {
    let why = DatabaseError::Other(why.to_string());
    ResultsError::Database { location: database.location().clone(), why }
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
