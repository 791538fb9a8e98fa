//! A position with its score and game result, packed into 32 bytes.
//!
//! The layout is Marlinflow's format, which network trainers read: see `docs/data.md`.

use std::num::NonZeroU32;

use shakmaty::{Bitboard, Board, CastlingMode, Color, FromSetup, Piece, Role, Setup, Square};

use zeitnot_rules::chess::Chess;

/// Most pieces of a record.
const MAX_PIECES: usize = 32;
/// Code of a rook with castling rights; other pieces have that of their role.
const CASTLING_ROOK: u8 = 6;
/// Flag of a black piece in its four bits.
const BLACK_PIECE: u8 = 8;
/// Flag of Black to move in the byte of the en passant square.
const BLACK_TO_MOVE: u8 = 0x80;
/// No en passant square.
const NO_SQUARE: u8 = 64;

/// Score and result of a position, from White's point of view.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// Search score in centipawns.
    pub score: i16,
    /// Result in half points: 0, 1 or 2.
    pub result: u8,
}

/// A packed position with its label.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Record(pub [u8; Record::SIZE]);

/// Bytes that are not a valid record.
#[derive(Copy, Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the bytes are not a valid position")]
pub struct InvalidRecord;

impl Record {
    /// Size of a record in bytes.
    pub const SIZE: usize = 32;

    /// Packs a position.
    pub fn pack(position: &Chess, label: Label) -> Record {
        let setup = position.setup();
        let mut bytes = [0; Self::SIZE];
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
        bytes[26..28].copy_from_slice(&move_number.to_le_bytes());
        bytes[28..30].copy_from_slice(&label.score.to_le_bytes());
        bytes[30] = label.result;
        Record(bytes)
    }

    /// Unpacks the position and its label.
    ///
    /// # Errors
    /// [`InvalidRecord`] for bytes that [`Record::pack`] cannot have written.
    pub fn unpack(&self) -> Result<(Chess, Label), InvalidRecord> {
        let bytes = &self.0;
        let mut setup = Setup::empty();
        (setup.board, setup.castling_rights) = self.board()?;
        setup.turn = if bytes[24] & BLACK_TO_MOVE == 0 { Color::White } else { Color::Black };
        let ep_square = bytes[24] & !BLACK_TO_MOVE;
        setup.ep_square = (ep_square != NO_SQUARE)
            .then(|| Square::try_from(ep_square).map_err(|_| InvalidRecord))
            .transpose()?;
        setup.halfmoves = bytes[25].into();
        let move_number = u16::from_le_bytes([bytes[26], bytes[27]]);
        setup.fullmoves = NonZeroU32::new(move_number.into()).unwrap_or(NonZeroU32::MIN);
        let label = Label { score: i16::from_le_bytes([bytes[28], bytes[29]]), result: bytes[30].min(2) };
        let mode = CastlingMode::detect(&setup);
        let position = shakmaty::Chess::from_setup(setup, mode).map_err(|_| InvalidRecord)?;
        Ok((position.into(), label))
    }

    fn board(&self) -> Result<(Board, Bitboard), InvalidRecord> {
        let mut occupied = [0; 8];
        occupied.copy_from_slice(&self.0[..8]);
        let occupied = Bitboard(u64::from_le_bytes(occupied));
        if occupied.count() > MAX_PIECES {
            return Err(InvalidRecord);
        }
        let (mut board, mut castling) = (Board::empty(), Bitboard::EMPTY);
        for (at, square) in occupied.into_iter().enumerate() {
            let code = self.0[8 + at / 2] >> (4 * (at % 2)) & 0xf;
            let color = if code & BLACK_PIECE == 0 { Color::White } else { Color::Black };
            let kind = code & !BLACK_PIECE;
            let role = if kind == CASTLING_ROOK { Ok(Role::Rook) } else { Role::try_from(kind + 1) };
            board.set_piece_at(square, Piece { color, role: role.map_err(|_| InvalidRecord)? });
            if kind == CASTLING_ROOK {
                castling.add(square);
            }
        }
        Ok((board, castling))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use zeitnot_rules::Game;

    fn there_and_back(position: &Chess, label: Label) {
        let (again, told) = Record::pack(position, label).unpack().unwrap();
        assert_eq!(again.print(), position.print());
        assert_eq!(again.key(), position.key());
        assert_eq!(told, label);
    }

    proptest! {
        #[test]
        fn every_position_of_a_game_comes_back_whole(choices in prop::collection::vec(any::<prop::sample::Index>(), 1..120), score: i16, result in 0u8..=2) {
            for start in [
                "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
                "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9",
                "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 12 41",
            ] {
                let mut position = Chess::parse(start).unwrap();
                for choice in &choices {
                    there_and_back(&position, Label { score, result });
                    let moves = position.moves();
                    if moves.is_empty() { break }
                    position.play(moves[choice.index(moves.len())]);
                }
            }
        }

        #[test]
        fn any_bytes_are_a_position_or_an_error(bytes: [u8; 32]) {
            if let Ok((position, _)) = Record(bytes).unpack() {
                prop_assert!(position.board().occupied().count() <= 32);
            }
        }
    }

    #[test]
    fn the_layout_is_as_documented() {
        let after_e4 = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 3 17";
        let label = Label { score: -2, result: 1 };
        let Record(bytes) = Record::pack(&Chess::parse(after_e4).unwrap(), label);
        assert_eq!(bytes[..8], 0xffff_0000_1000_efff_u64.to_le_bytes());
        // a1 and b1: a rook that may castle, a knight; a8 and b8 the same in black, and h8 at the end.
        assert_eq!((bytes[8], bytes[20], bytes[23]), (0x16, 0x9e, 0xe9));
        assert_eq!(bytes[24..], [0x80 | 64, 3, 17, 0, 0xfe, 0xff, 1, 0]);
    }
}
