//! Static evaluation, updated incrementally where that pays.

use std::sync::Arc;

use zeitnot_rules::{
    Color, Tactics,
    chess::{Chess, VariantPosition},
    minichess::MiniChess,
    tuc::Tuc,
};

use super::{
    Score,
    net::EvalFile,
    syzygy::{TablebaseProbe, Tablebases},
};

pub mod chess;
mod minichess;
pub mod small_net;
mod tuc;
mod variant;

pub use chess::ChessEval;
pub use small_net::SmallNetEval;

/// Static evaluator of one game; each thread has its own.
///
/// The search carries one `State` for each position on the current line: nothing for an evaluator that looks at
/// the board alone, sums for piece-square tables. A network keeps more of the line itself: what is evaluated, or moved
/// from, is the root of the last `refresh` or a position that moves of the current line lead to.
pub trait Evaluator<G: Tactics>: Default + Send + 'static {
    /// Incrementally updated state.
    type State: Clone;

    /// Computes the state of a position from scratch.
    fn refresh(&mut self, position: &G) -> Self::State;

    /// Returns the state after `mv` is played on `before`.
    fn update(&mut self, state: &Self::State, before: &G, mv: G::Move) -> Self::State;

    /// Keys of parts of the position, for correction history; `None` switches it off.
    fn partial_keys(&self, _: &Self::State) -> Option<PartialKeys> {
        None
    }

    /// Evaluates the position for the side to move.
    fn evaluate(&mut self, state: &Self::State, position: &G) -> Score;

    /// Splits the evaluation of the position into its parts, for people.
    fn parts(&mut self, state: &Self::State, position: &G) -> Vec<Part> {
        let score = self.evaluate(state, position).get();
        vec![("net", if position.side_to_move() == Color::White { score } else { -score })]
    }
}

/// Part of an evaluation: its name, and what it adds, in centipawns from White's point of view.
pub type Part = (&'static str, i32);

/// Hash keys of parts of a position, for correction history: in chess its pawns and kings, White's pieces, and
/// Black's pieces.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct PartialKeys(pub [u64; PartialKeys::COUNT]);

impl PartialKeys {
    /// Number of keys.
    pub const COUNT: usize = 3;
}

/// A game that the engine can play: rules with an evaluator.
#[diagnostic::on_unimplemented(
    message = "no evaluator is named for the game `{Self}`",
    note = "implement `EngineGame` in crates/engine/src/eval/mod.rs"
)]
pub trait EngineGame: Tactics {
    /// Its evaluator.
    type Evaluator: Evaluator<Self>;

    /// Creates an evaluator; games other than chess have one only.
    fn evaluator(_: &EvalFile) -> Self::Evaluator {
        Self::Evaluator::default()
    }

    /// Its endgame tablebases among those opened, if any.
    fn tablebase_probe(_: &Tablebases) -> Option<Arc<dyn TablebaseProbe<Self>>> {
        None
    }
}

/// Evaluator state of a game.
pub type State<G> = <<G as EngineGame>::Evaluator as Evaluator<G>>::State;

impl EngineGame for Chess {
    type Evaluator = ChessEval;

    fn evaluator(eval_file: &EvalFile) -> ChessEval {
        ChessEval::new(eval_file.net())
    }

    fn tablebase_probe(endgames: &Tablebases) -> Option<Arc<dyn TablebaseProbe<Self>>> {
        endgames.chess.clone().map(|tables| tables as _)
    }
}

impl EngineGame for VariantPosition {
    type Evaluator = SmallNetEval;

    fn tablebase_probe(endgames: &Tablebases) -> Option<Arc<dyn TablebaseProbe<Self>>> {
        Some(Arc::new(endgames.variants.clone()))
    }
}

impl EngineGame for MiniChess {
    type Evaluator = SmallNetEval;
}

impl EngineGame for Tuc {
    type Evaluator = SmallNetEval;
}
