//! Lichess Bot API: streams, answers and requests. See <https://lichess.org/api>.
//!
//! Streams are NDJSON, parsed with [`line()`]; answers are JSON; all of them are [`Message`]s. Requests are forms or
//! query strings, a [`Form`] each. Unknown fields are ignored, `null` equals a missing field, and an unknown name
//! becomes the `Other` of its type: only unusable messages are errors.
//!
//! Moves are kept as text; castling may be king takes rook.

#![allow(missing_docs)] // fields and variants are named as in the API's documentation

use serde::{Serialize, de::DeserializeOwned};

use super::{Message, WireError, shorten};

mod account;
mod answer;
mod challenge;
pub mod clocks;
mod codec;
mod event;
#[cfg(test)]
mod examples;
mod game;
mod id;
mod lookup;
mod names;
pub mod pychess;
mod request;
mod rules;
#[cfg(test)]
mod tests;
mod tournament;

pub use account::{GameCount, Perf, Playing, Scopes, TokenInfo, TokenTest, User, UserStatus};
pub use answer::{Done, Failure, FailureText, Keepalive, RateLimit};
pub use challenge::{Challenge, ChallengeUser, PerfName, TimeControl};
pub use event::{Compat, Event, GameEvent, Opponent, Unknown};
pub use game::{ChatLine, Expiration, GameFull, GameMessage, GameState, OpponentGone, Player};
pub use id::{BadId, ChallengeId, FullId, GameId, TeamId, Token, TournamentId, UserId};
pub use lookup::{CloudEval, CloudLine, Explored, ExploredMove, Probe, ProbeMove};
pub use names::{
    Category, ChallengeEnd, ChallengeStatus, ColorWish, DeclineReason, Direction, GameRule, PerfKey, Room,
    Scope, Source, Speed, Status, Title, Variant, VariantKey,
};
pub use request::{Chat, Decline, Form, JoinTeam, JoinTournament, MoveQuery, NewChallenge};
pub use rules::NoGame;
pub use tournament::TournamentState;

/// Parses one line of a stream. Returns `None` for an empty line, which is only a keepalive.
///
/// ```
/// use zeitnot_wire::lichess::{Event, line};
/// assert_eq!(line::<Event>(" \r\n"), Ok(None));
/// assert!(line::<Event>("<html>").is_err());
/// ```
///
/// # Errors
/// [`WireError`] if the line is not such a message.
pub fn line<M: Message>(text: &str) -> Result<Option<M>, WireError> {
    match text.trim() {
        "" => Ok(None),
        text => M::parse(text).map(Some),
    }
}

fn read<T: DeserializeOwned>(message: &'static str, text: &str) -> Result<T, WireError> {
    serde_json::from_str(text).map_err(|why| WireError::body(message, why, text))
}

fn write(message: &impl Serialize) -> String {
    // Serialization fails only for maps with non-string keys, and there are none.
    serde_json::to_string(message).unwrap_or_default()
}

/// Implements [`Message`] for types whose JSON is the whole message.
macro_rules! bodies {
    ($($ty:ty => $name:literal),* $(,)?) => {$(
        impl Message for $ty {
            fn parse(text: &str) -> Result<Self, WireError> {
                read($name, text)
            }

            fn to_line(&self) -> String {
                write(self)
            }
        }
    )*};
}

bodies! {
    Challenge => "challenge",
    CloudEval => "evaluation",
    Done => "answer",
    Explored => "explorer",
    Keepalive => "challenge kept alive",
    Playing => "games being played",
    Probe => "tablebase",
    TournamentState => "tournament",
    User => "user",
    Vec<UserStatus> => "users' status",
}

impl Message for TokenTest {
    fn parse(text: &str) -> Result<Self, WireError> {
        // The text consists of tokens, so the error does not repeat it.
        let hidden = |_| WireError::body("token test", "no map of tokens", "…");
        serde_json::from_str(text).map_err(hidden)
    }

    fn to_line(&self) -> String {
        write(self)
    }
}
