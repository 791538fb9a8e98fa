//! One side of one game, between a protocol (who knows bytes) and a player (who knows the game).
//!
//! Neither imports the other; both import this. A protocol opens a seat in the [`Lobby`] for each game,
//! tells [`Event`]s, and is told [`Action`]s. Dropping either end of a [`Seat`] ends the game's task.

use std::time::{Duration, Instant};

use tokio::{
    sync::{mpsc, oneshot},
    time::timeout,
};

use zeitnot_rules::{ByColor, Color, GameKind, MoveText, TimeControl};

/// A player that takes no event within this time has hung.
const PLAYER_TIMEOUT: Duration = Duration::from_secs(5);
/// A lobby that finds no player within this time has none.
const LOBBY_TIMEOUT: Duration = Duration::from_secs(5);

/// Which request for a move: an answer with an old one is never sent.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Turn(pub u32);

impl Turn {
    /// The request after this one.
    pub fn next(self) -> Turn {
        Turn(self.0.wrapping_add(1))
    }
}

/// Both clocks as they stood when the bytes were read.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Clocks {
    /// The time left on each clock.
    pub left: ByColor<Duration>,
    /// Time added after each move.
    pub increment: Duration,
    /// Moves until more time is added, where the server has such a rule; 1: each move has its own time.
    pub moves_to_go: Option<u32>,
    /// The server tells its clocks in steps of this.
    pub resolution: Duration,
    /// When the message came in: from here on our clock runs.
    pub read_at: Instant,
}

/// Facts a player needs before the first move.
#[derive(Clone, Debug)]
pub struct GameInfo {
    /// The server's name for the game, unique on that server.
    pub id: String,
    /// Which server: what is learned of its lag is kept under this name.
    pub server: String,
    /// By which rules.
    pub game: GameKind,
    /// Where it begins, in the game's own text form; `None`: the usual start.
    pub start: Option<String>,
    /// The side we play.
    pub side: Color,
    /// The names of both players.
    pub names: ByColor<String>,
    /// The time control, where the server tells it.
    pub time_control: Option<TimeControl>,
    /// Other facts about the game.
    pub details: GameDetails,
}

/// Facts about a game beside its rules; `None` where the server does not tell.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct GameDetails {
    /// Is it about ratings?
    pub rated: Option<bool>,
    /// Kind of opponent.
    pub opponent: Option<Opponent>,
    /// Is it played by post? Nobody waits days for a move, and so there is nothing to think about meanwhile.
    pub correspondence: bool,
}

/// Kind of opponent.
#[derive(Copy, Clone, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Opponent {
    /// Somebody.
    Human,
    /// A program.
    Bot,
}

/// Event of a game, from its protocol.
#[derive(Debug)]
pub enum Event {
    /// A move was played, by either side; the server is the one who says so.
    Moved(MoveText),
    /// The last so many moves are undone, ours among them; what was asked for before is moot.
    TakenBack {
        /// Number of plies, of both sides.
        plies: usize,
    },
    /// Position on the server's board. A player whose own line leads elsewhere begins anew from here.
    Board(String),
    /// Ours to move, until the clock runs out.
    YourTurn {
        /// Goes back with the answer.
        turn: Turn,
        /// `None`: there is no clock.
        clocks: Option<Clocks>,
    },
    /// The opponent offers a draw. It is answered with our next move: one that [offers a
    /// draw](Action::Play::offers_draw) agrees, any other declines.
    DrawOffered,
    /// News of the clocks without a request for a move.
    ClocksRead(Clocks),
    /// The server refused the move of this turn, and asks again; the clock runs on.
    Refused {
        /// The request that was answered.
        turn: Turn,
        /// In the server's words.
        why: String,
    },
    /// The answer of this turn was handed to the socket: with the next clock it tells the lag.
    Sent {
        /// The request that was answered.
        turn: Turn,
        /// When the write was done.
        at: Instant,
    },
    /// The game is over.
    Ended {
        /// In the server's words.
        result: String,
    },
}

/// Action of a player.
#[derive(Debug, PartialEq, Eq)]
pub enum Action {
    /// The answer to [`Event::YourTurn`].
    Play {
        /// The request that is answered.
        turn: Turn,
        /// A legal move in coordinates.
        mv: MoveText,
        /// Offers a draw with the move, or agrees to the opponent's offer. Where the server knows no draws
        /// by agreement it is the move alone.
        offers_draw: bool,
        /// Evaluation of the search behind it, if there was one.
        eval: Option<Eval>,
    },
    /// We give up; or there is no move to be played, by the rules or because the server refused them all.
    Resign {
        /// The request that is not answered.
        turn: Turn,
    },
}

/// Evaluation of a player's position, for records and chat.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Eval {
    /// For the player.
    pub score: EvalScore,
    /// Depth of the search, in plies.
    pub depth: u16,
}

/// Value of a position to one side.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum EvalScore {
    /// So much.
    Centipawns(i32),
    /// That side mates in so many moves; below zero: it is mated.
    Mate(i16),
}

/// The protocol's end of a seat.
#[derive(Debug)]
pub struct Seat {
    /// Name of the engine that plays, for records and chat.
    pub engine: String,
    /// To the player.
    pub events: mpsc::Sender<Event>,
    /// From the player.
    pub actions: mpsc::Receiver<Action>,
}

/// The player left the game, or does not answer.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("the player left the game")]
pub struct PlayerGone;

impl Seat {
    /// Sends an event to the player.
    ///
    /// # Errors
    /// [`PlayerGone`] if the player does not take it in time.
    pub async fn tell(&self, event: Event) -> Result<(), PlayerGone> {
        self.events.send_timeout(event, PLAYER_TIMEOUT).await.map_err(|_| PlayerGone)
    }
}

/// Where protocols bring their games. Cloned to whoever needs it; the actor behind it owns the state.
#[derive(Clone, Debug)]
pub struct Lobby {
    tx: mpsc::Sender<OpenSeat>,
}

/// A protocol asks for a player.
#[derive(Debug)]
pub struct OpenSeat {
    /// The game to be played.
    pub info: GameInfo,
    /// Where the seat, or the refusal, goes.
    pub reply: oneshot::Sender<Result<Seat, Declined>>,
}

/// No player for this game.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("declined: {0}")]
pub struct Declined(pub String);

impl Lobby {
    /// A lobby, and the end at which its actor hears of games.
    pub fn channel(capacity: usize) -> (Lobby, mpsc::Receiver<OpenSeat>) {
        let (tx, rx) = mpsc::channel(capacity);
        (Lobby { tx }, rx)
    }

    /// Asks for a player for this game.
    ///
    /// # Errors
    /// [`Declined`] with the reason: no room, a position that the rules refuse, shutting down, or no answer in time.
    pub async fn open(&self, info: GameInfo) -> Result<Seat, Declined> {
        let (reply, answer) = oneshot::channel();
        let closed = || Declined("shutting down".into());
        let opened = async {
            self.tx.send(OpenSeat { info, reply }).await.map_err(|_| closed())?;
            answer.await.map_err(|_| closed())?
        };
        timeout(LOBBY_TIMEOUT, opened)
            .await
            .unwrap_or_else(|_| Err(Declined("no player answered in time".into())))
    }
}
