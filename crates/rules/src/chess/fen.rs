//! Positions of chess and its variants from text.

use shakmaty::{CastlingMode, FromSetup, Position, PositionError, fen::Fen};

use crate::error::GameError;

/// Reads a FEN with castling in this mode, whatever the position.
pub(super) fn read_as<P: FromSetup>(
    text: &str,
    game: &'static str,
    mode: CastlingMode,
) -> Result<P, GameError> {
    let error = |why: &dyn std::fmt::Display| GameError::position(text, game, why);
    let fen: Fen = text.trim().parse().map_err(|e| error(&e))?;
    P::from_setup(fen.into_setup(), mode)
        .or_else(PositionError::ignore_invalid_castling_rights)
        .or_else(PositionError::ignore_invalid_ep_square)
        .or_else(PositionError::ignore_impossible_check)
        .map_err(|e| error(&e))
}

/// Reads a FEN. The mode of castling is that of Chess960 if only it can hold the castling rights.
pub(super) fn read<P: FromSetup + Position>(text: &str, game: &'static str) -> Result<P, GameError> {
    let standard: P = read_as(text, game, CastlingMode::Standard)?;
    let chess960: P = read_as(text, game, CastlingMode::Chess960)?;
    let rights = |position: &P| position.castles().castling_rights().count();
    Ok(if rights(&chess960) > rights(&standard) { chess960 } else { standard })
}
