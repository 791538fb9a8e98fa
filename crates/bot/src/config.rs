//! The `[bot]` table of the configuration.

use std::time::Duration;

use serde::{Deserialize, Deserializer, de::Error};

use zeitnot_engine::{book::BookConfig, time::Budget};

use crate::{choice, lag, policy, sources::SourceOrder};

/// The `[bot]` table.
#[derive(Clone, Debug, PartialEq, Deserialize)]
// `remote` turns the derived code into a plain function, which the checking one below calls.
#[serde(deny_unknown_fields, default, remote = "Self")]
pub struct Config {
    /// Games at once; more are declined.
    pub max_games: usize,
    /// Time reserved for the network until the lag is measured.
    #[serde(with = "humantime_serde")]
    pub move_overhead: Duration,
    /// Minimum time reserved for the network.
    #[serde(with = "humantime_serde")]
    pub min_lag: Duration,
    /// Maximum time reserved for the network.
    #[serde(with = "humantime_serde")]
    pub max_lag: Duration,
    /// Maximum time for a move, whatever the clock shows: for games with days for a move.
    #[serde(with = "humantime_serde")]
    pub max_move_time: Duration,
    /// Time for a move in a game without clocks.
    #[serde(with = "humantime_serde")]
    pub untimed_move_time: Duration,
    /// Share of each clock that is used; below 1 it is a handicap.
    #[serde(deserialize_with = "share")]
    pub time_share: f64,
    /// Whether moves that are known at once are held back for a while, as if we had thought.
    pub fake_think_time: bool,
    /// Cores for pondering, one a game; 0: none.
    pub ponder: usize,
    /// Sources of moves that go before the search, by rank.
    pub sources: SourceOrder,
    /// Opening books.
    pub book: BookConfig,
    /// When a draw is offered or accepted.
    pub draw: policy::Draw,
    /// When a game is resigned.
    pub resign: policy::Resign,
    /// Engines by game: the first rule that matches decides; without one, `[engine]` plays.
    pub choose: Vec<choice::Rule>,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            max_games: 8,
            move_overhead: Duration::from_millis(50),
            min_lag: Duration::from_millis(2),
            max_lag: Duration::from_secs(2),
            max_move_time: Duration::from_secs(300),
            untimed_move_time: Duration::from_secs(5),
            time_share: 1.0,
            fake_think_time: false,
            ponder: 0,
            sources: SourceOrder::default(),
            book: BookConfig::default(),
            draw: policy::Draw::default(),
            resign: policy::Resign::default(),
            choose: Vec::new(),
        }
    }
}

impl<'de> Deserialize<'de> for Config {
    fn deserialize<D: Deserializer<'de>>(table: D) -> Result<Self, D::Error> {
        let config = Config::deserialize(table)?;
        let min = config.min_lag;
        let max = config.max_lag;
        if min > max {
            let message = format!("min_lag ({min:?}) is above max_lag ({max:?}): swap or change them");
            return Err(D::Error::custom(message));
        }
        Ok(config)
    }
}

/// Keys that can change while games run, with those of their tables.
const CHANGEABLE: [&str; 7] =
    ["max_games", "max_move_time", "untimed_move_time", "time_share", "fake_think_time", "draw", "resign"];

impl Config {
    /// Returns whether a key of the table, such as `draw.moves`, can change while games run. Those that begin then are
    /// played by it.
    pub fn can_change(key: &str) -> bool {
        CHANGEABLE.contains(&key.split('.').next().unwrap_or_default())
    }

    /// Takes over what [can change](Config::can_change).
    pub(crate) fn update(&mut self, to: &Config) {
        self.max_games = to.max_games;
        (self.max_move_time, self.untimed_move_time) = (to.max_move_time, to.untimed_move_time);
        (self.time_share, self.fake_think_time) = (to.time_share, to.fake_think_time);
        (self.draw, self.resign) = (to.draw, to.resign);
    }

    pub(crate) fn untimed(&self) -> Budget {
        Budget::exactly(self.untimed_move_time)
    }

    pub(crate) fn lag(&self) -> lag::Config {
        lag::Config { initial: self.move_overhead, min: self.min_lag, max: self.max_lag }
    }
}

fn share<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    let share = f64::deserialize(from)?;
    if share > 0.0 && share <= 1.0 {
        return Ok(share);
    }
    Err(D::Error::custom(format!(
        "{share} is not a share of the clock: expected a number above 0 and at most 1"
    )))
}
