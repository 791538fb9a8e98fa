//! Ids: short, and of characters that need no escaping in a URL.

use std::{fmt, str::FromStr};

use arrayvec::ArrayString;
use serde::{Deserialize, Serialize};

use super::shorten;
use crate::Secret;

/// Text that is not an id of this kind.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("'{got}' is not {expected}")]
pub struct BadId {
    /// Expected id.
    expected: &'static str,
    /// Actual text, shortened.
    got: String,
}

/// Text of letters and digits that fills the array, or has at least `min` of them.
fn letters<const N: usize>(text: &str, min: usize) -> Option<ArrayString<N>> {
    let fits = text.len() >= min && text.bytes().all(|b| b.is_ascii_alphanumeric());
    ArrayString::from(text).ok().filter(|_| fits)
}

/// Name of at most `max` letters, digits, hyphens and underscores.
fn name(text: &str, max: usize) -> Option<Box<str>> {
    let is_clean = text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'));
    (is_clean && (1..=max).contains(&text.len())).then(|| text.into())
}

/// Declares ids: the type of the text, the expectation for errors, and the function that checks the text.
macro_rules! ids {
    ($($(#[$meta:meta])* $name:ident($inner:ty), $expected:literal, $read:expr;)*) => {$(
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name($inner);

        impl $name {
            /// Returns the id as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl FromStr for $name {
            type Err = BadId;

            fn from_str(text: &str) -> Result<Self, BadId> {
                let read: fn(&str) -> Option<$inner> = $read;
                read(text).map($name).ok_or_else(|| BadId { expected: $expected, got: shorten(text) })
            }
        }

        impl TryFrom<String> for $name {
            type Error = BadId;
            fn try_from(text: String) -> Result<Self, BadId> {
                text.parse()
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> String {
                id.as_str().to_owned()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }
    )*};
}

ids! {
    /// Id of a game, and of the challenge that became it.
    #[derive(Copy)]
    GameId(ArrayString<8>), "a game's id, 8 letters and digits", |text| letters(text, 8);
    /// Id of a challenge, and of the game that it becomes.
    #[derive(Copy)]
    ChallengeId(ArrayString<8>), "a challenge's id, 8 letters and digits", |text| letters(text, 8);
    /// Id of a game for one of its players: the game's id with a secret part.
    #[derive(Copy)]
    FullId(ArrayString<12>), "a player's id of a game, 12 letters and digits", |text| letters(text, 8);
    /// Id of an arena tournament.
    #[derive(Copy)]
    TournamentId(ArrayString<8>), "a tournament's id, 8 letters and digits", |text| letters(text, 8);
    /// Id of a user: the name in lower case.
    ///
    /// ```
    /// use zeitnot_wire::lichess::UserId;
    /// assert_eq!("Zeit_Not-1".parse::<UserId>().unwrap().as_str(), "zeit_not-1");
    /// assert!("../account".parse::<UserId>().is_err());
    /// ```
    UserId(Box<str>), "a user's name", |text| name(&text.to_ascii_lowercase(), 30);
    /// Id of a team, as in its URL.
    TeamId(Box<str>), "a team's id, as in its address", |text| name(text, 100);
}

impl From<ChallengeId> for GameId {
    fn from(id: ChallengeId) -> GameId {
        GameId(id.0)
    }
}

impl From<ChallengeId> for TournamentId {
    fn from(id: ChallengeId) -> TournamentId {
        TournamentId(id.0)
    }
}

impl From<GameId> for ChallengeId {
    fn from(id: GameId) -> ChallengeId {
        ChallengeId(id.0)
    }
}

/// API token; never shown.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "String")]
pub struct Token(Secret);

impl Token {
    /// Returns the text for the `Authorization` header.
    pub fn expose(&self) -> &str {
        self.0.expose()
    }
}

impl FromStr for Token {
    type Err = BadId;

    fn from_str(text: &str) -> Result<Self, BadId> {
        let clean = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-');
        if (1..=512).contains(&text.len()) && text.bytes().all(clean) {
            Ok(Token(Secret::of(text)))
        } else {
            Err(BadId { expected: "a token of letters, digits, hyphens and underscores", got: "…".into() })
        }
    }
}

impl TryFrom<String> for Token {
    type Error = BadId;
    fn try_from(text: String) -> Result<Self, BadId> {
        text.parse()
    }
}

impl Serialize for Token {
    fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(self.expose())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_have_a_total_order() {
        let tokens = ["a", "b", "ab", "ac", "bb", "abc"].map(|text| text.parse::<Token>().unwrap());
        for (at, one) in tokens.iter().enumerate() {
            for (other_at, other) in tokens.iter().enumerate() {
                assert_eq!(one.cmp(other), at.cmp(&other_at));
                assert_eq!(one == other, at == other_at);
            }
        }
    }
}
