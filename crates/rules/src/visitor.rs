//! The way from a game that is known at run time to the type of its positions.

use crate::{kind::GameKind, tactics::Tactics};

/// Calls a macro with a row for each game, `Kind => start`: the usual start, whose type plays the game.
#[macro_export]
macro_rules! for_each_game {
    ($callback:ident) => {
        $callback! {
            Chess => $crate::chess::Chess::start(),
            MinichessImcs => $crate::minichess::MiniChess::start($crate::minichess::Rules::Imcs),
            Minichess2023 => $crate::minichess::MiniChess::start($crate::minichess::Rules::Nthu2023),
            Minichess2026 => $crate::minichess::MiniChess::start($crate::minichess::Rules::Nthu2026),
            Tuc => $crate::tuc::Tuc::start(),
            Crazyhouse => $crate::chess::VariantPosition::from($crate::chess::Crazyhouse::start()),
            Atomic => $crate::chess::VariantPosition::from($crate::chess::Atomic::start()),
            Antichess => $crate::chess::VariantPosition::from($crate::chess::Antichess::start()),
            Horde => $crate::chess::VariantPosition::from($crate::chess::Horde::start()),
            KingOfTheHill => $crate::chess::VariantPosition::from($crate::chess::KingOfTheHill::start()),
            RacingKings => $crate::chess::VariantPosition::from($crate::chess::RacingKings::start()),
            ThreeCheck => $crate::chess::VariantPosition::from($crate::chess::ThreeCheck::start()),
            Gardner => $crate::chess::VariantPosition::from($crate::chess::Gardner::start()),
        }
    };
}

/// A function that is generic over the game, called by [`GameKind::with`].
pub trait Visitor {
    /// The result of the visit.
    type Out;
    /// Runs with the usual start of the game.
    fn visit<G: Tactics>(self, start: G) -> Self::Out;
}

macro_rules! with {
    ($($kind:ident => $start:expr),* $(,)?) => {
        impl GameKind {
            /// Runs a visitor with the usual start of this game.
            pub fn with<V: Visitor>(self, visitor: V) -> V::Out {
                match self { $(GameKind::$kind => visitor.visit($start)),* }
            }
        }
    };
}
for_each_game!(with);
