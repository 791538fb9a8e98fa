//! Hand-crafted evaluation of chess with tuned weights.
//!
//! [`terms`] lists the terms, [`pawn_terms`] and [`piece_terms`] find those of a position, [`weights`] holds their
//! tuned values, and [`endgame`] knows special endings. The terms go to a [`trace::Trace`]: the engine's sums them
//! up, the tuner's counts them, so that each term is written once.
//!
//! Material and piece-square values are updated incrementally in [`Accumulator`].
//!
//! Sources: Chess Programming Wiki, "Evaluation" and "Tapered Eval"; most terms follow Stockfish's classical
//! evaluation.

use std::sync::Arc;

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

use super::{Evaluator, Part, PartialKeys};
use crate::{
    Score,
    net::{Net, NetEvaluator},
};

mod bitboards;
mod endgame;
mod kpk;
mod pawn_terms;
mod piece_terms;
pub(crate) mod tapered_score;
pub mod terms;
pub(crate) mod trace;
mod weights;

use pawn_terms::PawnEntry;
use tapered_score::TaperedScore;
pub use trace::{Counts, penalty};
use trace::{Sum, Trace};
pub(crate) use weights::WEIGHTS;

/// Incrementally updated part of the evaluation.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Accumulator {
    /// Material and piece-square values, from White's point of view.
    psqt: TaperedScore,
    /// Game phase: 24 at the start, 0 with pawns and kings alone.
    phase: i16,
    /// Number of moves since the root, for the network.
    ply: u16,
    /// Zobrist key of pawns and kings.
    pawn_key: u64,
    /// Zobrist key of each side's pieces without pawns.
    non_pawn_keys: [u64; 2],
}

/// Phase at the start of a game; promotions may exceed it.
pub(crate) const FULL_PHASE: i32 = 24;

/// Reversible plies after which an advantage counts half; as many make a draw.
const HALF_LIFE: i32 = 100;

/// Bonus of known wins beside a network, whose evaluations are larger than sums of terms.
const KNOWN_WITH_NET: i32 = 3_000;

/// Piece-square values of White's pieces by role, material included.
static PSQT: [[TaperedScore; 64]; 6] = {
    let mut worth = [[TaperedScore::ZERO; 64]; 6];
    let mut at = 0;
    while at < 6 * 64 {
        let [role, square] = [at / 64, at % 64];
        worth[role][square] =
            WEIGHTS[terms::MATERIAL.at(role)].plus(WEIGHTS[terms::square_term(role, square)]);
        at += 1;
    }
    worth
};

impl Accumulator {
    fn apply(&mut self, change: Change, square: Square, piece: Piece) {
        let worth = PSQT[piece.role as usize - 1][relative(square, piece.color) as usize];
        let sign = if change == Taken { -1 } else { 1 };
        self.psqt += worth * (sign * terms::sign(piece.color));
        self.phase += phase(piece.role) * sign as i16;
        let key = Zobrist64::zobrist_for_piece(square, piece).0;
        if matches!(piece.role, Role::Pawn | Role::King) {
            self.pawn_key ^= key;
        }
        if piece.role != Role::Pawn {
            self.non_pawn_keys[piece.color as usize] ^= key;
        }
    }

    fn phase(&self) -> i32 {
        i32::from(self.phase).min(FULL_PHASE)
    }
}

/// The square from the piece's own side.
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

/// Evaluator of chess: by hand, with a pawn hash table, or by a network.
///
/// A network takes the place of all terms, but not of what is known of endings and of the fifty-move rule.
#[derive(Debug)]
pub struct ChessEval {
    pawns: pawn_terms::PawnTable,
    net: Option<NetEvaluator>,
}

impl Default for ChessEval {
    /// The evaluation by hand.
    fn default() -> Self {
        ChessEval::new(None)
    }
}

impl Evaluator<Chess> for ChessEval {
    type State = Accumulator;

    fn refresh(&mut self, position: &Chess) -> Accumulator {
        let mut accumulator = Accumulator::default();
        for (square, piece) in position.board() {
            accumulator.apply(Change::Put, square, piece);
        }
        if let Some(net) = &mut self.net {
            net.begin();
        }
        accumulator
    }

