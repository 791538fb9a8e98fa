//! Opening positions: a FEN or EPD on each line.

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};
use zeitnot_rules::{DynGame, Game, GameError, GameKind, Tactics, Visitor};

use crate::error::ArenaError;

/// Positions in a list, at most.
const MAX_POSITIONS: usize = 1000;
/// Length of one of them in characters, at most.
const MAX_POSITION: usize = 200;

/// Openings of a tournament.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(untagged, expecting = "expected a file of positions")]
pub enum Openings {
    /// File with a position on each line.
    File(PathBuf),
    /// The positions themselves, in lines as of a file; without one, games begin as usual.
    Positions(Vec<String>),
}

impl Openings {
    pub(crate) fn is_file(&self) -> bool {
        matches!(self, Openings::File(_))
    }

    /// Returns whether games begin as usual.
    pub(crate) fn are_none(&self) -> bool {
        matches!(self, Openings::Positions(lines) if lines.iter().all(|line| is_skipped(line.trim())))
    }

    /// Reads the positions, of this game.
    ///
    /// # Errors
    /// As [`load`]; [`ArenaError::Config`] with the position of a list that is wrong.
    pub(crate) fn read(&self, kind: GameKind) -> Result<Vec<DynGame>, ArenaError> {
        kind.with(Read(self))
    }
}

struct Read<'o>(&'o Openings);

impl Visitor for Read<'_> {
    type Out = Result<Vec<DynGame>, ArenaError>;

    fn visit<G: Tactics>(self, start: G) -> Self::Out {
        let positions = match self.0 {
            Openings::File(path) => load(path, &start)?,
            Openings::Positions(lines) => of_list(lines, &start).map_err(ArenaError::Config)?,
        };
        Ok(positions.into_iter().map(DynGame::from).collect())
    }
}

fn of_list<G: Game>(lines: &[String], start: &G) -> Result<Vec<G>, String> {
    let is_long = |line: &String| !is_skipped(line.trim()) && line.chars().count() > MAX_POSITION;
    if let Some(at) = lines.iter().position(is_long) {
        return Err(format!("openings: line {}: more than {MAX_POSITION} characters", at + 1));
    }
    let positions = read_lines(lines.iter().map(String::as_str), start)
        .map_err(|(number, why)| format!("openings: line {number}: {why}"))?;
    match positions.len() > MAX_POSITIONS {
        true => Err(format!("openings: at most {MAX_POSITIONS} positions")),
        false => Ok(positions),
    }
}

/// Reads the positions of a file, in the game of `start`. Empty lines and those that begin with `#` are skipped.
///
/// # Errors
/// [`ArenaError::Openings`] if there is no such file, [`ArenaError::Opening`] with the line that is wrong.
pub fn load<G: Game>(path: &Path, start: &G) -> Result<Vec<G>, ArenaError> {
    let text =
        fs::read_to_string(path).map_err(|source| ArenaError::Openings { path: path.to_owned(), source })?;
    let wrong = |(line, why)| ArenaError::Opening { path: path.to_owned(), line, why };
    let openings = read_lines(text.lines(), start).map_err(wrong)?;
    match openings.is_empty() {
        true => Err(wrong((1, "the file holds no position".into()))),
        false => Ok(openings),
    }
}

/// Reads the position on each line that is not empty and no comment. The error has the number of the line, from 1.
fn read_lines<'l, G: Game>(
    lines: impl Iterator<Item = &'l str>,
    start: &G,
) -> Result<Vec<G>, (usize, String)> {
    let mut openings = Vec::new();
    for (number, line) in lines.enumerate().map(|(i, line)| (i + 1, line.trim())) {
        if is_skipped(line) {
            continue;
        }
        let position = read(line, start).map_err(|error| (number, error.to_string()))?;
        if position.outcome().is_over() {
            return Err((number, "the game is over there already".into()));
        }
        openings.push(position);
    }
    Ok(openings)
}

fn is_skipped(line: &str) -> bool {
    line.is_empty() || line.starts_with('#')
}

/// Reads a FEN, or the four fields of an EPD with operations behind them.
fn read<G: Game>(line: &str, start: &G) -> Result<G, GameError> {
    start.parse_position(line).or_else(|error| {
        let fields: Vec<_> = line.split_whitespace().take(4).collect();
        start.parse_position(&fields.join(" ")).map_err(|_| error)
    })
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;
    use zeitnot_rules::chess::Chess;

    fn load_text(text: &str) -> Result<Vec<Chess>, ArenaError> {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        load(file.path(), &Chess::start())
    }

    #[test]
    fn fens_and_epds() {
        let text = "# two openings\n\nrnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1\n\
            rnbqkbnr/pppppppp/8/8/3P4/8/PPP1PPPP/RNBQKBNR b KQkq - bm d5; id \"queen's pawn\";\n";
        let fens: Vec<_> = load_text(text).unwrap().iter().map(Game::print).collect();
        assert_eq!(fens[1], "rnbqkbnr/pppppppp/8/8/3P4/8/PPP1PPPP/RNBQKBNR b KQkq - 0 1");
        assert_eq!(fens.len(), 2);
    }

    #[test]
    fn an_error_names_the_line() {
        for (text, line) in [("\nnonsense\n", 2), ("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", 1), ("# nothing", 1)] {
            match load_text(text).unwrap_err() {
                ArenaError::Opening { line: at, .. } => assert_eq!(at, line, "{text}"),
                other => panic!("{other}"),
            }
        }
    }
}
