//! Levels of the bot. The program that serves the page defines their strength.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Number of levels.
const LEVELS: u8 = 8;

/// Level of the bot, from 1 to 8.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(try_from = "u8", into = "u8")]
#[schema(value_type = u8, minimum = 1, maximum = 8)]
pub struct Level(u8);

/// Number that is not a [`Level`].
#[derive(Debug, thiserror::Error)]
#[error("{0} is not a level: choose one from 1 to {LEVELS}")]
pub struct BadLevel(u8);

impl TryFrom<u8> for Level {
    type Error = BadLevel;
    fn try_from(level: u8) -> Result<Level, BadLevel> {
        if (1..=LEVELS).contains(&level) { Ok(Level(level)) } else { Err(BadLevel(level)) }
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
