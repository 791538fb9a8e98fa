//! The list of games and their names.

use std::str::FromStr;

use crate::error::shorten;

macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident = $name:literal,)*) => {
        /// A game, by its rules.
        #[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
        pub enum GameKind {
            $($(#[$doc])* $kind),*
        }

        impl GameKind {
            /// Every game.
            pub const ALL: &[GameKind] = &[$(GameKind::$kind),*];

            /// The name in configurations.
            pub const fn name(self) -> &'static str {
                match self { $(GameKind::$kind => $name),* }
            }
        }
    };
}

kinds! {
    /// Standard chess and Chess960.
    Chess = "chess",
    /// MiniChess on the Internet MiniChess Server.
    MinichessImcs = "minichess-imcs",
    /// MiniChess of the NTHU course of 2023.
    Minichess2023 = "minichess-2023",
    /// MiniChess of the NTHU course of 2026.
    Minichess2026 = "minichess-2026",
    /// TUC-Chess.
    Tuc = "tuc",
    /// Chess with captured pieces to drop.
    Crazyhouse = "crazyhouse",
    /// Chess with captures that explode.
    Atomic = "atomic",
    /// Chess that is won by losing all pieces.
    Antichess = "antichess",
    /// Chess of many pawns against an army.
    Horde = "horde",
    /// Chess that a king in the center wins.
    KingOfTheHill = "king-of-the-hill",
    /// A race of the kings to the last rank.
    RacingKings = "racing-kings",
    /// Chess that the third check wins.
    ThreeCheck = "three-check",
}

impl FromStr for GameKind {
    type Err = UnknownGame;

    fn from_str(name: &str) -> Result<Self, UnknownGame> {
        let kind = GameKind::ALL.iter().copied().find(|kind| kind.name() == name);
        kind.ok_or_else(|| UnknownGame(shorten(name)))
    }
}

/// A name that no game has.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("unknown game '{0}'; known: {known}", known = GameKind::ALL.iter().map(|kind| kind.name()).collect::<Vec<_>>().join(", "))]
pub struct UnknownGame(String);
