//! A training position in 40 bytes, as the side to move sees it, and the features that are active in it.

use shakmaty::{Bitboard, Board, ByColor, ByRole};

use zeitnot_engine::net::{FEATURES, SCALE, output_bucket};
use zeitnot_rules::chess::Chess;

/// Pieces that a position may have, and so features that are active in a view.
const MAX_PIECES: usize = 32;
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

    /// The expected points of the side to move that a net should tell: a blend of what the score and the result say.
    #[inline(always)]
    pub(crate) fn target(&self, score_weight: f32) -> f32 {
        let by_score = sigmoid(f32::from(self.score) / SCALE as f32);
        score_weight * by_score + (1.0 - score_weight) * f32::from(self.result) / 2.0
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

    /// The features that are active in both views, in the same order of pieces.
    #[inline(always)]
    pub(crate) fn features(&self, found: &mut Features) {
        let by_kind = self.by_kind();
        let kings = by_kind[5];
        // A view whose king stands on files e to h is mirrored.
        let mirror = |king: u64| if king.trailing_zeros() & 4 == 0 { 0 } else { 7 };
        let own_flip = mirror(kings & self.own);
        let other_flip = mirror(kings & !self.own) ^ 56;
        let mut count = 0;
        for (side, pieces) in [self.own, !self.own].into_iter().enumerate() {
            for (kind, squares) in by_kind.into_iter().enumerate() {
                let (own_base, other_base) = (side * SIDE + kind * KIND, (1 - side) * SIDE + kind * KIND);
                let mut rest = squares & pieces;
                while rest != 0 && count < MAX_PIECES {
                    let square = rest.trailing_zeros();
                    rest &= rest - 1;
                    found.own[count] = own_base as u16 + (square ^ own_flip) as u16;
                    found.other[count] = other_base as u16 + (square ^ other_flip) as u16;
                    count += 1;
                }
            }
        }
        found.count = count;
    }
}

/// Active features of one position.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Features {
    own: [u16; MAX_PIECES],
    other: [u16; MAX_PIECES],
    count: usize,
}

impl Features {
    pub(crate) const NONE: Features = Features { own: [0; MAX_PIECES], other: [0; MAX_PIECES], count: 0 };

    /// The side to move's view.
    #[inline(always)]
    pub(crate) fn own(&self) -> &[u16] {
        &self.own[..self.count]
    }

    /// The other side's view.
    #[inline(always)]
    pub(crate) fn other(&self) -> &[u16] {
        &self.other[..self.count]
    }

    /// The output bucket, by the number of pieces.
    #[inline(always)]
    pub(crate) fn bucket(&self) -> usize {
        output_bucket(self.count)
    }
}

/// Expected points for an output of the net.
#[inline(always)]
pub(crate) fn sigmoid(output: f32) -> f32 {
    1.0 / (1.0 + (-output).exp())
}

const _: () = assert!(FEATURES == 2 * SIDE && SIDE == 6 * KIND);
