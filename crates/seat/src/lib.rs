//! One side of one game, between a protocol, which knows bytes, and a player, which knows the game.
//!
//! Neither imports the other; both import this crate. A protocol opens a [`Seat`] in the [`Lobby`] for each game, sends
//! [`Event`]s and receives [`Action`]s. Dropping either end of a seat ends the task of the game.

#[cfg(test)]
#[macro_use]
extern crate zeitnot_testing;

use std::time::{Duration, Instant};

use tokio::sync::mpsc;
use zeitnot_rules::{ByColor, Color, GameKind, GameResult, MoveText, TimeControl};

mod lobby;
mod lookup;
mod news;
mod open_request;
mod orders;
mod seats;

pub use lobby::{Lobby, OpenSeat};
pub use lookup::{
    LookupSource, MoveQuality, PositionLookup, PositionQuery, Suggested, Suggestion, Suggestions,
};
pub use news::{ChallengeNews, ChallengeState, News, OwnChallenge};
pub use open_request::{OpenRequest, Turn};
pub use orders::{
    BlockOrder, BotColor, CLIENT_TIMEOUT, ChallengeOrder, JoinOrder, Order, OrderAnswer, OrderError,
    OrderKind, OrderQueue, OrderRequest, Orders, PAGE_TIMEOUT,
};
pub use seats::{Declined, Reservation, SeatChanges, Seats};

/// Time within which a player takes an event; one that does not hangs.
const PLAYER_TIMEOUT: Duration = Duration::from_secs(5);

/// Both clocks when the bytes were read.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Clocks {
    /// Time left on each clock.
    pub left: ByColor<Duration>,
    /// Time added after each move.
    pub increment: Duration,
    /// Moves until more time is added, on servers with such a rule; 1: each move has its own time.
    pub moves_to_go: Option<u32>,
    /// Step of the server's clocks.
    pub resolution: Duration,
    /// Time at which the message was read: from then on our clock runs.
    pub read_at: Instant,
}

/// Facts that a player needs before the first move.
#[derive(Clone, Debug)]
pub struct GameInfo {
    /// Id of the game, unique on its server.
    pub id: String,
    /// Name of the server, under which its lag is stored.
    pub server: String,
    /// Rules of the game.
    pub game: GameKind,
    /// Start position in the game's text form; `None`: the usual one.
    pub start: Option<String>,
    /// Side that we play.
    pub side: Color,
    /// Names of both players.
    pub names: ByColor<String>,
    /// Time control, if the server reports it.
    pub time_control: Option<TimeControl>,
    /// Other facts about the game.
    pub details: GameDetails,
}

/// Facts about a game beside its rules; `None` where the server does not report them.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct GameDetails {
    /// Whether the game is rated.
    pub rated: Option<bool>,
    /// Kind of opponent.
    pub opponent: Option<Opponent>,
    /// Rating of the opponent.
    pub opponent_rating: Option<i32>,
    /// Whether it is a correspondence game, with days for a move: the player does not ponder.
    pub correspondence: bool,
}

/// Kind of opponent.
#[derive(Copy, Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Opponent {
    /// A person.
    Human,
    /// A program.
    Bot,
}

/// Event of a game, from its protocol.
#[derive(Debug)]
pub enum Event {
    /// Either side has moved, as reported by the server.
    Moved(MoveText),
    /// The opponent has moved, and the server does not say what. Only the end of the game follows.
    MovedUnseen,
    /// The opponent's name, where the server tells it only during the game.
    OpponentNamed(String),
    /// The last moves are undone, of both sides. An open request is void.
    TakenBack {
        /// Number of plies, of both sides.
        plies: usize,
    },
    /// Position on the server's board. A player whose board differs continues from this one.
    Board(String),
    /// A move is requested.
    YourTurn {
        /// Number of the request, to be returned with the answer.
        turn: Turn,
        /// `None`: there is no clock.
        clocks: Option<Clocks>,
    },
    /// The opponent offers a draw. Our next move answers it: one that [offers a draw](Action::Play::offers_draw)
    /// accepts, any other declines.
    DrawOffered,
    /// Clocks without a request for a move.
    ClocksRead(Clocks),
    /// The server refused our move, and requests another; the clock runs on.
    Refused {
        /// Number of the request that was answered.
        turn: Turn,
        /// Reason in the words of the server.
        why: String,
    },
    /// Our answer was written to the socket. With the next clocks this gives the lag.
    Sent {
        /// Number of the request that was answered.
        turn: Turn,
        /// Time at which the write was done.
        at: Instant,
    },
    /// The game is over.
    Ended {
        /// Result in the words of the server.
        result: String,
        /// Result of the game as played; `None` if it was aborted, goes on without the player, or is unknown.
        outcome: Option<GameResult>,
    },
}

/// Action of a player.
#[derive(Debug, PartialEq, Eq)]
pub enum Action {
    /// Answer to [`Event::YourTurn`].
    Play {
        /// Number of the request.
        turn: Turn,
        /// A legal move in coordinates.
        mv: MoveText,
        /// Whether the move offers a draw, or accepts the opponent's offer. Servers without draws by agreement ignore
        /// it.
        offers_draw: bool,
        /// Evaluation by the search, if there was one.
        eval: Option<Eval>,
    },
    /// Resignation. Also sent if there is no legal move, or the server refused all of them.
    Resign {
        /// Number of the request.
        turn: Turn,
    },
    /// There is nobody to play on, as the engine has failed. The game is aborted if that is possible, and resigned
    /// otherwise.
    Leave {
        /// Number of the request.
        turn: Turn,
    },
}

/// Evaluation of a player's position, for records and chat.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Eval {
    /// Score for the player.
    pub score: EvalScore,
    /// Depth of the search, in plies.
    pub depth: u16,
}

/// Value of a position to one side.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum EvalScore {
    /// In centipawns.
    Centipawns(i32),
    /// Moves until that side mates; below zero: until it is mated.
    Mate(i16),
}

/// Protocol's end of a seat.
#[derive(Debug)]
pub struct Seat {
    /// Name of the engine, for records and chat.
    pub engine: String,
    /// Events to the player.
    pub events: mpsc::Sender<Event>,
    /// Actions of the player.
    pub actions: mpsc::Receiver<Action>,
}

/// The player has left the game, or hangs.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("the player has left the game")]
pub struct PlayerGone;

impl Seat {
    /// Sends an event to the player.
    ///
    /// # Errors
    /// [`PlayerGone`] if the player does not take the event in time.
    pub async fn send(&self, event: Event) -> Result<(), PlayerGone> {
        self.events.send_timeout(event, PLAYER_TIMEOUT).await.map_err(|_| PlayerGone)
    }
}
