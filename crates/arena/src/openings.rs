//! Opening positions: a FEN or EPD on each line.

use std::{fs, path::Path};

use zeitnot_rules::{Game, GameError};

use crate::error::ArenaError;

/// Reads the positions of a file, in the game of `start`. Empty lines and those that begin with `#` are skipped.
///
/// # Errors
/// [`ArenaError::Openings`] if there is no such file, [`ArenaError::Opening`] with the line that is wrong.
pub fn load<G: Game>(path: &Path, start: &G) -> Result<Vec<G>, ArenaError> {
    let text =
        fs::read_to_string(path).map_err(|source| ArenaError::Openings { path: path.to_owned(), source })?;
    let wrong = |line, why: String| ArenaError::Opening { path: path.to_owned(), line, why };
    let mut openings = Vec::new();
    for (number, line) in text.lines().enumerate().map(|(i, line)| (i + 1, line.trim())) {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let position = read(line, start).map_err(|error| wrong(number, error.to_string()))?;
        if position.outcome().is_over() {
            return Err(wrong(number, "the game is over there already".into()));
        }
        openings.push(position);
    }
    match openings.is_empty() {
        true => Err(wrong(1, "the file holds no position".into())),
        false => Ok(openings),
    }
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
