//! Hidden layers of the positions on a search's line, brought up to date when one of them is evaluated.

use std::sync::Arc;

use arrayvec::ArrayVec;
use bytemuck::Zeroable;
use shakmaty::{Board, Color, Piece, Role, Square};

#[cfg(test)]
use zeitnot_rules::Game;
use zeitnot_rules::chess::{Change, Chess};

use super::{
    block::{self, Block},
    evaluation::Net,
    features::{View, is_mirrored},
    refresh_table::RefreshTable,
};
use crate::score::MAX_PLY;

/// Evaluates the positions of a line by a network.
///
/// A move is only noted when it is made: its changes of the board, in the [`Ply`] that it leads to. When a position
/// is evaluated, the hidden layer of each side follows the moves since the last position that has one. After a move
/// of its king to the other half of the board, which mirrors all squares, it is taken from a refresh table.
#[derive(Debug)]
pub struct NetEvaluator {
    net: Arc<Net>,
    /// The line: its root, and a position for each move.
    plies: Box<[Ply]>,
    /// Hidden layers of Black and of White at each ply.
    layers: Box<[Block]>,
    refresh_table: RefreshTable,
}

/// One position of a line.
#[derive(Clone, Debug, Default)]
pub struct Ply {
    /// Pieces that the move to this position puts on the board and takes away.
    added: Pieces,
    taken: Pieces,
    /// Whether the kings of Black and of White came from the other half of the board.
    mirrored: [bool; 2],
    /// Whether the hidden layers of Black and of White are up to date.
    is_current: [bool; 2],
}

/// At most two pieces on their squares: no move of chess puts or takes more.
#[derive(Copy, Clone, Debug)]
struct Pieces {
    list: [(Square, Piece); 2],
    count: usize,
}

impl Default for Pieces {
    fn default() -> Self {
        Pieces { list: [(Square::A1, Role::Pawn.of(Color::White)); 2], count: 0 }
    }
}

impl Pieces {
    #[inline]
    fn push(&mut self, square: Square, piece: Piece) {
        if let Some(next) = self.list.get_mut(self.count) {
            *next = (square, piece);
            self.count += 1;
        }
    }

    fn as_slice(&self) -> &[(Square, Piece)] {
        &self.list[..self.count]
    }
}

impl Ply {
    /// Notes a change of the board by the move to this position.
    #[inline]
    pub fn note(&mut self, change: Change, square: Square, piece: Piece) {
        let list = if change == Change::Put { &mut self.added } else { &mut self.taken };
        list.push(square, piece);
        self.mirrored[piece.color as usize] ^= piece.role == Role::King && is_mirrored(square);
    }
}

impl NetEvaluator {
    /// Evaluates by this network.
    pub fn new(net: Arc<Net>) -> NetEvaluator {
        let refresh_table = RefreshTable::new(&net);
        let plies = vec![Ply::default(); usize::from(MAX_PLY) + 1];
        let layers = vec![Block::zeroed(); 2 * plies.len() * net.blocks()];
        NetEvaluator { net, plies: plies.into(), layers: layers.into(), refresh_table }
    }

    /// Begins a new line; its root is at ply 0.
    pub fn begin(&mut self) {
        self.plies[0] = Ply::default();
    }

    /// Begins a position on the line, in place of an earlier one at this ply; the changes by the move to it are to be
    /// noted.
    ///
    /// # Panics
    /// If lines of a search do not come to this ply.
    #[inline]
    pub fn next(&mut self, ply: u16) -> &mut Ply {
        let next = &mut self.plies[usize::from(ply)];
        *next = Ply::default();
        next
    }

    /// Evaluates the position at this ply, in centipawns for the side to move.
    ///
    /// # Panics
    /// If lines of a search do not come to this ply.
    pub fn evaluate(&mut self, ply: u16, position: &Chess) -> i32 {
        let (ply, board, us) = (usize::from(ply), position.board(), position.turn());
        for color in Color::ALL {
            self.catch_up(ply, board, color);
        }
        let hidden = |color| &self.layers[self.layer(ply, color)..][..self.net.blocks()];
        let score = self.net.evaluate_layers(hidden(us), hidden(!us), board.occupied().count());
        // In whatever instructions: tests that search compare each evaluation, unless it takes too long.
        #[cfg(test)]
        assert!(self.net.blocks() > 1 || score == self.net.evaluate(board, us), "{}", position.print());
        score
    }

    /// Start of a hidden layer among all.
    fn layer(&self, ply: usize, color: Color) -> usize {
        (2 * ply + color as usize) * self.net.blocks()
    }

