//! The player: one task a game, from events to actions, always before the deadline.

use std::time::Duration;

use crate::{
    engine::Score,
    game::{BySide, Side},
    seat::Clocks,
};

/// The `[bot]` table of the configuration.
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Games at once; more are declined.
    pub max_games: usize,
    /// Time kept in hand for the way to the server and back.
    #[serde(with = "humantime_serde")]
    pub move_overhead: Duration,
}

impl Default for Config {
    fn default() -> Self {
        Config { max_games: 8, move_overhead: Duration::from_millis(50) }
    }
}

/// How one of our games stands, for those who watch. Sent with `try_send`: who is slow misses some.
#[derive(Clone, Debug)]
pub struct News {
    /// The server's name for the game.
    pub game: String,
    /// The side we play.
    pub side: Side,
    /// The names of both players.
    pub names: BySide<String>,
    /// The clocks as last heard of.
    pub clocks: Option<Clocks>,
    /// Whose clock runs.
    pub to_move: Side,
    /// Plies played.
    pub ply: usize,
    /// The last move, as game records write it.
    pub last_move: Option<String>,
    /// Our score (for us) and depth, once we have thought.
    pub eval: Option<(Score, u16)>,
    /// The server's words, once the game is over.
    pub result: Option<String>,
}