    fn update(&mut self, state: &Accumulator, before: &Chess, mv: Move) -> Accumulator {
        let mut accumulator = *state;
        match &mut self.net {
            None => before.changes(mv, |change, square, piece| accumulator.apply(change, square, piece)),
            Some(net) => {
                accumulator.ply += 1;
                let noted = net.next(accumulator.ply);
                before.changes(mv, |change, square, piece| {
                    accumulator.apply(change, square, piece);
                    noted.note(change, square, piece);
                });
            }
        }
        accumulator
    }

    fn partial_keys(&self, state: &Accumulator) -> Option<PartialKeys> {
        let [black, white] = state.non_pawn_keys;
        Some(PartialKeys([state.pawn_key, white, black]))
    }

    fn evaluate(&mut self, state: &Accumulator, position: &Chess) -> Score {
        let (board, us) = (position.board(), position.turn());
        let white = match endgame::bare_king(board, us) {
            // Not scaled by the fifty-move counter: older table entries would look better than any progress.
            Some(known) if self.net.is_some() => known + known.signum() * KNOWN_WITH_NET,
            Some(known) => known,
            None => {
                let quiet = (position.reversible_plies() as i32).min(HALF_LIFE);
                let score = match &mut self.net {
                    Some(net) => by_net(net, state, position),
                    None => self.tapered(state, board, us),
                };
                score * (2 * HALF_LIFE - quiet) / (2 * HALF_LIFE)
            }
        };
        Score::cp(terms::sign(us) * white)
    }

    fn parts(&mut self, state: &Accumulator, position: &Chess) -> Vec<Part> {
        let (board, us) = (position.board(), position.turn());
        let whole = terms::sign(us) * self.evaluate(state, position).get();
        if endgame::bare_king(board, us).is_some() {
            return vec![("known ending", whole)];
        }
        let mut parts = match &mut self.net {
            Some(net) => {
                let raw = terms::sign(us) * net.evaluate(state.ply, position);
                vec![("net", raw), ("drawish ending", by_net(net, state, position) - raw)]
            }
            None => self.parts_by_hand(state, board, us),
        };
        let sum: i32 = parts.iter().map(|part| part.1).sum();
        parts.push(("fifty-move rule", whole - sum));
        parts
    }
}

impl ChessEval {
    /// Evaluates by this network, or by hand.
    pub fn new(net: Option<Arc<Net>>) -> ChessEval {
        ChessEval { pawns: pawn_terms::PawnTable::new(), net: net.map(NetEvaluator::new) }
    }

    /// Tapered sum of all terms, from White's point of view.
    fn tapered(&mut self, state: &Accumulator, board: &Board, us: Color) -> i32 {
        let pawns = self.pawns.probe(state.pawn_key, board);
        let total = total(state, board, us, &pawns);
        let strong = Color::from_white(total.endgame() > 0);
        let endgame = total.endgame() * endgame::scale(board, strong, pawns.passed) / endgame::SCALE_NORMAL;
        taper(state, total.middlegame(), endgame)
    }

    /// Parts of the tapered sum.
    fn parts_by_hand(&mut self, state: &Accumulator, board: &Board, us: Color) -> Vec<Part> {
        let pawns = self.pawns.probe(state.pawn_key, board);
        let worth = |score: TaperedScore| taper(state, score.middlegame(), score.endgame());
        let all = worth(total(state, board, us, &pawns));
        let (placed, structure) = (worth(state.psqt), worth(pawns.worth));
        let tempo = worth(WEIGHTS[terms::TEMPO.at(0)] * terms::sign(us));
        vec![
            ("material and squares", placed),
            ("pawns and shelter", structure),
            ("pieces and kings", all - placed - structure - tempo),
            ("side to move", tempo),
            ("endgame scale", self.tapered(state, board, us) - all),
        ]
    }
}

/// Sum of all terms, from White's point of view.
fn total(state: &Accumulator, board: &Board, us: Color, pawns: &PawnEntry) -> TaperedScore {
    let mut sum = Sum::of(state.psqt + pawns.worth);
    sum.add(us, terms::TEMPO.at(0), 1);
    piece_terms::describe(board, pawns.passed, &mut sum);
    sum.total()
}

