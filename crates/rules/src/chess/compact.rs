//! A position of chess in 28 bytes: the first part of a record of Marlinflow's format, see `docs/data.md`.

use std::num::NonZeroU32;

use shakmaty::{
    Bitboard, Board, CastlingMode, Color, EnPassantMode, FromSetup, Piece, Position, Role, Setup, Square,
};

use super::Chess;

/// Pieces that a record has room for.
const MAX_PIECES: usize = 32;
/// The code of a rook that may still castle; other pieces have that of their kind.
const CASTLING_ROOK: u8 = 6;
/// Marks a black piece, by four bits a piece.
const BLACK_PIECE: u8 = 8;
/// Marks Black to move, beside the square of en passant.
const BLACK_TO_MOVE: u8 = 0x80;
/// No square of en passant.
const NO_SQUARE: u8 = 64;

/// Bytes that are no legal position.
#[derive(Copy, Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a position")]
pub struct NotAPosition;

impl Chess {
    /// The length of [`Chess::to_bytes`].
    pub const BYTES: usize = 28;

    /// Packs all that a FEN says of the position.
    ///
    /// ```
    /// use zeitnot_rules::{Game, chess::Chess};
    ///
    /// let bytes = Chess::start().to_bytes();
    /// assert_eq!(Chess::from_bytes(&bytes), Ok(Chess::start()));
    /// ```
    pub fn to_bytes(&self) -> [u8; Self::BYTES] {
        let setup = self.position().to_setup(EnPassantMode::Legal);
        let mut bytes = [0; Self::BYTES];
        bytes[..8].copy_from_slice(&setup.board.occupied().0.to_le_bytes());
        for (at, (square, piece)) in setup.board.iter().take(MAX_PIECES).enumerate() {
            let castles = setup.castling_rights.contains(square);
            let code = if castles { CASTLING_ROOK } else { piece.role as u8 - 1 };
            let code = code | piece.color.fold_wb(0, BLACK_PIECE);
            bytes[8 + at / 2] |= code << (4 * (at % 2));
        }
        bytes[24] = setup.ep_square.map_or(NO_SQUARE, u8::from) | setup.turn.fold_wb(0, BLACK_TO_MOVE);
        bytes[25] = u8::try_from(setup.halfmoves).unwrap_or(u8::MAX);
        let move_number = u16::try_from(setup.fullmoves.get()).unwrap_or(u16::MAX);
        bytes[26..].copy_from_slice(&move_number.to_le_bytes());
        bytes
    }

    /// Reads what [`Chess::to_bytes`] wrote.
    ///
    /// # Errors
    /// [`NotAPosition`] for other bytes.
    pub fn from_bytes(bytes: &[u8; Self::BYTES]) -> Result<Self, NotAPosition> {
        let mut setup = Setup::empty();
        (setup.board, setup.castling_rights) = board(bytes)?;
        setup.turn = if bytes[24] & BLACK_TO_MOVE == 0 { Color::White } else { Color::Black };
        let ep_square = bytes[24] & !BLACK_TO_MOVE;
        setup.ep_square = (ep_square != NO_SQUARE)
            .then(|| Square::try_from(ep_square).map_err(|_| NotAPosition))
            .transpose()?;
        setup.halfmoves = bytes[25].into();
        let move_number = u16::from_le_bytes([bytes[26], bytes[27]]);
        setup.fullmoves = NonZeroU32::new(move_number.into()).unwrap_or(NonZeroU32::MIN);
        let mode = CastlingMode::detect(&setup);
        let position = shakmaty::Chess::from_setup(setup, mode).map_err(|_| NotAPosition)?;
        Ok(Chess::new(position))
    }
}

/// The pieces and the rooks that may castle.
fn board(bytes: &[u8; Chess::BYTES]) -> Result<(Board, Bitboard), NotAPosition> {
    let mut occupied = [0; 8];
    occupied.copy_from_slice(&bytes[..8]);
    let occupied = Bitboard(u64::from_le_bytes(occupied));
    if occupied.count() > MAX_PIECES {
        return Err(NotAPosition);
    }
    let mut board = Board::empty();
    let mut castling = Bitboard::EMPTY;
    for (at, square) in occupied.into_iter().enumerate() {
        let code = bytes[8 + at / 2] >> (4 * (at % 2)) & 0xf;
        let color = if code & BLACK_PIECE == 0 { Color::White } else { Color::Black };
        let kind = code & !BLACK_PIECE;
        let role = if kind == CASTLING_ROOK { Ok(Role::Rook) } else { Role::try_from(kind + 1) };
        board.set_piece_at(square, Piece { color, role: role.map_err(|_| NotAPosition)? });
        if kind == CASTLING_ROOK {
            castling.add(square);
        }
    }
    Ok((board, castling))
}
