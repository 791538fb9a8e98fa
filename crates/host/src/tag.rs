//! Identifiers of games.

use std::fmt;

/// Unique identifier of a game.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GameTag(u128);

impl GameTag {
    /// Draws one that no other game has.
    pub fn random() -> Self {
        GameTag(fastrand::u128(..))
    }

    /// Parses a tag that a client wrote.
    pub fn read(text: &str) -> Option<Self> {
        let hex = text.len() == 32 && text.bytes().all(|b| b.is_ascii_hexdigit());
        u128::from_str_radix(text, 16).ok().filter(|_| hex).map(GameTag)
    }
}

impl fmt::Display for GameTag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}
