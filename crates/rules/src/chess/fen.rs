//! Positions of chess and its variants as text.

use shakmaty::{CastlingMode, EnPassantMode, fen::Fen};

use super::rules::{ChessRules, FULL_SIZE};
use crate::error::GameError;

/// Reads a FEN with castling in this mode, whatever the position.
pub(super) fn read_as<R: ChessRules>(text: &str, mode: CastlingMode) -> Result<R, GameError> {
    let error = |why: &dyn std::fmt::Display| GameError::position(text, R::KIND.name(), why);
    let trimmed = text.trim();
    let fen = if R::SIZE == FULL_SIZE { trimmed.parse() } else { widen(trimmed, R::SIZE).parse() };
    let fen: Fen = fen.map_err(|e| error(&e))?;
    R::set_up(fen.into_setup(), mode).map_err(|e| error(&e))
}

/// Reads a FEN. The mode of castling is that of Chess960 if only it can hold the castling rights.
pub(super) fn read<R: ChessRules>(text: &str) -> Result<R, GameError> {
    let standard: R = read_as(text, CastlingMode::Standard)?;
    let chess960: R = read_as(text, CastlingMode::Chess960)?;
    let rights = |position: &R| position.castles().castling_rights().count();
    Ok(if rights(&chess960) > rights(&standard) { chess960 } else { standard })
}

/// Writes a FEN.
pub(super) fn print<R: ChessRules>(position: &R) -> String {
    let fen = Fen::from_position(position, EnPassantMode::Legal).to_string();
    if R::SIZE == FULL_SIZE { fen } else { narrow(&fen, R::SIZE) }
}

/// Adds the empty rows above a smaller board and the empty squares on its right.
fn widen(fen: &str, size: usize) -> String {
    let (board, rest) = fen.split_once(' ').unwrap_or((fen, ""));
    let beside = FULL_SIZE - size;
    let above = format!("{FULL_SIZE}/").repeat(beside);
    let rows: Vec<_> = board.split('/').map(|row| format!("{row}{beside}")).collect();
    format!("{above}{} {rest}", rows.join("/"))
}

/// Undoes [`widen`] on a FEN that shakmaty wrote: each row ends with the number of its last empty squares.
fn narrow(fen: &str, size: usize) -> String {
    let (board, rest) = fen.split_once(' ').unwrap_or((fen, ""));
    let beside = FULL_SIZE - size;
    let rows = board.split('/').skip(beside).map(|row| {
        let (pieces, empty) = row.split_at(row.len().saturating_sub(1));
        match empty.parse::<usize>().map_or(0, |empty| empty.saturating_sub(beside)) {
            0 => pieces.to_owned(),
            empty => format!("{pieces}{empty}"),
        }
    });
    format!("{} {rest}", rows.collect::<Vec<_>>().join("/"))
}
