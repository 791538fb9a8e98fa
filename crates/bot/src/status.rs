//! Reports of the players, for the terminal and for measurements.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use zeitnot_engine::{Score, time::Budget};
use zeitnot_rules::{ByColor, Color, GameKind, GameResult, MoveText, TimeControl};
use zeitnot_seat::{Clocks, LookupSource};

/// Status of a game. Sent with `try_send`: a slow receiver misses some.
#[derive(Clone, Debug)]
pub struct GameStatus {
    /// Id of the game on its server.
    pub game: String,
    /// Side that we play.
    pub side: Color,
    /// Names of both players.
    pub names: ByColor<String>,
    /// Clocks as last read.
    pub clocks: Option<Clocks>,
    /// Side to move.
    pub to_move: Color,
    /// Plies played.
    pub ply: usize,
    /// The last move, as game records write it.
    pub last_move: Option<String>,
    /// Score (for us) and depth of our last search.
    pub eval: Option<(Score, u16)>,
    /// Origin of our last move.
    pub origin: Option<MoveOrigin>,
    /// Details of our last thought.
    pub thought: Option<ThoughtStatus>,
    /// Result in the words of the server, once the game is over.
    pub result: Option<String>,
    /// Result of the game as played, if there is one.
    pub outcome: Option<GameResult>,
    /// Moves, and the facts about the game that they do not change.
    pub line: Arc<GameLine>,
}

/// Moves of a game, and the facts about it that they do not change.
#[derive(Clone, Debug)]
pub struct GameLine {
    /// Name of the server.
    pub server: String,
    /// Rules of the game.
    pub kind: GameKind,
    /// Position at the start; `None`: the usual one.
    pub start: Option<String>,
    /// Time control, if the server reports it.
    pub time_control: Option<TimeControl>,
    /// Moves in coordinates.
    pub moves: Vec<MoveText>,
}

/// Details of the thought about one of our moves, so far or when it was played.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThoughtStatus {
    /// Plies before the move.
    pub ply: usize,
    /// Score for us and depth; `None` if nothing was searched.
    pub eval: Option<(Score, u16)>,
    /// Nodes searched and the time for them; `None` if the move was known.
    pub effort: Option<(u64, Duration)>,
    /// Expected moves, ours first.
    pub pv: Vec<MoveText>,
    /// Origin of the move; `None` while we think.
    pub origin: Option<MoveOrigin>,
}

/// A move that was sent, and its timing. Sent with `try_send`.
#[derive(Clone, Debug)]
pub struct Answer {
    /// Id of the game on its server.
    pub game: String,
    /// Side that we play.
    pub side: Color,
    /// Plies played before it.
    pub ply: usize,
    /// Origin of the move.
    pub origin: MoveOrigin,
    /// Time at which the request was read.
    pub asked_at: Instant,
    /// Limits, counted from then.
    pub budget: Budget,
    /// Time on our clock then; `None`: there is no clock.
    pub left: Option<Duration>,
    /// Time that is reserved for the network.
    pub lag: Duration,
    /// Time at which it was written to the socket.
    pub sent_at: Instant,
}

impl Answer {
    /// Returns the time from the request until the move was sent.
    pub fn spent(&self) -> Duration {
        self.sent_at.saturating_duration_since(self.asked_at)
    }

    /// Returns how long after its limit the move was sent, if the time that is reserved for the network does not cover
    /// that: at the limit it always leaves a little later.
    pub fn lateness(&self) -> Option<Duration> {
        let late = self.spent().saturating_sub(self.budget.hard);
        (late > self.lag).then_some(late)
    }
}

/// Origin of a move: what ended the thinking about it.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum MoveOrigin {
    /// The search ended.
    Searched,
    /// The hard limit was reached.
    HardLimit,
    /// The move was found while pondering.
    Pondered,
    /// It is the only legal move.
    Forced,
    /// There was no time to search.
    Instant,
    /// The cache.
    Cached,
    /// The opening book.
    Book,
    /// Tablebases on this machine.
    Syzygy,
    /// A server that was asked.
    Lookup(LookupSource),
    /// The search panicked or did not start.
    Failed,
}

impl MoveOrigin {
    /// Returns the name of the source, if the move does not come from a search of ours, now or before.
    pub fn source(self) -> Option<&'static str> {
        match self {
            MoveOrigin::Book => Some("book"),
            MoveOrigin::Syzygy => Some("syzygy"),
            MoveOrigin::Lookup(source) => Some(source.name()),
            _ => None,
        }
    }

    /// Returns the name for viewers.
    pub fn name(self) -> &'static str {
        match self {
            MoveOrigin::Searched | MoveOrigin::HardLimit | MoveOrigin::Instant | MoveOrigin::Failed => {
                "search"
            }
            MoveOrigin::Pondered => "ponder",
            MoveOrigin::Forced => "forced",
            MoveOrigin::Cached => "cache",
            MoveOrigin::Book => "book",
            MoveOrigin::Syzygy => "syzygy",
            MoveOrigin::Lookup(source) => source.name(),
        }
    }
}
