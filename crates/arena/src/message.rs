//! Messages between the tournaments and the fronts of their players, in no protocol's words.

use std::time::Duration;

use tokio::time::Instant;
use zeitnot_rules::{ByColor, Color, GameResult, MoveText, TimeControl};

use crate::{name::Name, referee::Cause, tag::GameTag};

/// Message to a player or a watcher.
#[derive(Clone, Debug)]
pub(crate) enum Notice {
    /// Text for people.
    Info(String),
    /// A game begins as soon as both players are ready.
    GamePaired { game: GameTag, names: ByColor<Name>, time_control: TimeControl },
    /// The game begins.
    GameStarted(GameView),
    /// The receiver is to move.
    YourMove(GameView),
    /// Regular update of the clocks.
    ClockUpdate(GameView),
    /// The present state, for a new watcher.
    GameState(GameView),
    /// A move was played.
    PlayerMoved { mover: Color, mv: MoveText, view: GameView },
    /// The game is over; players are told more than watchers.
    GameOver { game: GameTag, result: GameResult, cause: Cause, is_player: bool },
    /// The game does not take place, or has no result.
    GameAborted { reason: String },
    /// Chat.
    Said { sender: Name, text: String },
}

/// Public state of a game.
#[derive(Clone, Debug)]
pub(crate) struct GameView {
    pub(crate) game: GameTag,
    pub(crate) names: ByColor<Name>,
    pub(crate) left: ByColor<Duration>,
    pub(crate) fen: String,
}

/// Message from a player of a tournament. Games are named as the client wrote them.
#[derive(Clone, Debug)]
pub(crate) enum Request {
    /// The player is ready for a game.
    Ack { game: String },
    /// A move, whose bytes were read at this instant.
    Move { game: String, mv: String, read_at: Instant },
    /// The player resigns.
    Resign { game: String },
    /// Chat.
    Say { to: String, text: String },
}
