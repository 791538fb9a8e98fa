//! Configuration of matchmaking.

use std::{borrow::Cow, collections::BTreeMap, fmt, path::PathBuf, time::Duration};

use serde::{Deserialize, Serialize};
use zeitnot_net::Contradictions;
use zeitnot_rules::TimeControl as Clock;
use zeitnot_settings::{
    HumanTime, JsonSchema, Schema, SchemaGenerator, changed,
    schemars::{self, json_schema},
    settings,
};
use zeitnot_wire::lichess::{PerfKey, User, UserId, VariantKey, clocks::DAYS};

use super::weights::Weights;
use crate::lichess::challenges::filter::Mode;

const BLITZ: Clock = Clock { initial: Duration::from_secs(180), increment: Duration::from_secs(2) };

settings! {
    /// Challenges to other bots.
    #[derive(PartialEq, Serialize)]
    pub struct Config {
        /// Idle time before a challenge, and between two challenges.
        #[serde(with = "HumanTime")]
        challenge_timeout: Duration = Duration::from_secs(600),
        /// Whether to send challenges while games run, as long as `concurrency` leaves room for another one.
        allow_during_games: bool = false,
        /// Players that are never challenged, beside those of [server.players].
        #[schemars(with = "Vec<String>")]
        block_list: Vec<UserId> = Vec::new(),
        /// Time after which an unanswered challenge is cancelled.
        #[serde(with = "HumanTime")]
        cancel_after: Duration = Duration::from_secs(30),
        /// Time before an opponent who declined is challenged again; it doubles with each decline.
        #[serde(with = "HumanTime")]
        delay_after_decline: Duration = Duration::from_secs(3600),
        /// Maximum number of challenges a day; with a `history_file`, those of earlier runs count.
        max_challenges_per_day: usize = 100,
        /// File that keeps declines, and the challenges of the last day, between runs.
        #[schemars(example = &"declined.json", extend("x-reload" = false))]
        history_file: Option<PathBuf> = None,
        /// Variations, each with a name. Its keys replace those of `[server.matchmaking]`. Each challenge picks at random one
        /// variation or the base table.
        #[schemars(extend("x-name" = "casual960"))]
        overrides: BTreeMap<String, Override> = BTreeMap::new(),
    }
    overridden by
    /// Keys that replace those of the table above.
    #[derive(PartialEq, Serialize)]
    pub struct Override {
        /// Clocks, each with a weight: { "180+2" = 3, "60+1" = 1 }
        #[schemars(extend("examples" = [{ "300+3": 1 }]))]
        clocks: Weights<Clock> = Weights::of(BLITZ),
        /// Variants, each with a weight: { standard = 3, chess960 = 1 }
        #[schemars(extend("examples" = [{ "chess960": 1 }]))]
        variants: Weights<VariantKey> = Weights::of(VariantKey::Standard),
        /// Casual or rated; of both, at random.
        #[schemars(example = ["casual"])]
        modes: Vec<Mode> = vec![Mode::Rated],
        /// Maximum difference between the opponent's rating and the bot's.
        #[schemars(example = 600)]
        opponent_rating_difference: u32 = 300,
        /// Minimum difference between the opponent's rating and the bot's.
        #[schemars(example = 50)]
        min_rating_difference: u32 = 0,
        /// Preferred difference between the opponent's rating and the bot's: the opponent is one of the five that come
        /// closest. Without it, any that suits.
        #[schemars(example = 50)]
        target_rating_difference: Option<u32> = None,
        /// Minimum rating of the opponent.
        #[schemars(example = 1000)]
        opponent_min_rating: Option<i32> = None,
        /// Maximum rating of the opponent.
        #[schemars(example = 2500)]
        opponent_max_rating: Option<i32> = None,
        /// Opponents that are challenged more often: the "high" or the "low" rated.
        #[schemars(example = &"low")]
        rating_preference: RatingPreference = RatingPreference::None,
        /// Days per move in correspondence games. If there are any, half of the challenges are to such games; with
        /// `clocks = {}` all are.
        #[schemars(example = [2, 3])]
        challenge_days: Vec<Days> = Vec::new(),
    }
}

/// Preference among the opponents that suit.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RatingPreference {
    /// None.
    #[default]
    None,
    /// The higher rated.
    High,
    /// The lower rated.
    Low,
}

