//! What happens in the arena, told to whoever cares to watch; nobody waits for a watcher.

use std::sync::Arc;

use tokio::sync::broadcast;

use zeitnot_rules::{ByColor, GameResult};

use super::{GameTag, Name, Standings};

/// News that may wait for a watcher; who is slower misses the oldest.
const QUEUE: usize = 256;

/// Something happened in a tournament.
#[derive(Clone, Debug)]
pub struct News {
    /// In which one.
    pub tournament: Name,
    /// What it was.
    pub event: Event,
}

/// What can happen.
#[derive(Clone, Debug)]
pub enum Event {
    /// A player came, or came back.
    Joined {
        /// Who.
        player: Name,
    },
    /// A player's connection is gone.
    Left {
        /// Who.
        player: Name,
    },
    /// A player stayed away for too long and forfeits what is left to play.
    Withdrawn {
        /// Who.
        player: Name,
    },
    /// Both players are ready, the first clock runs.
    GameStarted {
        /// The game, as `WATCH` wants it.
        game: GameTag,
        /// White and Black.
        names: ByColor<Name>,
    },
    /// A game is over.
    GameEnded {
        /// The game.
        game: GameTag,
        /// White and Black.
        names: ByColor<Name>,
        /// Who won; `None`: it was broken off.
        result: Option<GameResult>,
        /// Why it is over, in the protocol's words.
        reason: String,
        /// Half moves played.
        plies: usize,
    },
    /// A result has changed the table.
    Standings(Arc<Standings>),
    /// Everybody has met everybody.
    Over,
}

/// Where news are told.
pub(super) type Desk = broadcast::Sender<News>;

/// A desk that nobody watches yet.
pub(super) fn desk() -> Desk {
    broadcast::Sender::new(QUEUE)
}
