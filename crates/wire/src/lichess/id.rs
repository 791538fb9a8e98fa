//! The names of things: short, and of characters that may stand in a path of a URL as they are.

use std::{cmp::Ordering, fmt, str::FromStr};

use arrayvec::ArrayString;
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};

use super::shorten;

/// Text that is no name of this kind.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("'{got}' is not {expected}")]
pub struct BadId {
    /// What it should be.
    expected: &'static str,
    /// What it is, shortened.
    got: String,
}

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident, $room:literal, $lengths:pat, $expected:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(ArrayString<$room>);

        impl $name {
            /// The text itself.
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

/// What serde and people need, for names that have `FromStr` and `as_str`.
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
    /// A game. Also the challenge that became it.
    GameId, 8, 8, "a game's id, 8 letters and digits";
    /// A challenge; the game that it becomes has the same.
    ChallengeId, 8, 8, "a challenge's id, 8 letters and digits";
    /// A game as one of its players sees it: the game's id, and more.
    FullId, 12, 8..=12, "a player's id of a game, 12 letters and digits";
    /// An arena.
    TournamentId, 8, 8, "a tournament's id, 8 letters and digits";
    /// A tournament in the Swiss system.
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

/// Who: a user's name in lower case.
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
    /// The text itself.
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

/// A team: its name as it stands in addresses.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TeamId(Box<str>);

impl TeamId {
    /// The text itself.
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

/// Who may do what; never shown.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "String")]
pub struct Token(SecretString);

impl Token {
    /// The text itself, for the header it goes into.
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
