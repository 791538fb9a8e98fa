//! Chess by terms that were counted by hand for generations, with weights that our own games have taught.
//!
//! [`terms`] names them, [`pawn_terms`] and [`piece_terms`] say which a position has, [`weights`] what they are worth,
//! [`endgame`] what no sum of terms knows. A [`trace`] takes them: the engine's adds them up, the tuner's counts
//! them, so that no term is described twice.
//!
//! Material and places are kept up with the move, in [`Sums`]; so would be the accumulator of a network.

use shakmaty::{
    Board, ByColor, Color, Move, Piece, Role, Square,
    zobrist::{Zobrist64, ZobristValue},
};

use zeitnot_rules::{
    Game,
    chess::{
        Change::{self, Taken},
        Chess,
    },
};

use super::{Evaluator, PartialKeys};
use crate::Score;

mod bitboards;
mod endgame;
mod kpk;
mod pawn_terms;
mod piece_terms;
pub mod tapered_score;
pub mod terms;
pub mod trace;
mod weights;

use tapered_score::TaperedScore;
use trace::{Counts, Sum, Trace};
pub use weights::WEIGHTS;

/// What is kept of a position with the move.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    /// Material and places, as White sees them.
    placed: TaperedScore,
    /// How many officers are left, weighted: 24 at the start, 0 with pawns and kings alone.
    phase: i16,
    /// Of pawns and kings.
    key: u64,
    /// Of all but pawns, each side's.
    officers: [u64; 2],
}

/// The phase at the start of a game; promotions can lift it above.
pub const FULL_PHASE: i32 = 24;

/// Quiet plies until an advantage counts half: a hundred of them would make a draw.
const HALF_LIFE: i32 = 100;

/// What a piece of White is worth on its square, by role, material included.
static PLACED: [[TaperedScore; 64]; 6] = {
    let mut worth = [[TaperedScore::ZERO; 64]; 6];
    let mut at = 0;
    while at < 6 * 64 {
        let [role, square] = [at / 64, at % 64];
        worth[role][square] = WEIGHTS[terms::MATERIAL.at(role)].plus(WEIGHTS[terms::on_square(role, square)]);
        at += 1;
    }
    worth
};

impl Sums {
    fn apply(&mut self, change: Change, square: Square, piece: Piece) {
        let worth = PLACED[piece.role as usize - 1][relative(square, piece.color) as usize];
        let sign = if change == Taken { -1 } else { 1 };
        self.placed += worth * (sign * terms::sign(piece.color));
        self.phase += phase(piece.role) * sign as i16;
        let key = Zobrist64::zobrist_for_piece(square, piece).0;
        if matches!(piece.role, Role::Pawn | Role::King) {
            self.key ^= key;
        }
        if piece.role != Role::Pawn {
            self.officers[piece.color as usize] ^= key;
        }
    }

    fn phase(&self) -> i32 {
        i32::from(self.phase).min(FULL_PHASE)
    }
}

/// The square as the piece's own side sees it, from its first rank.
pub(in crate::eval) const fn relative(square: Square, color: Color) -> Square {
    match color {
        Color::White => square,
        Color::Black => square.flip_vertical(),
    }
}

pub(in crate::eval) fn phase(role: Role) -> i16 {
    match role {
        Role::Pawn | Role::King => 0,
        Role::Knight | Role::Bishop => 1,
        Role::Rook => 2,
        Role::Queen => 4,
    }
}

/// Judges chess, and remembers pawns.
#[derive(Debug)]
pub struct ChessEval {
    pawns: pawn_terms::Cache,
}

impl Default for ChessEval {
    fn default() -> Self {
        ChessEval { pawns: pawn_terms::Cache::new() }
    }
}

impl Evaluator<Chess> for ChessEval {
    type State = Sums;

    fn root(&self, position: &Chess) -> Sums {
        let mut sums = Sums::default();
        for (square, piece) in position.board() {
            sums.apply(Change::Put, square, piece);
        }
        sums
    }

    fn step(&self, state: &Sums, before: &Chess, mv: Move) -> Sums {
        let mut sums = *state;
        before.changes(mv, |change, square, piece| sums.apply(change, square, piece));
        sums
    }

    fn partial_keys(&self, state: &Sums) -> Option<PartialKeys> {
        let [black, white] = state.officers;
        Some(PartialKeys([state.key, white, black]))
    }

    fn score(&self, state: &Sums, position: &Chess) -> Score {
        let (board, us) = (position.board(), position.turn());
        let white = match endgame::bare_king(board, us) {
            // It does not fade: what the table remembers of earlier moves would look better than any progress.
            Some(known) => known,
            None => {
                let quiet = (position.reversible_plies() as i32).min(HALF_LIFE);
                self.tapered(state, board, us) * (2 * HALF_LIFE - quiet) / (2 * HALF_LIFE)
            }
        };
        Score::cp(terms::sign(us) * white)
    }
}

