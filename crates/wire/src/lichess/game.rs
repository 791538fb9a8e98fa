//! A game's stream: the game in full at first, then each change, chat, and who is away.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use zeitnot_rules::Color;
use zeitnot_rules::{ByColor, MoveText, TimeControl};

use super::{
    GameId, Message, PerfName, Room, Speed, Status, Title, TournamentId, Unknown, UserId, Variant, WireError,
    codec::{clock, is_default, millis, nullable, seconds},
    read, shorten, write,
};

/// A line of a game's stream.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum GameMessage {
    /// The first line, also after a reconnection.
    GameFull(Box<GameFull>),
    /// After each move, offer and given time, and at the end.
    GameState(GameState),
    /// Chat.
    ChatLine(ChatLine),
    /// The opponent leaves or comes back.
    OpponentGone(OpponentGone),
    /// Something new.
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

    fn print(&self, out: &mut String) {
        write(out, self);
    }
}

/// All there is to know of a game.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "gameFull", rename_all = "camelCase")]
pub struct GameFull {
    /// The game.
    pub id: GameId,
    /// What chess.
    #[serde(default, deserialize_with = "nullable")]
    pub variant: Variant,
    /// The clocks, if the game has any.
    #[serde(default, with = "clock", skip_serializing_if = "Option::is_none")]
    pub clock: Option<TimeControl>,
    /// Days for a move in a correspondence game.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub days_per_turn: Option<u32>,
    /// How fast.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub speed: Option<Speed>,
    /// Which rating it is about, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub perf: Option<PerfName>,
    /// Is it about ratings?
    #[serde(default, deserialize_with = "nullable")]
    pub rated: bool,
    /// When it was made, since 1970.
    #[serde(default, with = "millis::option", skip_serializing_if = "Option::is_none")]
    pub created_at: Option<Duration>,
    /// Who has White.
    #[serde(default, deserialize_with = "nullable")]
    pub white: Player,
    /// Who has Black.
    #[serde(default, deserialize_with = "nullable")]
    pub black: Player,
    /// A FEN, or `startpos`.
    #[serde(default, deserialize_with = "nullable")]
    pub initial_fen: String,
    /// The arena it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tournament_id: Option<TournamentId>,
    /// Where it stands now.
    pub state: GameState,
}

impl GameFull {
    /// The FEN, unless the game begins as usual.
    pub fn start(&self) -> Option<&str> {
        (!matches!(self.initial_fen.as_str(), "" | "startpos")).then_some(&self.initial_fen)
    }

    /// Both players.
    pub fn players(&self) -> ByColor<&Player> {
        ByColor([&self.white, &self.black])
    }
}

/// Who plays: a user, the server's own engine, or (if neither `id` nor `ai_level` is there) anybody.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Player {
    /// Who.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<UserId>,
    /// The name as its owner writes it.
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// `BOT`, or what people earn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<Title>,
    /// The rating for this kind of game.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rating: Option<i32>,
    /// Is the rating uncertain?
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub provisional: bool,
    /// The level of the server's own engine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ai_level: Option<u8>,
}

/// What changes in a game.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "gameState", rename_all = "camelCase")]
pub struct GameState {
    /// All moves from the start, parted by spaces; see [`GameState::played`].
    #[serde(default, deserialize_with = "nullable")]
    pub moves: String,
    /// White's clock.
    #[serde(default, with = "millis::option", skip_serializing_if = "Option::is_none")]
    pub wtime: Option<Duration>,
    /// Black's clock.
    #[serde(default, with = "millis::option", skip_serializing_if = "Option::is_none")]
    pub btime: Option<Duration>,
    /// White's increment.
    #[serde(default, with = "millis")]
    pub winc: Duration,
    /// Black's increment.
    #[serde(default, with = "millis")]
    pub binc: Duration,
    /// Where the game stands.
    pub status: Status,
    /// Who won.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub winner: Option<Color>,
    /// White offers a draw.
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub wdraw: bool,
    /// Black offers a draw.
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub bdraw: bool,
    /// White would like to take back a move.
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub wtakeback: bool,
    /// Black would like to take back a move.
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub btakeback: bool,
    /// How long the first move may still take.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expiration: Option<Expiration>,
    /// The next game of the two.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rematch: Option<GameId>,
}

impl GameState {
    /// The moves, one by one.
    ///
    /// # Errors
    /// [`WireError::Field`] for text that is longer than any move.
    pub fn played(&self) -> impl Iterator<Item = Result<MoveText, WireError>> {
        self.moves.split_ascii_whitespace().map(|text| {
            let error = || WireError::Field { message: "gameState", expected: "a move", got: shorten(text) };
            MoveText::new(text).ok_or_else(error)
        })
    }

    /// Both clocks.
    pub fn left(&self) -> ByColor<Option<Duration>> {
        ByColor([self.wtime, self.btime])
    }

    /// Both increments.
    pub fn increments(&self) -> ByColor<Duration> {
        ByColor([self.winc, self.binc])
    }

    /// Who offers a draw.
    pub fn draw_offers(&self) -> ByColor<bool> {
        ByColor([self.wdraw, self.bdraw])
    }

    /// Who would like to take back a move.
    pub fn takebacks(&self) -> ByColor<bool> {
        ByColor([self.wtakeback, self.btakeback])
    }
}

/// A first move that is awaited.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Expiration {
    /// For so long already.
    #[serde(rename = "idleMillis", default, with = "millis")]
    pub idle: Duration,
    /// For so long still.
    #[serde(rename = "millisToMove", with = "millis")]
    pub left: Duration,
}

/// Chat.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "chatLine")]
pub struct ChatLine {
    /// Who reads it.
    pub room: Room,
    /// Who says it; `lichess` is the server.
    #[serde(default, deserialize_with = "nullable")]
    pub username: String,
    /// What.
    #[serde(default, deserialize_with = "nullable")]
    pub text: String,
}

/// Chat as it is told on request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChatEntry {
    /// What.
    pub text: String,
    /// Who says it.
    pub user: String,
}

/// The opponent leaves or comes back.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "opponentGone", rename_all = "camelCase")]
pub struct OpponentGone {
    /// Away?
    pub gone: bool,
    /// When the game can be claimed.
    #[serde(
        rename = "claimWinInSeconds",
        default,
        with = "seconds::option",
        skip_serializing_if = "Option::is_none"
    )]
    pub claim_win_in: Option<Duration>,
}
