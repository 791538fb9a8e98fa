//! Games with days for a move, or with all the time in the world: the `correspondence` table.

use std::{
    num::{NonZeroU32, NonZeroUsize},
    time::Duration,
};

use serde::Deserialize;

/// How such games are played. Between two moves they sleep: no stream, no player, nothing but an entry in a table.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// At once, asleep or not, beside those with clocks.
    pub max_games: NonZeroU32,
    /// So many of them may be awake, with a stream and a player each.
    pub at_once: NonZeroUsize,
    /// The time for a move.
    #[serde(with = "humantime_serde")]
    pub move_time: Duration,
    /// An opponent who takes longer is not waited for: the game sleeps.
    #[serde(with = "humantime_serde")]
    pub away: Duration,
    /// How often to look in which of the sleeping games it is our turn.
    #[serde(with = "humantime_serde")]
    pub checkin: Duration,
}

impl Default for Config {
    fn default() -> Self {
        const {
            Config {
                max_games: NonZeroU32::new(50).unwrap(),
                at_once: NonZeroUsize::new(2).unwrap(),
                move_time: Duration::from_secs(60),
                away: Duration::from_secs(180),
                checkin: Duration::from_secs(300),
            }
        }
    }
}
