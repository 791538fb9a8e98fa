//! One position with its score and the result of its game, in 32 bytes: quiet positions in memory, and the first
//! position of a game in a file.
//!
//! The layout is that of Marlinflow's format, see `docs/data.md`.

use zeitnot_rules::chess::{Chess, NotAPosition};

/// The score of a position and the result of its game, as White sees them.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The score of the search, in centipawns.
    pub score: i16,
    /// Half points: 0, 1 or 2.
    pub result: u8,
}

/// A whole position and its judgement, as they stand in the file.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Record(pub [u8; Record::SIZE]);

impl Record {
    pub const SIZE: usize = 32;

    pub fn pack(position: &Chess, judgement: Label) -> Record {
        let mut bytes = [0; Self::SIZE];
        bytes[..Chess::BYTES].copy_from_slice(&position.to_bytes());
        bytes[28..30].copy_from_slice(&judgement.score.to_le_bytes());
        bytes[30] = judgement.result;
        Record(bytes)
    }

    /// The position and its judgement.
    ///
    /// # Errors
    /// [`NotAPosition`] for bytes that [`Record::pack`] has not written.
    pub fn unpack(&self) -> Result<(Chess, Label), NotAPosition> {
        let Record(bytes) = self;
        let position = bytes.first_chunk().ok_or(NotAPosition).and_then(Chess::from_bytes)?;
        let judgement = Label { score: i16::from_le_bytes([bytes[28], bytes[29]]), result: bytes[30].min(2) };
        Ok((position, judgement))
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
