//! The `[bot]` table of the configuration.

use std::time::Duration;

use serde::{Deserialize, Deserializer, de::Error};

use zeitnot_engine::{book::BookConfig, time::Budget};
use zeitnot_net::Contradictions;

use crate::{choice, lag, policy, sources::SourceOrder};

/// The `[bot]` table.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Games at once; more are declined. By default as many as the accounts play, and at least 8.
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

/// Keys that can change while games run, with those of their tables.
const CHANGEABLE: [&str; 7] =
    ["max_games", "max_move_time", "untimed_move_time", "time_share", "fake_think_time", "draw", "resign"];

impl Config {
    /// Finds keys that contradict each other.
    pub fn contradictions(&self, found: &mut Contradictions) {
        found.ordered(("min_lag", Some(self.min_lag)), ("max_lag", Some(self.max_lag)));
        found.at_most(("move_overhead", self.move_overhead), ("max_lag", self.max_lag));
        found.above_zero(&[
            ("max_move_time", self.max_move_time),
            ("untimed_move_time", self.untimed_move_time),
        ]);
        if !self.book.files.is_empty() {
            if !self.sources.has_book() {
                let what = "is not read, as sources lacks \"book\": add it there, or remove the files";
                found.add(&["book.files"], what);
            }
            if self.book.max_ply == 0 {
                found.add(&["book.max_ply"], "0 uses no move of book.files: raise it, or remove the files");
            }
        }
        if self.draw.moves > 0 && self.resign.moves > 0 {
            found.ordered(("draw.score", Some(self.draw.score)), ("resign.score", Some(self.resign.score)));
        }
        for (at, rule) in self.choose.iter().enumerate() {
            found.within(&format!("choose[{at}]"), |found| rule.contradictions(found));
        }
    }

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
