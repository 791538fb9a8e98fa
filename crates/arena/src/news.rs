//! News of the arena for subscribers. Nobody waits for a slow one.

use std::sync::Arc;

use tokio::sync::broadcast;

use zeitnot_host::tag::GameTag;
use zeitnot_pairing::{Name, standings::Standings};
use zeitnot_rules::{ByColor, GameResult};

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
#[allow(missing_docs)]
pub enum Event {
    Joined(Name),
    /// A player's connection is gone.
    Left(Name),
    /// A player stayed away for too long and forfeits what is left to play.
    Withdrawn(Name),
    /// Both players are ready, the first clock runs.
    GameStarted {
        game: GameTag,
        names: ByColor<Name>,
    },
    /// A game is over, or aborted if there is no result.
    GameEnded {
        game: GameTag,
        names: ByColor<Name>,
        result: Option<GameResult>,
        reason: String,
        plies: usize,
    },
    /// All games are over; the final standings.
    Over(Arc<Standings>),
}

pub(crate) type NewsSender = broadcast::Sender<News>;

pub(crate) fn channel() -> NewsSender {
    broadcast::Sender::new(QUEUE)
}
