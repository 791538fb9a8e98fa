//! The list of games, and the way from a name to a type.

use std::str::FromStr;

use crate::{error::shorten, game::Game, tactics::Tactics};

/// Calls a macro with a row for each game, `Name => type`.
#[macro_export]
macro_rules! for_each_game {
    ($callback:ident) => {
        $callback! {
            Chess => $crate::chess::Chess,
            MinichessImcs => $crate::minichess::Imcs,
            Minichess2023 => $crate::minichess::Mini2023,
            Minichess2026 => $crate::minichess::Mini2026,
            Tuc => $crate::tuc::Tuc,
            Crazyhouse => $crate::chess::Crazyhouse,
            Atomic => $crate::chess::Atomic,
            Antichess => $crate::chess::Antichess,
            Horde => $crate::chess::Horde,
            KingOfTheHill => $crate::chess::KingOfTheHill,
            RacingKings => $crate::chess::RacingKings,
            ThreeCheck => $crate::chess::ThreeCheck,
        }
    };
}

/// A function that is generic over the game, called by [`GameKind::with`].
pub trait Visitor {
    /// The result of the visit.
    type Out;
    /// Runs with the type of the game.
    fn visit<G: Tactics>(self) -> Self::Out;
}

macro_rules! kinds {
    ($($kind:ident => $ty:ty),* $(,)?) => {
        /// A game, by its rules.
        #[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
        pub enum GameKind {
            $(#[doc = concat!("[`", stringify!($ty), "`]")] $kind),*
        }

        impl GameKind {
            /// Every game.
            pub const ALL: &[GameKind] = &[$(GameKind::$kind),*];

            /// The name in configurations.
            pub fn name(self) -> &'static str {
                match self { $(GameKind::$kind => <$ty as Game>::NAME),* }
            }

            /// Runs a visitor with this game's type.
            pub fn with<V: Visitor>(self, visitor: V) -> V::Out {
                match self { $(GameKind::$kind => visitor.visit::<$ty>()),* }
            }
        }
    };
}
for_each_game!(kinds);

impl FromStr for GameKind {
    type Err = UnknownGame;

    fn from_str(name: &str) -> Result<Self, UnknownGame> {
        GameKind::ALL
            .iter()
            .copied()
            .find(|kind| kind.name() == name)
            .ok_or_else(|| UnknownGame(shorten(name)))
    }
}

/// A name that no game has.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("unknown game '{0}'; known: {known}", known = GameKind::ALL.iter().map(|kind| kind.name()).collect::<Vec<_>>().join(", "))]
pub struct UnknownGame(String);
