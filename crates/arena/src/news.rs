//! News of the arena for subscribers. Nobody waits for a slow one.

use std::sync::Arc;

use tokio::sync::broadcast;

use zeitnot_rules::{ByColor, GameResult};

use crate::{name::Name, tag::GameTag, tournament::standings::Standings};

/// News that may wait for a subscriber; a slower one misses the oldest.
const QUEUE: usize = 256;

/// Event in a tournament.
#[derive(Clone, Debug)]
pub struct News {
    /// Name of the tournament.
    pub tournament: Name,
    /// The event.
    pub event: Event,
}

/// Event in a tournament.
#[derive(Clone, Debug)]
pub enum Event {
    /// A player came, or came back.
    Joined {
        /// The player.
        player: Name,
    },
    /// A player's connection is gone.
    Left {
        /// The player.
        player: Name,
    },
    /// A player stayed away for too long and forfeits what is left to play.
    Withdrawn {
        /// The player.
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
        /// Result; `None` if the game was aborted.
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

/// Sender of news.
pub(crate) type NewsSender = broadcast::Sender<News>;

/// Creates a sender without subscribers.
pub(crate) fn channel() -> NewsSender {
    broadcast::Sender::new(QUEUE)
}
