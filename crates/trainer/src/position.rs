//! A training position of chess in 40 bytes, as the side to move sees it.

use shakmaty::{Bitboard, Board, ByColor, ByRole};

use zeitnot_engine::net::{FEATURES, SCALE, output_bucket};
use zeitnot_rules::chess::Chess;

use crate::example::{Example, Examples, target};

/// Features of one kind of piece, and of a side's pieces.
const KIND: usize = 64;
const SIDE: usize = 384;

/// A position with the score of its search and the result of its game. White is the side to move: the board of Black's
/// positions is turned.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct TrainingPosition {
    /// The kind of the piece on each square in three bits, from 1 (pawn) to 6 (king); 0 is an empty square.
    kinds: [u64; 3],
    /// Squares of the side to move's pieces.
    own: u64,
    /// Centipawns.
    score: i16,
    /// Half points.
    result: u8,
}

impl TrainingPosition {
    /// Packs a position; score and result are White's.
    pub fn new(position: &Chess, score: i16, result: u8) -> TrainingPosition {
        let board = position.board();
        let kinds = [
            board.pawns() | board.bishops() | board.queens(),
            board.knights() | board.bishops() | board.kings(),
            board.rooks() | board.queens() | board.kings(),
        ];
        let own = board.by_color(position.turn()).0;
        let result = result.min(2);
        if position.turn().is_white() {
            TrainingPosition { kinds: kinds.map(|bits| bits.0), own, score, result }
        } else {
            TrainingPosition {
                kinds: kinds.map(|bits| bits.0.swap_bytes()),
                own: own.swap_bytes(),
                score: score.saturating_neg(),
                result: 2 - result,
            }
        }
    }

    /// Squares of pawns, knights, bishops, rooks, queens and kings.
    #[inline(always)]
    fn by_kind(&self) -> [u64; 6] {
        let [low, middle, high] = self.kinds;
        [
            low & !middle & !high,
            !low & middle & !high,
            low & middle & !high,
            !low & !middle & high,
            low & !middle & high,
            !low & middle & high,
        ]
    }

    /// The pieces, with White to move; `None` for bits that are no board.
    pub(crate) fn board(&self) -> Option<Board> {
        let [pawn, knight, bishop, rook, queen, king] = self.by_kind().map(Bitboard);
        let by_role = ByRole { pawn, knight, bishop, rook, queen, king };
        let all = self.kinds.iter().fold(0, |all, bits| all | bits);
        let by_color = ByColor { white: Bitboard(self.own), black: Bitboard(all & !self.own) };
        Board::try_from_bitboards(by_role, by_color).ok()
    }

    /// The features that are active in both views, in the same order of pieces, and the target.
    #[inline(always)]
    pub(crate) fn example(&self, score_weight: f32) -> Example {
        let count = self.kinds.iter().fold(0, |all, bits| all | bits).count_ones() as usize;
        let score = f32::from(self.score) / SCALE as f32;
        let mut found = Example::new(output_bucket(count), target(score, self.result, score_weight));
        let by_kind = self.by_kind();
        let kings = by_kind[5];
        // A view whose king stands on files e to h is mirrored.
        let mirror = |king: u64| if king.trailing_zeros() & 4 == 0 { 0 } else { 7 };
        let own_flip = mirror(kings & self.own);
        let other_flip = mirror(kings & !self.own) ^ 56;
        for (side, pieces) in [self.own, !self.own].into_iter().enumerate() {
            for (kind, squares) in by_kind.into_iter().enumerate() {
                let (own_base, other_base) = (side * SIDE + kind * KIND, (1 - side) * SIDE + kind * KIND);
                let mut rest = squares & pieces;
                while rest != 0 {
                    let square = rest.trailing_zeros();
                    rest &= rest - 1;
                    let own = own_base as u16 + (square ^ own_flip) as u16;
                    found.push(own, other_base as u16 + (square ^ other_flip) as u16);
                }
            }
        }
        found
    }
}

/// Positions with the weight of the search's score in the target; the rest is the result's.
pub(crate) struct Positions<'p>(pub(crate) &'p [TrainingPosition], pub(crate) f32);

impl Examples for Positions<'_> {
    fn gather(&self, places: &[u32], found: &mut Vec<Example>) {
        let Positions(all, score_weight) = *self;
        // First all of them, so that they are loaded at the same time.
        let positions: Vec<_> = places.iter().map(|&place| all[place as usize]).collect();
        found.extend(positions.iter().map(|position| position.example(score_weight)));
    }
}

const _: () = assert!(FEATURES == 2 * SIDE && SIDE == 6 * KIND);
