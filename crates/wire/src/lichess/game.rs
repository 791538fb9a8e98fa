//! Stream of one game.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use zeitnot_rules::{ByColor, Color, MoveText, TimeControl};

use super::{
    GameId, Message, PerfName, Room, Speed, Status, Title, TournamentId, Unknown, UserId, Variant, WireError,
    codec::{clock, is_default, millis, nullable, seconds, timestamp},
    read, shorten, write,
};

/// Line of a game stream.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum GameMessage {
    /// First line, also after a reconnection.
    GameFull(Box<GameFull>),
    /// Sent after each move, offer and gift of time, and at the end.
    GameState(GameState),
    /// Chat message in a stream.
    ChatLine(ChatLine),
    /// The opponent left or came back.
    OpponentGone(OpponentGone),
    /// The game is over, and nothing else is told. Only [`super::pychess`] has it.
    #[serde(skip_serializing)]
    GameEnd,
    /// Unknown type.
    Other(Unknown),
}

impl Message for GameMessage {
    fn parse(line: &str) -> Result<Self, WireError> {
        let unknown: Unknown = read("game's line", line)?;
        Ok(match unknown.kind.as_str() {
            "gameFull" => GameMessage::GameFull(read("gameFull", line)?),
            "gameState" => GameMessage::GameState(read("gameState", line)?),
            "chatLine" => GameMessage::ChatLine(read("chatLine", line)?),
            "opponentGone" => GameMessage::OpponentGone(read("opponentGone", line)?),
            _ => GameMessage::Other(unknown),
        })
    }

    fn to_line(&self) -> String {
        write(self)
    }
}

/// Complete game.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "gameFull", rename_all = "camelCase")]
pub struct GameFull {
    pub id: GameId,
    #[serde(default, deserialize_with = "nullable")]
    pub variant: Variant,
    #[serde(default, with = "clock", skip_serializing_if = "Option::is_none")]
    pub clock: Option<TimeControl>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub days_per_turn: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub speed: Option<Speed>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub perf: Option<PerfName>,
    #[serde(default, deserialize_with = "nullable")]
    pub rated: bool,
    /// Since 1970.
    #[serde(default, with = "timestamp", skip_serializing_if = "Option::is_none")]
    pub created_at: Option<Duration>,
    #[serde(default, deserialize_with = "nullable")]
    pub white: Player,
    #[serde(default, deserialize_with = "nullable")]
    pub black: Player,
    /// FEN, or `startpos`.
    #[serde(default, deserialize_with = "nullable")]
    pub initial_fen: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tournament_id: Option<TournamentId>,
    pub state: GameState,
}

impl GameFull {
    /// Returns the FEN of the initial position, unless it is the standard one.
    pub fn start(&self) -> Option<&str> {
        (!matches!(self.initial_fen.as_str(), "" | "startpos")).then_some(&self.initial_fen)
    }

    pub fn players(&self) -> ByColor<&Player> {
        ByColor([&self.white, &self.black])
    }
}

/// Player: a user, the server's own engine, or, with neither `id` nor `ai_level`, an anonymous user.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Player {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<UserId>,
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "String::is_empty")]
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<Title>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rating: Option<i32>,
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub provisional: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ai_level: Option<u8>,
}

/// State of a game.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "gameState", rename_all = "camelCase")]
pub struct GameState {
    /// All moves from the start, separated by spaces; see [`GameState::played`].
    #[serde(default, deserialize_with = "nullable")]
    pub moves: String,
    #[serde(default, with = "millis::option", skip_serializing_if = "Option::is_none")]
    pub wtime: Option<Duration>,
    #[serde(default, with = "millis::option", skip_serializing_if = "Option::is_none")]
    pub btime: Option<Duration>,
    #[serde(default, with = "millis")]
    pub winc: Duration,
    #[serde(default, with = "millis")]
    pub binc: Duration,
    pub status: Status,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub winner: Option<Color>,
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub wdraw: bool,
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub bdraw: bool,
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub wtakeback: bool,
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub btakeback: bool,
    /// Time limit of the first move.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expiration: Option<Expiration>,
}

impl GameState {
    /// Iterates over the moves. Text that is longer than any move is an error.
    pub fn played(&self) -> impl Iterator<Item = Result<MoveText, WireError>> {
        self.moves.split_ascii_whitespace().map(|text| {
            let error = || WireError::Field { message: "gameState", expected: "a move", got: shorten(text) };
            MoveText::new(text).ok_or_else(error)
        })
    }

    pub fn left(&self) -> ByColor<Option<Duration>> {
        ByColor([self.wtime, self.btime])
    }

    pub fn increments(&self) -> ByColor<Duration> {
        ByColor([self.winc, self.binc])
    }

    /// Returns which players offer a draw.
    pub fn draw_offers(&self) -> ByColor<bool> {
        ByColor([self.wdraw, self.bdraw])
    }

    /// Returns which players propose a takeback.
    pub fn takebacks(&self) -> ByColor<bool> {
        ByColor([self.wtakeback, self.btakeback])
    }
}

/// Time limit of a first move.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Expiration {
    /// Elapsed time.
    #[serde(rename = "idleMillis", default, with = "millis")]
    pub idle: Duration,
    /// Remaining time.
    #[serde(rename = "millisToMove", with = "millis")]
    pub left: Duration,
}

/// Chat message in a stream.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "chatLine")]
pub struct ChatLine {
    pub room: Room,
    /// `lichess` is the server.
    #[serde(default, deserialize_with = "nullable")]
    pub username: String,
    #[serde(default, deserialize_with = "nullable")]
    pub text: String,
}

/// The opponent left or came back.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "opponentGone", rename_all = "camelCase")]
pub struct OpponentGone {
    pub gone: bool,
    /// Time until a win can be claimed.
    #[serde(
        rename = "claimWinInSeconds",
        default,
        with = "seconds::option",
        skip_serializing_if = "Option::is_none"
    )]
    pub claim_win_in: Option<Duration>,
}