impl fmt::Display for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Config { clocks, variants, modes, .. } = self;
        let modes = modes.iter().map(|mode| mode.as_str()).collect::<Vec<_>>().join(", ");
        let idle = humantime::format_duration(self.challenge_timeout);
        write!(f, "after {idle}: {clocks}; {variants}; {modes}")?;
        for key in changed(self, &["challenge_timeout", "clocks", "variants", "modes", "overrides"]) {
            write!(f, "; {key}")?;
        }
        if !self.overrides.is_empty() {
            let names = self.overrides.keys().cloned().collect::<Vec<_>>().join(", ");
            write!(f, "; or by {names}")?;
        }
        Ok(())
    }
}

impl Config {
    /// Returns this table and its variations; each is as likely as the others.
    pub(crate) fn variations(&self) -> Vec<Config> {
        let base = Config { overrides: BTreeMap::new(), ..self.clone() };
        let changed: Vec<_> = self.overrides.values().map(|change| change.clone().over(&base)).collect();
        std::iter::once(base).chain(changed).collect()
    }

    /// Finds keys that contradict each other, also those of the variations with those of this table.
    pub(crate) fn contradictions(&self, found: &mut Contradictions) {
        if self.max_challenges_per_day == 0 {
            found.add(&["max_challenges_per_day"], "0 challenges nobody: raise it, or remove the table");
        }
        let times = [("challenge_timeout", self.challenge_timeout), ("cancel_after", self.cancel_after)];
        found.above_zero(&times);
        let mut variations = self.variations().into_iter();
        variations.next().into_iter().for_each(|this| this.contradictions_of_games(found));
        for (name, variation) in self.overrides.keys().zip(variations) {
            found.within(&format!("overrides.{name}"), |found| variation.contradictions_of_games(found));
        }
    }

    /// Returns whether games with days for a move are among the challenges.
    pub(crate) fn plays_correspondence(&self) -> bool {
        self.variations().iter().any(|variation| !variation.challenge_days.is_empty())
    }

    fn contradictions_of_games(&self, found: &mut Contradictions) {
        let nothing = "no challenge is possible: name some, or remove the key";
        for (key, is_empty) in [
            ("clocks", self.clocks.is_empty() && self.challenge_days.is_empty()),
            ("variants", self.variants.is_empty()),
            ("modes", self.modes.is_empty()),
        ] {
            found.not_empty(key, is_empty, nothing);
        }
        for (key, has_none) in [("clocks", self.clocks.are_zero()), ("variants", self.variants.are_zero())] {
            if has_none {
                found.add(&[key], "has no weight above zero, so no challenge is possible: raise one");
            }
        }
        found.ordered(
            ("min_rating_difference", Some(self.min_rating_difference)),
            ("opponent_rating_difference", Some(self.opponent_rating_difference)),
        );
        found.ordered(
            ("opponent_min_rating", self.opponent_min_rating),
            ("opponent_max_rating", self.opponent_max_rating),
        );
    }

    /// Returns whether an opponent with this rating is to be challenged.
    pub(crate) fn suits(&self, me: &User, opponent: &User, perf: &PerfKey) -> bool {
        let Some(rating) = opponent.rating(perf) else {
            return self.opponent_min_rating.is_none() && self.opponent_max_rating.is_none();
        };
        let difference = me.rating(perf).map(|ours| ours.abs_diff(rating));
        let differences = self.min_rating_difference..=self.opponent_rating_difference;
        difference.is_none_or(|points| differences.contains(&points))
            && self.opponent_min_rating.is_none_or(|min| rating >= min)
            && self.opponent_max_rating.is_none_or(|max| rating <= max)
    }
}

/// Days for a move of a game that Lichess has.
#[derive(Copy, Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct Days(pub(crate) u32);

impl JsonSchema for Days {
    fn schema_name() -> Cow<'static, str> {
        "Days".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "integer", "enum": DAYS })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_and_variants_that_the_server_refuses_are_errors() {
        for (wrong, message) in [
            ("clocks = { '100+2' = 1 }", "is not a clock that Lichess has"),
            ("clocks = { '15' = 1 }", "no UltraBullet"),
            ("clocks = { '180+0.5' = 1 }", "is not a clock"),
            ("clocks = { 'x' = 1 }", "is not a time control"),
            ("variants = { chaturanga = 1 }", "is not a variant that we propose"),
            ("modes = ['both']", "unknown variant"),
            ("overrides = { x = { variants = { chaturanga = 1 } } }", "is not a variant that we propose"),
            ("overrides = { x = { challenge_timeout = '1m' } }", "unknown field `challenge_timeout`"),
        ] {
            let error = toml::from_str::<Config>(wrong).unwrap_err().to_string();
            assert!(error.contains(message), "{error}");
        }
    }
}
