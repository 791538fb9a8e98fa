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
    syzygy::{Endgames, Oracle},
};

pub mod chess;
mod minichess;
mod tables;
mod tuc;
mod variant;

pub use chess::ChessJudge;
pub use minichess::MiniJudge;
pub use tuc::TucJudge;
pub use variant::VariantJudge;

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
    fn families(&self, _: &Self::State) -> Option<Families> {
        None
    }

    /// What the position is worth to the side to move.
    fn score(&self, state: &Self::State, position: &G) -> Score;
}

/// Positions that a judge is likely to misjudge alike have a key in common: in chess that of their pawns, of White's
/// officers, or of Black's.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Families(pub [u64; Families::COUNT]);

impl Families {
    /// To how many each position belongs.
    pub const COUNT: usize = 3;
}

/// A game our engine can play: its rules, and who judges its positions.
#[diagnostic::on_unimplemented(
    message = "no evaluator is named for the game `{Self}`",
    note = "add a row to `judged!` in crates/engine/src/eval/mod.rs"
)]
pub trait Judged: Tactics {
    /// Who judges it.
    type Judge: Evaluator<Self>;

    /// Who knows how its endgames end, of those whose tables were opened; for most games there are none.
    fn oracle(_: &Endgames) -> Option<Arc<dyn Oracle<Self>>> {
        None
    }
}

/// What the judge of a game carries along the search.
pub type State<G> = <<G as Judged>::Judge as Evaluator<G>>::State;

macro_rules! judged {
    ($($game:ty => $judge:ty $([tables: $tables:ident])?),* $(,)?) => { $(
        impl Judged for $game {
            type Judge = $judge;
            $(fn oracle(endgames: &Endgames) -> Option<Arc<dyn Oracle<Self>>> {
                endgames.$tables.clone().map(|tables| tables as _)
            })?
        }
    )* };
}
judged! {
    Chess => ChessJudge [tables: chess],
    Imcs => MiniJudge,
    Mini2023 => MiniJudge,
    Mini2026 => MiniJudge,
    Tuc => TucJudge,
    Crazyhouse => VariantJudge,
    Atomic => VariantJudge [tables: atomic],
    Antichess => VariantJudge [tables: antichess],
    Horde => VariantJudge,
    KingOfTheHill => VariantJudge,
    RacingKings => VariantJudge,
    ThreeCheck => VariantJudge,
}
