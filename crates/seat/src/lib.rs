//! One side of one game, between a protocol, which knows bytes, and a player, which knows the game.
//!
//! Neither imports the other; both import this crate. A protocol opens a [`Seat`] in the [`Lobby`] for each game, sends
//! [`Event`]s and receives [`Action`]s. Dropping either end of a seat ends the task of the game.

#[cfg(test)]
#[macro_use]
extern crate zeitnot_testing;

use std::time::{Duration, Instant};

use tokio::{
    sync::{mpsc, oneshot},
    time::timeout,
};

use zeitnot_rules::{ByColor, Color, GameKind, GameResult, MoveText, TimeControl};

mod lookup;
mod open_request;
mod orders;
mod seats;

pub use lookup::{LookupSource, PositionLookup, PositionQuery, Suggestion, Suggestions};
pub use open_request::{OpenRequest, Turn};
pub use orders::{
    BlockOrder, BotColor, CLIENT_TIMEOUT, ChallengeOrder, JoinOrder, Order, OrderAnswer, OrderError,
    OrderKind, OrderQueue, OrderRequest, Orders, PAGE_TIMEOUT,
};
pub use seats::{Reservation, SeatChanges, Seats};

/// Time within which a player takes an event; one that does not hangs.
const PLAYER_TIMEOUT: Duration = Duration::from_secs(5);
/// Time within which a lobby finds a player.
const LOBBY_TIMEOUT: Duration = Duration::from_secs(5);

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

/// Handle of the actor that finds players for games. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Lobby {
    tx: mpsc::Sender<OpenSeat>,
    news: Option<mpsc::Sender<News>>,
    seats: Seats,
}

/// News of a client, for viewers.
#[derive(Clone, Debug)]
pub enum News {
    /// It has answered a challenge.
    Answered(ChallengeNews),
    /// It challenges somebody, or that came to an end.
    Challenging(OwnChallenge),
}

/// Challenge of ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnChallenge {
    /// Name of the server.
    pub server: String,
    /// Id on the server, once it has one.
    pub id: Option<String>,
    /// Challenged player.
    pub to: String,
    /// Game and time, for people.
    pub terms: String,
    /// Whether it is open.
    pub state: ChallengeState,
}

/// State of a challenge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChallengeState {
    /// No answer yet.
    Open,
    /// It became a game.
    Accepted,
    /// It became no game, for this reason.
    Ended(String),
}

/// Challenge that a client has answered.
#[derive(Clone, Debug)]
pub struct ChallengeNews {
    /// Name of the server.
    pub server: String,
    /// Challenger.
    pub by: String,
    /// Game and time, for people.
    pub terms: String,
    /// Reason why it was declined; `None`: it was accepted.
    pub declined: Option<String>,
}

/// A protocol's request for a player.
#[derive(Debug)]
pub struct OpenSeat {
    /// Game to be played.
    pub info: GameInfo,
    /// Receives the seat, or the refusal.
    pub reply: oneshot::Sender<Result<Seat, Declined>>,
    /// Reservation that the player holds until it has ended.
    pub reservation: Reservation,
}

/// Reason why a game gets no player.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("declined: {0}")]
pub struct Declined(pub String);

impl Lobby {
    /// Creates a lobby, and the receiver of its actor.
    pub fn channel(capacity: usize) -> (Lobby, mpsc::Receiver<OpenSeat>) {
        let (tx, rx) = mpsc::channel(capacity);
        (Lobby { tx, news: None, seats: Seats::new(usize::MAX) }, rx)
    }

    /// Counts the games by these seats.
    #[must_use]
    pub fn with_seats(self, seats: Seats) -> Lobby {
        Lobby { seats, ..self }
    }

    /// Returns the seats, to reserve one before a game is agreed on.
    pub fn seats(&self) -> &Seats {
        &self.seats
    }

    /// Reports challenges to this receiver. A slow one misses some.
    #[must_use]
    pub fn with_news(self, news: mpsc::Sender<News>) -> Lobby {
        Lobby { news: Some(news), ..self }
    }

    /// Reports news to viewers, if there are any.
    pub fn report(&self, news: News) {
        if let Some(viewers) = &self.news {
            let _ = viewers.try_send(news);
        }
    }

    /// Requests a player for a game.
    ///
    /// # Errors
    /// [`Declined`] if there are too many games, the position is invalid, the bot shuts down, or does not answer in
    /// time.
    pub async fn open(&self, info: GameInfo) -> Result<Seat, Declined> {
        self.open_reserved(info, self.reserve()?).await
    }

    /// Reserves a seat.
    ///
    /// # Errors
    /// [`Declined`] if all are taken.
    pub fn reserve(&self) -> Result<Reservation, Declined> {
        self.seats.reserve().ok_or_else(|| self.seats.full())
    }

    /// Requests a player for a game whose seat is reserved.
    ///
    /// # Errors
    /// [`Declined`], as for [`Lobby::open`].
    pub async fn open_reserved(&self, info: GameInfo, reservation: Reservation) -> Result<Seat, Declined> {
        let (reply, answer) = oneshot::channel();
        let closed = || Declined("shutting down".into());
        let opened = async {
            self.tx.send(OpenSeat { info, reply, reservation }).await.map_err(|_| closed())?;
            answer.await.map_err(|_| closed())?
        };
        timeout(LOBBY_TIMEOUT, opened)
            .await
            .unwrap_or_else(|_| Err(Declined("no player answered in time".into())))
    }
}
