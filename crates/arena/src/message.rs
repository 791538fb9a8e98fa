//! Messages between games and tournaments and the fronts of their players, in no protocol's words.

use std::{sync::Arc, time::Duration};

use tokio::time::Instant;
use zeitnot_host::{game_info::GameInfo, tag::GameTag};
use zeitnot_pairing::Name;
use zeitnot_referee::{Cause, PlayedMove};
use zeitnot_rules::{ByColor, Color, GameKind, GameResult, TimeControl};

#[derive(Clone, Debug)]
pub(crate) enum Notice {
    Info(String),
    /// A game begins as soon as both players are ready.
    GamePaired {
        game: GameTag,
        kind: GameKind,
        names: ByColor<Name>,
        time_control: TimeControl,
    },
    GameStarted(GameView),
    /// The receiver is to move.
    YourMove(GameView),
    ClockUpdate(GameView),
    /// The present state, for a new watcher.
    GameState(GameView),
    PlayerMoved {
        mover: Color,
        made: Arc<PlayedMove>,
        view: GameView,
    },
    /// The game is over; players are told more than watchers.
    GameOver {
        game: GameTag,
        result: GameResult,
        cause: Cause,
        is_player: bool,
    },
    /// The game does not take place, or has no result.
    GameAborted {
        reason: String,
    },
    Said {
        sender: Name,
        text: String,
    },
}

#[derive(Clone, Debug)]
pub(crate) struct GameView {
    pub(crate) game: GameTag,
    pub(crate) info: Arc<GameInfo>,
    pub(crate) left: ByColor<Duration>,
    pub(crate) fen: String,
    /// Side to move; `None` once the game is over, which is told later.
    pub(crate) turn: Option<Color>,
}

/// Message from a player of a tournament. Games are named as the client wrote them.
#[derive(Clone, Debug)]
pub(crate) enum Request {
    Ack {
        game: String,
    },
    /// A move, and when its line was read.
    Move {
        game: String,
        mv: String,
        read_at: Instant,
    },
    Resign {
        game: String,
        read_at: Instant,
    },
    Say {
        to: String,
        text: String,
    },
}
