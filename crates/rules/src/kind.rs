//! The list of games and their names.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::shorten;

macro_rules! kinds {
    ($($kind:ident = $name:literal,)*) => {
        /// A game, by its rules.
        #[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        pub enum GameKind {
            $(#[doc = concat!("`", $name, "`")] #[serde(rename = $name)] $kind),*
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
    Chess = "chess",
    MinichessImcs = "minichess-imcs",
    Minichess2023 = "minichess-2023",
    Minichess2026 = "minichess-2026",
    Tuc = "tuc",
    Crazyhouse = "crazyhouse",
    Atomic = "atomic",
    Antichess = "antichess",
    Horde = "horde",
    KingOfTheHill = "king-of-the-hill",
    RacingKings = "racing-kings",
    ThreeCheck = "three-check",
    Gardner = "gardner",
}

/// Name of Chess960 where it stands beside those of games: it is chess from other starts.
pub const CHESS960: &str = "chess960";

impl GameKind {
    /// Returns the name of the game, which may be one of Chess960.
    pub const fn variant_name(self, chess960: bool) -> &'static str {
        if chess960 { CHESS960 } else { self.name() }
    }
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
