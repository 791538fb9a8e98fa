//! Moves by position: what was found before need not be searched again.

use tokio::sync::oneshot;

use crate::{
    engine::{Best, Judged, Score},
    game::{Line, Packed},
};

/// What a search found in a position.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The move.
    pub mv: Packed,
    /// What it is worth to the side to move.
    pub score: Score,
    /// In plies.
    pub depth: u16,
    /// The nodes that its time bought.
    pub effort: u64,
}

impl Found {
    /// As it stands in a decision.
    pub fn best(&self) -> Best {
        Best { mv: self.mv, score: self.score, depth: self.depth }
    }
}

/// What the cache makes of a position.
#[derive(Debug)]
pub enum Advice {
    /// Play this at once.
    Play(Found),
    /// Look at this first.
    Seed(Found),
    /// Nothing is in memory, but something may be on the disk: ask again when this is done.
    Later(oneshot::Receiver<()>),
    /// Nothing is known.
    Nothing,
}

/// See the module's comment. Cheap to clone; shared by all players.
#[derive(Clone, Debug, Default)]
pub struct Cache {}

impl Cache {
    /// Remembers nothing.
    pub fn off() -> Cache {
        Cache::default()
    }

    /// What to make of this position with a budget that buys so many nodes.
    pub fn consult<G: Judged>(&self, _line: &Line<G>, _price: u64) -> Advice {
        Advice::Nothing
    }

    /// Keeps what was found here, unless something better is known.
    pub fn keep<G: Judged>(&self, _position: &G, _found: Found) {}
}