impl ChessEval {
    /// All terms, as White sees them.
    fn tapered(&self, state: &Sums, board: &Board, us: Color) -> i32 {
        let pawns = self.pawns.pawns(state.key, board);
        let mut sum = Sum::of(state.placed + pawns.worth);
        sum.add(us, terms::TEMPO.at(0), 1);
        piece_terms::describe(board, pawns.passed, &mut sum);
        let total = sum.total();
        let strong = Color::from_white(total.endgame() > 0);
        let endgame = total.endgame() * endgame::scale(board, strong, pawns.passed) / endgame::WHOLE;
        let phase = state.phase();
        (total.middlegame() * phase + endgame * (FULL_PHASE - phase)) / FULL_PHASE
    }
}

/// A position as a tuner sees it: the score follows from this and the weights.
#[derive(Clone, Debug)]
pub struct Example {
    /// How often each term is there.
    pub counts: Counts,
    /// How much of the middlegame is left, of 1.
    pub phase: f32,
    /// How much of an endgame's advantage counts, by who has it, of 1.
    pub scale: ByColor<f32>,
}

/// What the evaluation sees in a position; `None` where it goes by what is known and not by terms.
pub fn example(position: &Chess) -> Option<Example> {
    let (board, us) = (position.board(), position.turn());
    if endgame::bare_king(board, us).is_some() {
        return None;
    }
    let mut counts = Counts::new();
    let mut sums = Sums::default();
    for (square, piece) in board {
        sums.apply(Change::Put, square, piece);
        terms::placed(piece, square).into_iter().for_each(|term| counts.add(piece.color, term, 1));
    }
    counts.add(us, terms::TEMPO.at(0), 1);
    let passed = pawn_terms::describe(board, &mut counts);
    piece_terms::describe(board, passed, &mut counts);
    let scale = |strong| endgame::scale(board, strong, passed) as f32 / endgame::WHOLE as f32;
    Some(Example { counts, phase: sums.phase() as f32 / FULL_PHASE as f32, scale: ByColor::new_with(scale) })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The evaluation as the tuner computes it, in full precision.
    fn by_example(example: &Example) -> f64 {
        let mut sums = [0.0, 0.0];
        let mut dangers = ByColor::new_with(|_| [0.0, 0.0]);
        for (term, weight) in WEIGHTS.iter().enumerate() {
            let worth = [f64::from(weight.middlegame()), f64::from(weight.endgame())];
            for part in 0..2 {
                sums[part] += worth[part] * f64::from(example.counts.terms[term]);
                for color in Color::ALL {
                    let count = f64::from(example.counts.dangers.get(color)[term]);
                    dangers.get_mut(color)[part] += worth[part] * count;
                }
            }
        }
        let (white, black) = (trace::penalty(dangers.white).0, trace::penalty(dangers.black).0);
        let [middlegame, endgame] = [0, 1].map(|part| sums[part] - white[part] + black[part]);
        let scale = f64::from(if endgame > 0.0 { example.scale.white } else { example.scale.black });
        let phase = f64::from(example.phase);
        middlegame * phase + endgame * scale * (1.0 - phase)
    }

    proptest! {
        #[test]
        fn what_is_kept_is_the_board_and_the_tuner_sees_what_the_engine_sees(choices in prop::collection::vec(any::<prop::sample::Index>(), 1..150)) {
            let mut position = Chess::parse("r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1").unwrap();
            let judge = ChessEval::default();
            let mut sums = judge.root(&position);
            for choice in choices {
                let moves = position.moves();
                if moves.is_empty() { break }
                let mv = moves[choice.index(moves.len())];
                sums = judge.step(&sums, &position, mv);
                position.play(mv);
                prop_assert_eq!(sums, judge.root(&position));
                if let Some(example) = example(&position) {
                    let engine = judge.tapered(&sums, position.board(), position.turn());
                    let tuner = by_example(&example);
                    // Whole numbers are cut off three times on the engine's way.
                    prop_assert!((f64::from(engine) - tuner).abs() < 4.0, "{} {} {}", position.print(), engine, tuner);
                }
            }
        }

        #[test]
        fn both_sides_see_the_same(choices in prop::collection::vec(any::<prop::sample::Index>(), 1..100)) {
            let judge = ChessEval::default();
            let score = |position: &Chess| judge.score(&judge.root(position), position);
            let mut position = Chess::start();
            for choice in choices {
                let moves = position.moves();
                if moves.is_empty() { break }
                position.play(moves[choice.index(moves.len())]);
                let mirrored = position.setup().into_mirrored();
                let mirrored: shakmaty::Chess = mirrored.position(shakmaty::CastlingMode::Standard).unwrap();
                prop_assert_eq!(score(&position), score(&mirrored.into()), "{}", position.print());
            }
        }
    }

    #[test]
    fn quiet_plies_bring_the_draw_nearer() {
        let judge = ChessEval::default();
        let score = |plies: u32| {
            let fen = format!("4k3/pppp4/8/8/8/8/PPPP1PPP/R3K3 w - - {plies} 60");
            let position = Chess::parse(&fen).unwrap();
            judge.score(&judge.root(&position), &position).get()
        };
        assert!(score(0) > score(40) && score(40) > score(90) && score(90) > 0);
    }
}
