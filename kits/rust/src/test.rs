//! Asks the bot for its move in each position of positions.txt: cargo run --release test. Add positions of your own there.

use std::{error::Error, fs};

use shakmaty::{CastlingMode, Chess, Position, fen::Fen};

use crate::guard::Guard;

const SECONDS: f64 = 10.0; // on the clock; a move may take half of it

pub fn run() -> Result<(), Box<dyn Error>> {
    let positions = fs::read_to_string("positions.txt").map_err(|error| {
        format!("positions.txt is missing; run this in the folder of the kit ({error})")
    })?;
    let mut guard = Guard::new()?;
    let mut failed = 0;
    for (number, line) in (1..).zip(positions.lines()) {
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        let fields: Vec<&str> = line.split('|').map(str::trim).collect();
        let (name, fen, good) = match fields[..] {
            [name, fen, good, ..] if !good.is_empty() => (name, fen, good),
            _ => (line, "", ""),
        };
        let Some(moves) = legal_moves(fen) else {
            return Err(format!(
                "positions.txt, line {number}: expected `name | FEN | moves that pass`"
            )
            .into());
        };
        if let Some(wrong) = good
            .split_whitespace()
            .find(|m| !moves.iter().any(|legal| legal == m))
        {
            return Err(format!(
                "positions.txt, line {number}: '{wrong}' is not legal there; write moves such as e2e4"
            )
            .into());
        }
        let choice = guard.choose("chess", fen, SECONDS, SECONDS, 0.0, &moves);
        if choice.problem.is_some() {
            println!("FAIL  {name}: {choice}");
            guard.restart()?;
        } else if good.split_whitespace().any(|m| m == choice.text) {
            println!("ok    {name}: {choice}");
            continue;
        } else {
            println!("FAIL  {name}: {choice}; good: {good}");
        }
        failed += 1;
    }
    if failed > 0 {
        Err(format!("{failed} failed").into())
    } else {
        Ok(())
    }
}

/// The legal moves, or nothing if this is not a position.
fn legal_moves(fen: &str) -> Option<Vec<String>> {
    let board: Chess = fen
        .parse::<Fen>()
        .ok()?
        .into_position(CastlingMode::Standard)
        .ok()?;
    let moves = board.legal_moves();
    (!moves.is_empty()).then(|| {
        moves
            .iter()
            .map(|m| m.to_uci(CastlingMode::Standard).to_string())
            .collect()
    })
}