    /// Brings a side's hidden layer up to date, for the board at this ply.
    fn catch_up(&mut self, ply: usize, board: &Board, color: Color) {
        let Some(king) = board.king_of(color) else { return };
        let mut known = ply;
        while !self.plies[known].is_current[color as usize] {
            if known == 0 || self.plies[known].mirrored[color as usize] {
                let to = self.layer(ply, color);
                let refreshed = self.refresh_table.refresh(&self.net, board, color, king);
                self.layers[to..][..refreshed.len()].copy_from_slice(refreshed);
                self.plies[ply].is_current[color as usize] = true;
                return;
            }
            known -= 1;
        }
        let view = View::new(color, king);
        for next in known + 1..=ply {
            self.follow(next, view);
            self.plies[next].is_current[color as usize] = true;
        }
    }

    /// Computes a hidden layer from that of the position before.
    fn follow(&mut self, ply: usize, view: View) {
        let (from, to) = (self.layer(ply - 1, view.color()), self.layer(ply, view.color()));
        let (net, size) = (&self.net, self.net.blocks());
        let (before, after) = self.layers.split_at_mut(to);
        let (from, to) = (&before[from..][..size], &mut after[..size]);
        let column = |&(square, piece): &(Square, Piece)| net.column(view.index(piece, square));
        let Ply { added, taken, .. } = &self.plies[ply];
        match (added.as_slice(), taken.as_slice()) {
            ([put], [gone]) => block::move_piece(to, from, column(put), column(gone)),
            ([put], [gone, captured]) => {
                block::capture(to, from, column(put), [column(gone), column(captured)]);
            }
            (added, taken) => {
                to.copy_from_slice(from);
                let added: ArrayVec<_, 2> = added.iter().map(column).collect();
                let taken: ArrayVec<_, 2> = taken.iter().map(column).collect();
                block::change(to, &added, &taken);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use zeitnot_rules::Tactics;

    use super::*;
    use crate::net::{NetShape, Weights};

    fn evaluator(hidden: usize, seed: u64) -> NetEvaluator {
        let weights = Weights::random(NetShape::new(hidden).unwrap(), seed);
        NetEvaluator::new(Arc::new(Net::new(&weights).unwrap()))
    }

    fn from_scratch(evaluator: &NetEvaluator, position: &Chess) -> i32 {
        evaluator.net.evaluate(position.board(), position.turn())
    }

    /// Plays at random from this position, as a search does: back and forth, with null moves and without evaluating
    /// each position. Returns the number of castling moves, en passant captures, promotions and king's moves to the
    /// other half.
    fn walk(evaluator: &mut NetEvaluator, start: &str, seed: u64) -> [u32; 4] {
        let mut rng = fastrand::Rng::with_seed(seed);
        let mut line = vec![Chess::parse(start).unwrap()];
        let (mut ply, mut seen) = (0, [0; 4]);
        evaluator.begin();
        for _ in 0..400 {
            let position = line[usize::from(ply)].clone();
            if rng.u8(..3) > 0 {
                let expected = from_scratch(evaluator, &position);
                assert_eq!(evaluator.evaluate(ply, &position), expected, "{}", position.print());
            }
            let moves = position.moves();
            if ply > 0 && (moves.is_empty() || rng.u8(..4) == 0 || ply == MAX_PLY) {
                ply -= rng.u16(1..=ply.min(5));
                continue;
            }
            if moves.is_empty() {
                break;
            }
            if rng.u8(..12) == 0
                && let Some(passed) = position.pass()
            {
                line[usize::from(ply)] = passed;
                continue;
            }
            let mv = moves[rng.usize(..moves.len())];
            let next = position.after(mv);
            let halves = [&position, &next].map(|p| p.board().king_of(position.turn()).map(is_mirrored));
            seen[0] += u32::from(mv.is_castle());
            seen[1] += u32::from(mv.is_en_passant());
            seen[2] += u32::from(mv.is_promotion());
            seen[3] += u32::from(halves[0] != halves[1]);
            ply += 1;
            let noted = evaluator.next(ply);
            position.changes(mv, |change, square, piece| noted.note(change, square, piece));
            line.truncate(ply.into());
            line.push(next);
        }
        seen
    }

    const STARTS: [&str; 6] = [
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
        "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
        "r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1",
        "rkr5/pppppppp/8/8/8/8/PPPPPPPP/RKR5 w CAca - 0 1",
        "1r3krb/pppppppp/8/8/8/8/PPPPPPPP/1R3KRB w GBgb - 0 1",
        "8/1P2kP2/8/2pPp3/8/3K4/p6p/8 w - c6 0 1",
    ];

    #[test]
    fn every_kind_of_move_is_followed_in_chess_and_chess960() {
        let (mut evaluator, mut seen) = (evaluator(64, 1), [0; 4]);
        for seed in 0..40 {
            for start in STARTS {
                let counts = walk(&mut evaluator, start, seed);
                seen.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
            }
        }
        assert!(
            seen.iter().all(|&count| count > 20),
            "castling, en passant, promotions, king's crossings: {seen:?}"
        );
    }

    proptest! {
        #[test]
        fn a_line_is_evaluated_as_each_position_from_scratch(seed: u64, start in 0..STARTS.len(), steps in 1_usize..=8) {
            walk(&mut evaluator(steps * 32, seed), STARTS[start], seed);
        }
    }
}