/// Score between middlegame and endgame, by the phase.
fn taper(state: &Accumulator, middlegame: i32, endgame: i32) -> i32 {
    let phase = state.phase();
    (middlegame * phase + endgame * (FULL_PHASE - phase)) / FULL_PHASE
}

/// Evaluation by a network, from White's point of view; lower where the side ahead can hardly win.
fn by_net(net: &mut NetEvaluator, state: &Accumulator, position: &Chess) -> i32 {
    let white = terms::sign(position.turn()) * net.evaluate(state.ply, position);
    let Some(scale) = endgame::drawish(position.board(), Color::from_white(white > 0)) else { return white };
    let phase = state.phase();
    let scale = endgame::SCALE_NORMAL * phase + scale * (FULL_PHASE - phase);
    white * scale / (endgame::SCALE_NORMAL * FULL_PHASE)
}

/// A position for the tuner: with the weights, it determines the score.
#[derive(Clone, Debug)]
pub struct Example {
    /// The terms.
    pub counts: Counts,
    /// Game phase: 1 in the middlegame, 0 in the endgame.
    pub phase: f32,
    /// Endgame scale factor by the side with the advantage, from 0 to 1.
    pub scale: ByColor<f32>,
}

/// Traces a position for the tuner; `None` for special endings, which have no terms.
pub fn example(position: &Chess) -> Option<Example> {
    let (board, us) = (position.board(), position.turn());
    if endgame::bare_king(board, us).is_some() {
        return None;
    }
    let mut counts = Counts::new();
    let mut accumulator = Accumulator::default();
    for (square, piece) in board {
        accumulator.apply(Change::Put, square, piece);
        terms::placed(piece, square).into_iter().for_each(|term| counts.add(piece.color, term, 1));
    }
    counts.add(us, terms::TEMPO.at(0), 1);
    let passed = pawn_terms::describe(board, &mut counts);
    piece_terms::describe(board, passed, &mut counts);
    let scale = |strong| endgame::scale(board, strong, passed) as f32 / endgame::SCALE_NORMAL as f32;
    Some(Example {
        counts,
        phase: accumulator.phase() as f32 / FULL_PHASE as f32,
        scale: ByColor::new_with(scale),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::net::Weights;

    /// The evaluation as the tuner computes it, in floating point.
    fn by_example(example: &Example) -> f64 {
        let mut accumulator = [0.0, 0.0];
        let mut dangers = ByColor::new_with(|_| [0.0, 0.0]);
        for (term, weight) in WEIGHTS.iter().enumerate() {
            let worth = [f64::from(weight.middlegame()), f64::from(weight.endgame())];
            for part in 0..2 {
                accumulator[part] += worth[part] * f64::from(example.counts.terms[term]);
                for color in Color::ALL {
                    let count = f64::from(example.counts.dangers.get(color)[term]);
                    dangers.get_mut(color)[part] += worth[part] * count;
                }
            }
        }
        let (white, black) = (trace::penalty(dangers.white).0, trace::penalty(dangers.black).0);
        let [middlegame, endgame] = [0, 1].map(|part| accumulator[part] - white[part] + black[part]);
        let scale = f64::from(if endgame > 0.0 { example.scale.white } else { example.scale.black });
        let phase = f64::from(example.phase);
        middlegame * phase + endgame * scale * (1.0 - phase)
    }

    proptest! {
        #[test]
        fn what_is_kept_is_the_board_and_the_tuner_sees_what_the_engine_sees(choices in prop::collection::vec(any::<prop::sample::Index>(), 1..150)) {
            let mut position = Chess::parse("r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1").unwrap();
            let mut evaluator = ChessEval::default();
            let mut accumulator = evaluator.refresh(&position);
            for choice in choices {
                let moves = position.moves();
                if moves.is_empty() { break }
                let mv = moves[choice.index(moves.len())];
                accumulator = evaluator.update(&accumulator, &position, mv);
                position.play(mv);
                prop_assert_eq!(accumulator, evaluator.refresh(&position));
                if let Some(example) = example(&position) {
                    let engine = evaluator.tapered(&accumulator, position.board(), position.turn());
                    let tuner = by_example(&example);
                    // The engine rounds three times.
                    prop_assert!((f64::from(engine) - tuner).abs() < 4.0, "{} {} {}", position.print(), engine, tuner);
                }
            }
        }

        #[test]
        fn both_sides_see_the_same(choices in prop::collection::vec(any::<prop::sample::Index>(), 1..100)) {
            let mut evaluator = ChessEval::default();
            let mut score = |position: &Chess| {
                let state = evaluator.refresh(position);
                evaluator.evaluate(&state, position)
            };
            let mut position = Chess::start();
            for choice in choices {
                let moves = position.moves();
                if moves.is_empty() { break }
                position.play(moves[choice.index(moves.len())]);
                let mirrored = shakmaty::Position::to_setup(position.position(), shakmaty::EnPassantMode::Legal).into_mirrored();
                let mirrored: shakmaty::Chess = mirrored.position(shakmaty::CastlingMode::Standard).unwrap();
                prop_assert_eq!(score(&position), score(&mirrored.into()), "{}", position.print());
            }
        }
    }

    #[test]
    fn quiet_plies_bring_the_draw_nearer() {
        let mut evaluator = ChessEval::default();
        let mut score = |plies: u32| {
            let fen = format!("4k3/pppp4/8/8/8/8/PPPP1PPP/R3K3 w - - {plies} 60");
            let position = Chess::parse(&fen).unwrap();
            let state = evaluator.refresh(&position);
            evaluator.evaluate(&state, &position).get()
        };
        assert!(score(0) > score(40) && score(40) > score(90) && score(90) > 0);
    }

    #[test]
    fn the_parts_add_up_to_the_evaluation() {
        let net = Arc::new(Net::new(&Weights::material()).unwrap());
        for fen in [
            "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R b KQkq - 30 21",
            "4k3/8/8/8/8/8/8/2R1K3 b - - 0 1",
            "4k3/4p3/8/8/8/8/8/2B1K3 w - - 0 1",
        ] {
            let position = Chess::parse(fen).unwrap();
            for mut evaluator in [ChessEval::default(), ChessEval::new(Some(net.clone()))] {
                let state = evaluator.refresh(&position);
                let white = terms::sign(position.turn()) * evaluator.evaluate(&state, &position).get();
                let parts = evaluator.parts(&state, &position);
                assert_eq!(parts.iter().map(|part| part.1).sum::<i32>(), white, "{fen}: {parts:?}");
            }
        }
    }

    fn by_material(fen: &str) -> Score {
        let mut evaluator = ChessEval::new(Some(Arc::new(Net::new(&Weights::material()).unwrap())));
        let position = Chess::parse(fen).unwrap();
        let state = evaluator.refresh(&position);
        evaluator.evaluate(&state, &position)
    }

    #[test]
    fn a_net_replaces_the_terms_but_not_what_is_known() {
        assert_eq!(by_material("4k3/pppp4/8/8/8/8/PPPPP3/4K3 w - - 0 1"), Score::cp(99));
        assert_eq!(by_material("4k3/pppp4/8/8/8/8/PPPPP3/4K3 b - - 0 1"), Score::cp(-99));
        assert_eq!(by_material("4k3/pppp4/8/8/8/8/PPPPP3/4K3 w - - 50 80"), Score::cp(74), "quiet moves");
        assert_eq!(by_material("4k3/4p3/8/8/8/8/8/2B1K3 w - - 0 1").get() / 10, 0, "a bishop does not win");
        assert!(by_material("4k3/4p3/8/8/8/8/8/2R1K3 w - - 0 1") > Score::cp(300));
        assert_eq!(by_material("k7/8/8/8/P7/8/8/2B1K3 w - - 0 1"), Score::ZERO, "the wrong corner");
        assert!(
            by_material("4k3/8/8/8/8/8/8/2R1K3 w - - 0 1") > by_material("4k3/p7/8/8/8/8/8/QQR1K3 w - - 0 1")
        );
    }
}
