//! The event stream: games that begin and end, challenges that come and go.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{
    Challenge, DeclineReason, FullId, GameId, Message, PerfKey, Source, Speed, Status, SwissId, TournamentId,
    UserId, Variant, WireError,
    codec::{nullable, seconds},
    names::status,
    read, write,
};
use zeitnot_rules::Color;

/// A line of the event stream.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
#[allow(missing_docs)] // each field is named as in the API's description
pub enum Event {
    /// A game begins; at the stream's opening also each that runs.
    GameStart { game: Box<GameEvent> },
    /// A game is over.
    GameFinish { game: Box<GameEvent> },
    /// A challenge, to us or from us; at the stream's opening also each that is open.
    Challenge {
        challenge: Box<Challenge>,
        #[serde(skip_serializing_if = "Option::is_none")]
        compat: Option<Compat>,
    },
    /// The challenger took it back.
    ChallengeCanceled { challenge: Box<Challenge> },
    /// Who was challenged does not want to.
    ChallengeDeclined { challenge: Box<Challenge> },
    /// Something new.
    #[serde(untagged, skip_deserializing)]
    Other(Unknown),
}

impl Message for Event {
    fn parse(line: &str) -> Result<Self, WireError> {
        let unknown: Unknown = read("event", line)?;
        match unknown.kind.as_str() {
            "gameStart" | "gameFinish" | "challenge" | "challengeCanceled" | "challengeDeclined" => {
                read("event", line)
            }
            _ => Ok(Event::Other(unknown)),
        }
    }

    fn print(&self, out: &mut String) {
        write(out, self);
    }
}

/// A line of a type that we do not know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unknown {
    /// The type.
    #[serde(rename = "type")]
    pub kind: String,
}

/// A game from the side of one of its players, as events and the list of running games tell it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GameEvent {
    /// The game with the player's side in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub full_id: Option<FullId>,
    /// The game.
    pub game_id: GameId,
    /// The game once more: events have it, the list of running games has not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<GameId>,
    /// The position.
    #[serde(default, deserialize_with = "nullable")]
    pub fen: String,
    /// The player's colour.
    pub color: Color,
    /// The last move; empty if there was none.
    #[serde(default, deserialize_with = "nullable")]
    pub last_move: String,
    /// Where the game comes from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<Source>,
    /// Where it stands.
    #[serde(default = "started", with = "status")]
    pub status: Status,
    /// What chess.
    #[serde(default, deserialize_with = "nullable")]
    pub variant: Variant,
    /// How fast.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub speed: Option<Speed>,
    /// Which rating it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub perf: Option<PerfKey>,
    /// The player's rating.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rating: Option<i32>,
    /// Is it about ratings?
    #[serde(default, deserialize_with = "nullable")]
    pub rated: bool,
    /// Has the player moved yet?
    #[serde(default, deserialize_with = "nullable")]
    pub has_moved: bool,
    /// Against whom.
    #[serde(default, deserialize_with = "nullable")]
    pub opponent: Opponent,
    /// Is the player to move?
    #[serde(default, deserialize_with = "nullable")]
    pub is_my_turn: bool,
    /// The player's clock.
    #[serde(default, with = "seconds::option", skip_serializing_if = "Option::is_none")]
    pub seconds_left: Option<Duration>,
    /// Who won.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub winner: Option<Color>,
    /// What the player's rating won or lost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rating_diff: Option<i32>,
    /// The arena it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tournament_id: Option<TournamentId>,
    /// The Swiss tournament it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub swiss_id: Option<SwissId>,
    /// Who may play it over the API.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compat: Option<Compat>,
}

fn started() -> Status {
    Status::Started
}

/// The other player.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Opponent {
    /// Who; nobody if it is the server's own engine, or anonymous.
    pub id: Option<UserId>,
    /// The name as its owner writes it.
    #[serde(default, deserialize_with = "nullable")]
    pub username: String,
    /// The rating.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rating: Option<i32>,
    /// What it won or lost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rating_diff: Option<i32>,
    /// The level of the server's own engine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ai: Option<u8>,
}

/// Which of the two ways to play over the API a game is open to.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Compat {
    /// For bots.
    #[serde(default, deserialize_with = "nullable")]
    pub bot: bool,
    /// For people at boards of their own.
    #[serde(default, deserialize_with = "nullable")]
    pub board: bool,
}

/// The reason's word in an event.
pub mod decline_key {
    use serde::{Deserializer, Serializer};

    use super::*;

    pub fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Option<DeclineReason>, D::Error> {
        Option::deserialize(d)
    }

    pub fn serialize<S: Serializer>(reason: &Option<DeclineReason>, s: S) -> Result<S::Ok, S::Error> {
        reason.as_ref().map(DeclineReason::key).serialize(s)
    }
}
