//! Configuration of matchmaking.

use std::{collections::BTreeMap, fmt, path::PathBuf, time::Duration};

use serde::{Deserialize, Deserializer, Serialize, de::Error};
use zeitnot_net::Contradictions;
use zeitnot_rules::TimeControl as Clock;
use zeitnot_settings::{HumanTime, JsonSchema, schemars, settings};
use zeitnot_wire::lichess::{
    PerfKey, TimeControl, User, UserId, VariantKey,
    clocks::{BOT_CLOCKS, DAYS, is_offered, is_offered_days},
};

use crate::lichess::challenges::filter::{Mode, playable_variants};

const BLITZ: Clock = Clock { initial: Duration::from_secs(180), increment: Duration::from_secs(2) };

settings! {
    /// Challenges to other bots.
    #[derive(PartialEq)]
    pub struct Config {
        /// Idle time before a challenge, and between two challenges.
        #[serde(with = "HumanTime")]
        challenge_timeout: Duration = Duration::from_secs(600),
        /// Clocks, each with a weight: { "180+2" = 3, "60+1" = 1 }
        #[serde(deserialize_with = "clocks")]
        #[schemars(with = "BTreeMap<String, u32>", extend("default" = { "180+2": 1 }))]
        clocks: Vec<(Clock, u32)> = vec![(BLITZ, 1)],
        /// Variants, each with a weight: { standard = 3, chess960 = 1 }
        #[serde(deserialize_with = "variants")]
        #[schemars(with = "BTreeMap<String, u32>", extend("default" = { "standard": 1 }))]
        variants: Vec<(VariantKey, u32)> = vec![(VariantKey::Standard, 1)],
        /// Casual or rated; of both, at random.
        modes: Vec<Mode> = vec![Mode::Rated],
        /// Maximum difference between the opponent's rating and ours.
        opponent_rating_difference: Option<u32> = Some(300),
        /// Minimum of the opponent's rating.
        #[schemars(example = 1000)]
        opponent_min_rating: Option<i32> = None,
        /// Maximum of the opponent's rating.
        #[schemars(example = 2500)]
        opponent_max_rating: Option<i32> = None,
        /// Opponents that are challenged more often: the "high" or the "low" rated.
        rating_preference: RatingPreference = RatingPreference::None,
        /// Days for a move of correspondence games: 1, 2, 3, 5, 7, 10 or 14. If there are any, half of the challenges are to
        /// such games; with `clocks = {}` all are.
        #[serde(deserialize_with = "days")]
        challenge_days: Vec<u32> = Vec::new(),
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
        /// Variations, each with a name: the keys that it has replace those above. Each challenge is by one of them, or by
        /// none of them, at random.
        #[schemars(extend("x-name" = "casual960"))]
        overrides: BTreeMap<String, Override> = BTreeMap::new(),
    }
}

