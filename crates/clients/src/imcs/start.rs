//! Games that begin, and games that may go on.

use std::time::Duration;

use zeitnot_rules::Color;

use crate::game_clock::GameClock;

#[derive(Clone, Debug)]
pub(super) struct Start {
    pub(super) game: u64,
    pub(super) color: Color,
    pub(super) yours: Duration,
    pub(super) theirs: Duration,
    pub(super) opponent: Option<String>,
    /// It goes on from a board that the server will show.
    pub(super) is_resumed: bool,
}

/// Game whose connection was lost. Our arena lets a player take it up again.
#[derive(Debug)]
pub(super) struct LostGame {
    pub(super) game: u64,
    pub(super) color: Color,
    pub(super) clock: GameClock,
}
