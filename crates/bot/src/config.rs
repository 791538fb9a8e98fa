//! The `[bot]` table of the configuration.

use std::time::Duration;

use zeitnot_engine::{book::BookConfig, time::Budget};
use zeitnot_net::Contradictions;
use zeitnot_settings::{HumanTime, settings};

use crate::{
    choice, lag, policy,
    sources::{BookRule, Source, SourceOrder},
    syzygy::RootSyzygyConfig,
};

settings! {
    /// Games at once, time for moves, and sources of moves.
    #[derive(PartialEq)]
    pub struct Config {
        /// Maximum number of games at once, on all servers together. On Lichess further challenges wait or are declined;
        /// elsewhere further games are resigned or left. Default: the sum of the accounts' `concurrency` (with correspondence
        /// also of `max_active`), but at least 8.
        #[schemars(range(min = 1), extend("x-reload" = true, "default" = null, "examples" = [8]))]
        max_games: usize = 8,
        /// Time reserved on every move for the network until the lag is measured.
        #[serde(with = "HumanTime")]
        move_overhead: Duration = Duration::from_millis(50),
        /// Minimum that is reserved once the lag is measured.
        #[serde(with = "HumanTime")]
        min_lag: Duration = Duration::from_millis(2),
        /// Maximum that is reserved once the lag is measured.
        #[serde(with = "HumanTime")]
        max_lag: Duration = Duration::from_secs(2),
        /// Maximum time for a move, whatever the clock shows: for games with days for a move.
        #[serde(with = "HumanTime")]
        #[schemars(extend("x-reload" = true))]
        max_move_time: Duration = Duration::from_secs(300),
        /// Time for a move in a game without clocks.
        #[serde(with = "HumanTime")]
        #[schemars(extend("x-reload" = true))]
        untimed_move_time: Duration = Duration::from_secs(5),
        /// Fraction of its clock that the bot uses. Values below 1 weaken it.
        #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1, "x-reload" = true))]
        time_share: f64 = 1.0,
        /// Delay moves that are known at once by part of the time that a search would take.
        #[schemars(extend("x-reload" = true))]
        fake_think_time: bool = false,
        /// Cores for pondering, one per game; 0: none. If nothing else runs on the machine, set it to the number of cores
        /// minus one.
        ponder: usize = 0,
        /// Sources of moves that are asked before the search, in this order; others are not asked. All but the cache are off
        /// until their tables enable them; see docs/sources.md.
        sources: SourceOrder = SourceOrder::default(),
        /// Opening books of chess and Chess960.
        book: BookConfig = BookConfig::default(),
        /// Opening books by game: the first of these tables that matches decides; if none does, `[bot.book]` is used. The
        /// conditions are those of `[[bot.choose]]`; without `games`, chess and Chess960.
        books: Vec<BookRule> = Vec::new(),
        /// Syzygy tablebases that the program itself probes, for any engine: chess, atomic and antichess.
        syzygy: RootSyzygyConfig = RootSyzygyConfig::default(),
        /// Draw offers, on servers that have them. An opponent's offer is accepted by the same rule, and also if the bot is
        /// worse.
        #[schemars(extend("x-reload" = true))]
        draw: policy::Draw = policy::Draw::default(),
        /// When to resign.
        #[schemars(extend("x-reload" = true))]
        resign: policy::Resign = policy::Resign::default(),
        /// Engines by game: the first of these tables that matches decides; if none does, `[engine]` plays. A missing key
        /// matches any game; a condition never matches if the server doesn't report that value. Engines that cannot play the
        /// game are skipped.
        choose: Vec<choice::Rule> = Vec::new(),
    }
}

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
            if !self.sources.has(Source::Book) {
                let what = "is not read, as bot.sources lacks \"book\": add it there, or remove the files";
                found.add(&["book.files"], what);
            }
            if self.book.max_ply == 0 {
                found.add(&["book.max_ply"], "0 uses no move of book.files: raise it, or remove the files");
            }
        }
        for (at, rule) in self.books.iter().enumerate() {
            found.within(&format!("books[{at}]"), |found| rule.contradictions(found));
        }
        let all = self.books.iter().position(|rule| rule.conditions().match_all());
        for (at, rule) in self.books.iter().enumerate() {
            // Without conditions, a rule is for chess and Chess960 only.
            if let Some(first) = all.filter(|first| at > *first)
                && !rule.names_variants()
            {
                let what = format!(
                    "is never used: bot.books[{first}] matches every game of chess; move this rule above it"
                );
                found.add(&[&format!("books[{at}]")], what);
            }
        }
        if !self.books.is_empty() && !self.sources.has(Source::Book) {
            let what = "are not read, as bot.sources lacks \"book\": add it there, or remove the rules";
            found.add(&["books"], what);
        }
        if !self.syzygy.folders.is_empty() && !self.sources.has(Source::Syzygy) {
            let what = "are not probed, as bot.sources lacks \"syzygy\": add it there, or remove the folders";
            found.add(&["syzygy.folders"], what);
        }
        if self.draw.moves > 0 && self.resign.moves > 0 {
            found.ordered(("draw.score", Some(self.draw.score)), ("resign.score", Some(self.resign.score)));
        }
        for (at, rule) in self.choose.iter().enumerate() {
            found.within(&format!("choose[{at}]"), |found| rule.conditions().contradictions(found));
        }
    }

    /// Takes over the keys that are declared as reloadable, for the games that begin then.
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
