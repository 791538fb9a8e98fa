//! Levels of the bot: how deep it looks, and how closely it goes by what it sees.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Level of the bot, from 1 to 8.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(try_from = "u8", into = "u8")]
#[schema(value_type = u8, minimum = 1, maximum = 8)]
pub struct Level(u8);

/// Number that is not a [`Level`].
#[derive(Debug, thiserror::Error)]
#[error("{0} is not a level: choose one from 1 to {MAX}", MAX = STRENGTHS.len())]
pub struct BadLevel(u8);

/// Limits of each move of a level.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Strength {
    /// Depth.
    pub depth: Option<u16>,
    /// Nodes.
    pub nodes: Option<u64>,
    /// Time.
    pub time: Duration,
    /// Best moves between which it chooses.
    pub candidates: u16,
    /// The score of each is misjudged by up to this many centipawns.
    pub noise: u16,
}

const fn strength(
    depth: Option<u16>,
    nodes: Option<u64>,
    millis: u64,
    candidates: u16,
    noise: u16,
) -> Strength {
    Strength { depth, nodes, time: Duration::from_millis(millis), candidates, noise }
}

/// By level. The weak ones misjudge moves as people do: they see what is near, and choose among moves that seem alike.
const STRENGTHS: [Strength; 8] = [
    strength(Some(1), None, 200, 10, 500),
    strength(Some(2), None, 200, 8, 300),
    strength(Some(3), None, 200, 6, 180),
    strength(Some(4), None, 200, 5, 100),
    strength(Some(6), None, 300, 4, 40),
    strength(Some(9), Some(100_000), 500, 1, 0),
    strength(None, Some(500_000), 1000, 1, 0),
    strength(None, None, 2000, 1, 0),
];

impl Level {
    /// Returns the limits of its moves.
    pub fn strength(self) -> Strength {
        STRENGTHS[usize::from(self.0) - 1]
    }
}

impl TryFrom<u8> for Level {
    type Error = BadLevel;
    fn try_from(level: u8) -> Result<Level, BadLevel> {
        let fits = (1..=STRENGTHS.len()).contains(&usize::from(level));
        if fits { Ok(Level(level)) } else { Err(BadLevel(level)) }
    }
}

impl From<Level> for u8 {
    fn from(level: Level) -> u8 {
        level.0
    }
}

impl std::fmt::Display for Level {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_level_is_stronger_than_the_one_before() {
        let levels: Vec<Strength> = (1..=8).map(|level| Level::try_from(level).unwrap().strength()).collect();
        for pair in levels.windows(2) {
            let [weaker, stronger] = [pair[0], pair[1]];
            let depth = |strength: Strength| strength.depth.unwrap_or(u16::MAX);
            assert!(depth(weaker) <= depth(stronger) && weaker.noise >= stronger.noise);
            assert!(weaker.time <= stronger.time && weaker.candidates >= stronger.candidates);
            assert_ne!(weaker, stronger);
        }
        for bad in [0, 9, 255] {
            assert!(Level::try_from(bad).is_err());
        }
    }
}
