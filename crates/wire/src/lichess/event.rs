//! Event stream of an account.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{
    Challenge, FullId, GameId, Message, PerfKey, Source, Speed, Status, TournamentId, UserId, Variant,
    WireError,
    codec::{nullable, seconds},
    names::status,
    read, write,
};
use zeitnot_rules::Color;

/// Line of the event stream.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Event {
    /// Also sent for each running game when the stream opens.
    GameStart {
        game: Box<GameEvent>,
    },
    GameFinish {
        game: Box<GameEvent>,
    },
    /// To us or from us. Also sent for each open challenge when the stream opens.
    Challenge {
        challenge: Box<Challenge>,
        #[serde(skip_serializing_if = "Option::is_none")]
        compat: Option<Compat>,
    },
    ChallengeCanceled {
        challenge: Box<Challenge>,
    },
    ChallengeDeclined {
        challenge: Box<Challenge>,
    },
    /// Unknown type.
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

    fn to_line(&self) -> String {
        write(self)
    }
}

/// Line of an unknown type.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unknown {
    #[serde(rename = "type")]
    pub kind: String,
}

/// Game from one player's view, as in events and in the list of running games.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GameEvent {
    /// The game's id with the player's secret part.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub full_id: Option<FullId>,
    pub game_id: GameId,
    /// The same as `game_id`; missing in the list of running games.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<GameId>,
    #[serde(default, deserialize_with = "nullable")]
    pub fen: String,
    pub color: Color,
    /// Empty before the first move.
    #[serde(default, deserialize_with = "nullable")]
    pub last_move: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<Source>,
    #[serde(default = "started", with = "status")]
    pub status: Status,
    #[serde(default, deserialize_with = "nullable")]
    pub variant: Variant,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub speed: Option<Speed>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub perf: Option<PerfKey>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rating: Option<i32>,
    #[serde(default, deserialize_with = "nullable")]
    pub rated: bool,
    #[serde(default, deserialize_with = "nullable")]
    pub has_moved: bool,
    #[serde(default, deserialize_with = "nullable")]
    pub opponent: Opponent,
    #[serde(default, deserialize_with = "nullable")]
    pub is_my_turn: bool,
    #[serde(default, with = "seconds::option", skip_serializing_if = "Option::is_none")]
    pub seconds_left: Option<Duration>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub winner: Option<Color>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rating_diff: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tournament_id: Option<TournamentId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compat: Option<Compat>,
}

fn started() -> Status {
    Status::Started
}

/// Opponent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Opponent {
    /// `None` for the server's own engine and for anonymous users.
    pub id: Option<UserId>,
    #[serde(default, deserialize_with = "nullable")]
    pub username: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rating: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rating_diff: Option<i32>,
    /// Level of the server's own engine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ai: Option<u8>,
}

/// APIs that may play the game.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Compat {
    #[serde(default, deserialize_with = "nullable")]
    pub bot: bool,
    #[serde(default, deserialize_with = "nullable")]
    pub board: bool,
}