settings! {
    /// Keys that replace those of the table above.
    #[derive(PartialEq)]
    pub struct Override {
        /// Clocks, each with a weight.
        #[serde(deserialize_with = "some_clocks")]
        #[schemars(with = "BTreeMap<String, u32>", extend("examples" = [{ "300+3": 1 }]))]
        clocks: Option<Vec<(Clock, u32)>> = None,
        /// Variants, each with a weight.
        #[serde(deserialize_with = "some_variants")]
        #[schemars(with = "BTreeMap<String, u32>", extend("examples" = [{ "chess960": 1 }]))]
        variants: Option<Vec<(VariantKey, u32)>> = None,
        /// Casual or rated.
        #[schemars(example = ["casual"])]
        modes: Option<Vec<Mode>> = None,
        /// Maximum difference between the opponent's rating and ours.
        #[schemars(example = 600)]
        opponent_rating_difference: Option<u32> = None,
        /// Minimum of the opponent's rating.
        #[schemars(example = 400)]
        opponent_min_rating: Option<i32> = None,
        /// Maximum of the opponent's rating.
        #[schemars(example = 1200)]
        opponent_max_rating: Option<i32> = None,
        /// Opponents that are challenged more often.
        #[schemars(example = &"low")]
        rating_preference: Option<RatingPreference> = None,
        /// Days for a move of correspondence games.
        #[serde(deserialize_with = "some_days")]
        #[schemars(with = "Vec<u32>", example = [2, 3])]
        challenge_days: Option<Vec<u32>> = None,
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
        let clocks = self.clocks.iter().map(|(clock, _)| TimeControl::Clock(*clock).to_string());
        let variants = self.variants.iter().map(|(variant, _)| variant.to_string());
        let modes = self.modes.iter().map(|mode| mode.as_str().to_owned());
        let [clocks, variants, modes] =
            [clocks.collect::<Vec<_>>(), variants.collect(), modes.collect()].map(|words| words.join(", "));
        let idle = humantime::format_duration(self.challenge_timeout);
        write!(f, "after {idle}: {clocks}; {variants}; {modes}")?;
        if !self.challenge_days.is_empty() {
            let days = self.challenge_days.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
            write!(f, "; correspondence with {days} days for a move")?;
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
        let with = |change: &Override| {
            let Override { clocks, variants, modes, challenge_days, .. } = change.clone();
            let base = base.clone();
            let change = change.clone();
            Config {
                clocks: clocks.unwrap_or(base.clocks),
                variants: variants.unwrap_or(base.variants),
                modes: modes.unwrap_or(base.modes),
                opponent_rating_difference: change
                    .opponent_rating_difference
                    .or(base.opponent_rating_difference),
                opponent_min_rating: change.opponent_min_rating.or(base.opponent_min_rating),
                opponent_max_rating: change.opponent_max_rating.or(base.opponent_max_rating),
                rating_preference: change.rating_preference.unwrap_or(base.rating_preference),
                challenge_days: challenge_days.unwrap_or(base.challenge_days),
                ..base
            }
        };
        let changed: Vec<_> = self.overrides.values().map(with).collect();
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
        let clocks = self.clocks.iter().map(|(_, weight)| *weight);
        let variants = self.variants.iter().map(|(_, weight)| *weight);
        for (key, weights) in [("clocks", clocks.collect::<Vec<_>>()), ("variants", variants.collect())] {
            if !weights.is_empty() && weights.iter().all(|weight| *weight == 0) {
                found.add(&[key], "has no weight above zero, so no challenge is possible: raise one");
            }
        }
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
        let difference = me.rating(perf).map_or(0, |ours| ours.abs_diff(rating));
        self.opponent_rating_difference.is_none_or(|max| difference <= max)
            && self.opponent_min_rating.is_none_or(|min| rating >= min)
            && self.opponent_max_rating.is_none_or(|max| rating <= max)
    }
}

fn clocks<'de, D: Deserializer<'de>>(table: D) -> Result<Vec<(Clock, u32)>, D::Error> {
    let clock = |(text, weight): (String, u32)| {
        let clock: Clock = text.parse().map_err(D::Error::custom)?;
        if is_offered(clock) {
            return Ok((clock, weight));
        }
        Err(D::Error::custom(format!("{text} is no clock that Lichess has for bots: {BOT_CLOCKS}")))
    };
    BTreeMap::<String, u32>::deserialize(table)?.into_iter().map(clock).collect()
}

fn days<'de, D: Deserializer<'de>>(list: D) -> Result<Vec<u32>, D::Error> {
    let list = Vec::<u32>::deserialize(list)?;
    match list.iter().find(|days| !is_offered_days(**days)) {
        None => Ok(list),
        Some(days) => {
            Err(D::Error::custom(format!("Lichess has no games with {days} days for a move: {DAYS:?}")))
        }
    }
}

/// Returns the variants that can be proposed. There are no positions to begin from.
pub(crate) fn proposable_variants() -> Vec<VariantKey> {
    playable_variants().into_iter().filter(|variant| *variant != VariantKey::FromPosition).collect()
}

fn some_clocks<'de, D: Deserializer<'de>>(table: D) -> Result<Option<Vec<(Clock, u32)>>, D::Error> {
    clocks(table).map(Some)
}

fn some_variants<'de, D: Deserializer<'de>>(table: D) -> Result<Option<Vec<(VariantKey, u32)>>, D::Error> {
    variants(table).map(Some)
}

fn some_days<'de, D: Deserializer<'de>>(list: D) -> Result<Option<Vec<u32>>, D::Error> {
    days(list).map(Some)
}

fn variants<'de, D: Deserializer<'de>>(table: D) -> Result<Vec<(VariantKey, u32)>, D::Error> {
    let read = |(key, weight): (String, u32)| {
        let key = VariantKey::from(key);
        let is_known = proposable_variants().contains(&key);
        let error = || D::Error::custom(format!("'{key}' is no variant that we propose"));
        if is_known { Ok((key, weight)) } else { Err(error()) }
    };
    BTreeMap::<String, u32>::deserialize(table)?.into_iter().map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_and_variants_that_the_server_refuses_are_errors() {
        for (wrong, message) in [
            ("clocks = { '100+2' = 1 }", "no clock that Lichess has"),
            ("clocks = { '15' = 1 }", "no UltraBullet"),
            ("clocks = { '180+0.5' = 1 }", "no clock"),
            ("clocks = { 'x' = 1 }", "no time control"),
            ("variants = { chaturanga = 1 }", "no variant that we propose"),
            ("modes = ['both']", "unknown variant"),
            ("challenge_days = [4]", "no games with 4 days for a move"),
            ("overrides = { x = { challenge_days = [0] } }", "no games with 0 days"),
            ("overrides = { x = { challenge_timeout = '1m' } }", "unknown field `challenge_timeout`"),
        ] {
            let error = toml::from_str::<Config>(wrong).unwrap_err().to_string();
            assert!(error.contains(message), "{error}");
        }
    }
}
