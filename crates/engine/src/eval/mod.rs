//! Opinions on positions, kept up to date with the move where that pays.

use std::sync::Arc;

use zeitnot_rules::{
    Tactics,
    chess::Chess,
    minichess::{Imcs, Mini2023, Mini2026},
    tuc::Tuc,
    variant::{Antichess, Atomic, Crazyhouse, Horde, KingOfTheHill, RacingKings, ThreeCheck},
};

use super::{
    Score,
    syzygy::{TablebaseProbe, Tablebases},
};

pub mod chess;
mod minichess;
mod pesto;
mod tuc;
mod variant;

pub use chess::ChessEval;
pub use minichess::MiniChessEval;
pub use tuc::TucEval;
pub use variant::VariantEval;

/// Judges positions of one game.
///
/// The `State` travels along the search, one for each position on the path: nothing for a judge that
/// looks at the board alone, sums for piece-square tables, an accumulator for a network.
pub trait Evaluator<G: Tactics>: Default + Send + Sync + 'static {
    /// What is carried from position to position.
    type State: Clone;

    /// The state of a position that nobody has seen before.
    fn root(&self, position: &G) -> Self::State;

    /// The state after `mv` is played on `before`.
    fn step(&self, state: &Self::State, before: &G, mv: G::Move) -> Self::State;

    /// The families a position belongs to; `None`: this judge knows of none.
    fn partial_keys(&self, _: &Self::State) -> Option<PartialKeys> {
        None
    }

    /// What the position is worth to the side to move.
    fn score(&self, state: &Self::State, position: &G) -> Score;
}

/// Positions that a judge is likely to misjudge alike have a key in common: in chess that of their pawns, of White's
/// officers, or of Black's.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct PartialKeys(pub [u64; PartialKeys::COUNT]);

impl PartialKeys {
    /// To how many each position belongs.
    pub const COUNT: usize = 3;
}

/// A game our engine can play: its rules, and who judges its positions.
#[diagnostic::on_unimplemented(
    message = "no evaluator is named for the game `{Self}`",
    note = "add a row to `engine_games!` in crates/engine/src/eval/mod.rs"
)]
pub trait EngineGame: Tactics {
    /// Who judges it.
    type Evaluator: Evaluator<Self>;

    /// Who knows how its endgames end, of those whose tables were opened; for most games there are none.
    fn tablebase_probe(_: &Tablebases) -> Option<Arc<dyn TablebaseProbe<Self>>> {
        None
    }
}

/// What the judge of a game carries along the search.
pub type State<G> = <<G as EngineGame>::Evaluator as Evaluator<G>>::State;

macro_rules! engine_games {
    ($($game:ty => $judge:ty $([tables: $tables:ident])?),* $(,)?) => { $(
        impl EngineGame for $game {
            type Evaluator = $judge;
            $(fn tablebase_probe(endgames: &Tablebases) -> Option<Arc<dyn TablebaseProbe<Self>>> {
                endgames.$tables.clone().map(|tables| tables as _)
            })?
        }
    )* };
}
engine_games! {
    Chess => ChessEval [tables: chess],
    Imcs => MiniChessEval,
    Mini2023 => MiniChessEval,
    Mini2026 => MiniChessEval,
    Tuc => TucEval,
    Crazyhouse => VariantEval,
    Atomic => VariantEval [tables: atomic],
    Antichess => VariantEval [tables: antichess],
    Horde => VariantEval,
    KingOfTheHill => VariantEval,
    RacingKings => VariantEval,
    ThreeCheck => VariantEval,
}
