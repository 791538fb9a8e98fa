//! Ids: short, and of characters that need no escaping in a URL.

use std::{cmp::Ordering, fmt, str::FromStr};

use arrayvec::ArrayString;
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};

use super::shorten;

/// Text that is not an id of this kind.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("'{got}' is not {expected}")]
pub struct BadId {
    /// Expected id.
    expected: &'static str,
    /// Actual text, shortened.
    got: String,
}

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident, $room:literal, $lengths:pat, $expected:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(ArrayString<$room>);

        impl $name {
            /// Returns the id as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl FromStr for $name {
            type Err = BadId;

            fn from_str(text: &str) -> Result<Self, BadId> {
                let clean = matches!(text.len(), $lengths) && text.bytes().all(|b| b.is_ascii_alphanumeric());
                ArrayString::from(if clean { text } else { "" })
                    .ok()
                    .filter(|id| !id.is_empty())
                    .map($name)
                    .ok_or_else(|| BadId { expected: $expected, got: shorten(text) })
            }
        }

        texts!($name);
    )*};
}

/// Conversions of types with `FromStr` and `as_str`.
macro_rules! texts {
    ($name:ident) => {
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
    };
}

ids! {
    /// Id of a game, and of the challenge that became it.
    GameId, 8, 8, "a game's id, 8 letters and digits";
    /// Id of a challenge, and of the game that it becomes.
    ChallengeId, 8, 8, "a challenge's id, 8 letters and digits";
    /// Id of a game for one of its players: the game's id with a secret part.
    FullId, 12, 8..=12, "a player's id of a game, 12 letters and digits";
    /// Id of an arena tournament.
    TournamentId, 8, 8, "a tournament's id, 8 letters and digits";
    /// Id of a Swiss tournament.
    SwissId, 8, 8, "a tournament's id, 8 letters and digits";
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

/// Id of a user: the name in lower case.
///
/// ```
/// use zeitnot_wire::lichess::UserId;
/// assert_eq!("Zeit_Not-1".parse::<UserId>().unwrap().as_str(), "zeit_not-1");
/// assert!("../account".parse::<UserId>().is_err());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct UserId(Box<str>);

impl UserId {
    /// Returns the id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for UserId {
    type Err = BadId;

    fn from_str(name: &str) -> Result<Self, BadId> {
        let clean = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-');
        if (1..=30).contains(&name.len()) && name.bytes().all(clean) {
            Ok(UserId(name.to_ascii_lowercase().into()))
        } else {
            Err(BadId { expected: "a user's name", got: shorten(name) })
        }
    }
}

texts!(UserId);

/// Id of a team, as in its URL.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TeamId(Box<str>);

impl TeamId {
    /// Returns the id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for TeamId {
    type Err = BadId;

    fn from_str(name: &str) -> Result<Self, BadId> {
        let clean = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-');
        if (1..=100).contains(&name.len()) && name.bytes().all(clean) {
            Ok(TeamId(name.into()))
        } else {
            Err(BadId { expected: "a team's id, as in its address", got: shorten(name) })
        }
    }
}

texts!(TeamId);

/// API token; never shown.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "String")]
pub struct Token(SecretString);

impl Token {
    /// Returns the text for the `Authorization` header.
    pub fn expose(&self) -> &str {
        self.0.expose_secret()
    }
}

impl FromStr for Token {
    type Err = BadId;

    fn from_str(text: &str) -> Result<Self, BadId> {
        let clean = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
        if (1..=512).contains(&text.len()) && text.bytes().all(clean) {
            Ok(Token(text.into()))
        } else {
            Err(BadId { expected: "a token of letters, digits and underscores", got: "…".into() })
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

impl PartialEq for Token {
    fn eq(&self, other: &Token) -> bool {
        self.expose() == other.expose()
    }
}

impl Eq for Token {}

impl PartialOrd for Token {
    fn partial_cmp(&self, other: &Token) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Token {
    fn cmp(&self, other: &Token) -> Ordering {
        self.expose().cmp(other.expose())
    }
}
