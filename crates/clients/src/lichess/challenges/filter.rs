//! Challenge filter: the conditions that a challenge must meet, and the reason for declining it.

use std::{fmt, num::NonZeroUsize, time::Duration};

use serde::{Deserialize, Deserializer, Serialize, de::Error};
use zeitnot_net::Contradictions;
use zeitnot_settings::{
    HumanTime, JsonSchema, Schema, SchemaGenerator, changed, list_of, schemars, settings, words,
};
use zeitnot_wire::lichess::{Challenge, ColorWish, DeclineReason, Speed, TimeControl, VariantKey};

use super::accepted_time::AcceptedTime;

settings! {
    /// Challenges that are accepted from one kind of opponent.
    #[derive(PartialEq, Serialize)]
    pub struct ChallengeFilter {
        /// Whether to accept challenges: `false` declines all of this kind.
        accept: bool = true,
        /// Variants that are accepted.
        #[serde(deserialize_with = "variants")]
        #[schemars(schema_with = "variant_words")]
        variants: Vec<VariantKey> = playable_variants(),
        /// Speeds that are accepted, of "bullet", "blitz", "rapid", "classical" and "correspondence", which includes games
        /// without a clock; and exact clocks in seconds, such as "180+2", that are accepted whatever their speed.
        time_controls: Vec<AcceptedTime> =
            [Speed::Bullet, Speed::Blitz, Speed::Rapid, Speed::Classical].map(AcceptedTime::Speed).to_vec(),
        /// Modes that are accepted.
        modes: Vec<Mode> = vec![Mode::Casual, Mode::Rated],
        /// Minimum initial time.
        #[serde(with = "HumanTime")]
        min_base: Duration = Duration::ZERO,
        /// Maximum initial time.
        #[serde(with = "HumanTime")]
        max_base: Duration = Duration::from_secs(3 * 3600),
        /// Minimum increment.
        #[serde(with = "HumanTime")]
        min_increment: Duration = Duration::ZERO,
        /// Maximum increment.
        #[serde(with = "HumanTime")]
        max_increment: Duration = Duration::from_secs(180),
        /// No bullet without an increment.
        bullet_requires_increment: bool = false,
        /// Minimum days per move.
        min_days: u32 = 0,
        /// Maximum days per move. Without it, no limit, and games without a clock are accepted as well.
        #[schemars(example = 14)]
        max_days: Option<u32> = None,
        /// Minimum rating of the challenger; unrated challengers are accepted.
        #[schemars(example = 1000)]
        min_rating: Option<i32> = None,
        /// Maximum rating of the challenger; unrated challengers are accepted.
        #[schemars(example = 2500)]
        max_rating: Option<i32> = None,
        /// Maximum difference between the challenger's rating and the bot's; unrated challengers are accepted. Without it, no
        /// limit.
        #[schemars(example = 500)]
        rating_difference: Option<u32> = None,
        /// Colors that the challenger may choose.
        #[serde(deserialize_with = "colors")]
        #[schemars(schema_with = "color_words")]
        colors: Vec<ColorWish> = ColorWish::KNOWN.to_vec(),
        /// Maximum number of accepted challenges from one opponent within `recent_challenge_age`. Without it, no limit.
        #[schemars(example = 3)]
        max_recent_challenges: Option<NonZeroUsize> = None,
        /// Time for which challenges are recent.
        #[serde(with = "HumanTime")]
        recent_challenge_age: Duration = Duration::from_secs(3600),
    }
}

fn variant_words(_: &mut SchemaGenerator) -> Schema {
    list_of(words(playable_variants().iter().map(VariantKey::as_str)))
}

fn color_words(_: &mut SchemaGenerator) -> Schema {
    list_of(words(ColorWish::KNOWN.iter().map(ColorWish::as_str)))
}

/// Returns the variants whose rules we know.
pub fn playable_variants() -> Vec<VariantKey> {
    VariantKey::KNOWN.iter().filter(|variant| variant.game().is_some()).cloned().collect()
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum Mode {
    Casual,
    Rated,
}

impl Mode {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Mode::Casual => "casual",
            Mode::Rated => "rated",
        }
    }
}

impl From<bool> for Mode {
    fn from(rated: bool) -> Mode {
        if rated { Mode::Rated } else { Mode::Casual }
    }
}

impl fmt::Display for ChallengeFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.accept {
            return f.write_str("nothing");
        }
        let list = |words: Vec<&str>| if words.is_empty() { "nothing".into() } else { words.join(", ") };
        let variants = list(self.variants.iter().map(VariantKey::as_str).collect());
        let times: Vec<_> = self.time_controls.iter().map(ToString::to_string).collect();
        let times = list(times.iter().map(String::as_str).collect());
        let modes = list(self.modes.iter().map(|mode| mode.as_str()).collect());
        write!(f, "{variants}; {times}; {modes}")?;
        for key in changed(self, &["variants", "time_controls", "modes"]) {
            write!(f, "; {key}")?;
        }
        Ok(())
    }
}

impl ChallengeFilter {
    /// Finds keys that contradict each other.
    pub(crate) fn contradictions(&self, found: &mut Contradictions) {
        found.ordered(("min_base", Some(self.min_base)), ("max_base", Some(self.max_base)));
        found.ordered(
            ("min_increment", Some(self.min_increment)),
            ("max_increment", Some(self.max_increment)),
        );
        found.ordered(("min_days", Some(self.min_days)), ("max_days", self.max_days));
        found.ordered(("min_rating", self.min_rating), ("max_rating", self.max_rating));
        let nothing = "accept = true accepts nothing: name some, or set accept = false";
        for (key, is_empty) in [
            ("variants", self.variants.is_empty()),
            ("time_controls", self.time_controls.is_empty()),
            ("modes", self.modes.is_empty()),
            ("colors", self.colors.is_empty()),
        ] {
            found.not_empty(key, is_empty && self.accept, nothing);
        }
        if self.max_recent_challenges.is_some() {
            found.above_zero(&[("recent_challenge_age", self.recent_challenge_age)]);
        }
    }

    /// Returns the reason for declining a challenge, if there is one.
    pub(crate) fn reject(&self, challenge: &Challenge) -> Option<DeclineReason> {
        self.reject_variant(&challenge.variant.key)
            .or_else(|| self.reject_time(&challenge.time_control))
            .or_else(|| self.reject_mode(challenge.rated.into()))
            .or_else(|| self.reject_opponent(challenge))
    }

    fn reject_variant(&self, variant: &VariantKey) -> Option<DeclineReason> {
        let only_standard = self.variants == [VariantKey::Standard];
        let reason = if only_standard { DeclineReason::Standard } else { DeclineReason::Variant };
        (!self.variants.contains(variant)).then_some(reason)
    }

    fn reject_mode(&self, mode: Mode) -> Option<DeclineReason> {
        // The reason names the mode that is accepted.
        let accepted = match mode {
            Mode::Rated => DeclineReason::Casual,
            Mode::Casual => DeclineReason::Rated,
        };
        (!self.modes.contains(&mode)).then_some(accepted)
    }

    fn reject_time(&self, time: &TimeControl) -> Option<DeclineReason> {
        let speed = time.speed();
        if !self.time_controls.iter().any(|ours| ours.contains(time)) {
            // Speeds are ordered, the fastest first.
            let is_faster = self.time_controls.iter().all(|ours| speed < ours.speed());
            let is_slower = self.time_controls.iter().all(|ours| speed > ours.speed());
            return Some(match (is_faster, is_slower) {
                (true, false) => DeclineReason::TooFast,
                (false, true) => DeclineReason::TooSlow,
                _ => DeclineReason::TimeControl,
            });
        }
        match time {
            TimeControl::Clock(clock) => {
                let lacks_increment =
                    self.bullet_requires_increment && speed <= Speed::Bullet && clock.increment.is_zero();
                let is_fast = clock.initial < self.min_base || clock.increment < self.min_increment;
                let is_slow = clock.initial > self.max_base || clock.increment > self.max_increment;
                match (is_fast || lacks_increment, is_slow) {
                    (false, false) => None,
                    (true, false) => Some(DeclineReason::TooFast),
                    (false, true) => Some(DeclineReason::TooSlow),
                    (true, true) => Some(DeclineReason::TimeControl),
                }
            }
            TimeControl::Correspondence { days } if *days < self.min_days => Some(DeclineReason::TooFast),
            TimeControl::Correspondence { days } => {
                self.max_days.filter(|max| days > max).map(|_| DeclineReason::TooSlow)
            }
            TimeControl::Unlimited => self.max_days.map(|_| DeclineReason::TooSlow),
            TimeControl::Other(_) => Some(DeclineReason::TimeControl),
        }
    }

    fn reject_opponent(&self, challenge: &Challenge) -> Option<DeclineReason> {
        let rating = challenge.challenger.as_ref().and_then(|user| user.rating);
        let is_weak = rating.zip(self.min_rating).is_some_and(|(theirs, min)| theirs < min);
        let is_strong = rating.zip(self.max_rating).is_some_and(|(theirs, max)| theirs > max);
        let ours = challenge.dest_user.as_ref().and_then(|user| user.rating);
        let difference = rating.zip(ours).map(|(theirs, ours)| theirs.abs_diff(ours));
        let is_far = difference.zip(self.rating_difference).is_some_and(|(points, max)| points > max);
        let color = challenge.color.as_ref().unwrap_or(&ColorWish::Random);
        (is_weak || is_strong || is_far || !self.colors.contains(color)).then_some(DeclineReason::Generic)
    }
}

fn variants<'de, D: Deserializer<'de>>(list: D) -> Result<Vec<VariantKey>, D::Error> {
    known(list, &playable_variants(), "not a variant that we play", VariantKey::as_str)
}

fn colors<'de, D: Deserializer<'de>>(list: D) -> Result<Vec<ColorWish>, D::Error> {
    known(list, ColorWish::KNOWN, "not a color", ColorWish::as_str)
}

/// Reads words that are open on the wire but not in a configuration.
fn known<'de, T: Deserialize<'de> + PartialEq, D: Deserializer<'de>>(
    list: D,
    all: &[T],
    wrong: &str,
    as_str: fn(&T) -> &str,
) -> Result<Vec<T>, D::Error> {
    let list = Vec::<T>::deserialize(list)?;
    match list.iter().find(|one| !all.contains(one)) {
        None => Ok(list),
        Some(bad) => {
            let all = all.iter().map(as_str).collect::<Vec<_>>().join(", ");
            Err(D::Error::custom(format!("'{}' is {wrong}; known: {all}", as_str(bad))))
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use zeitnot_wire::{Message, lichess};

    use super::*;

    /// Standard, casual, from bob, who is rated 1500.
    pub(crate) fn challenge(time: &str) -> Challenge {
        let user = r#"{"id":"bob","name":"Bob","rating":1500}"#;
        let line = format!(
            r#"{{"id":"abcdefgh","challenger":{user},"destUser":null,"timeControl":{{"type":"unlimited"}}}}"#
        );
        let challenge: Challenge = Message::parse(&line).unwrap();
        Challenge { time_control: TimeControl::Clock(time.parse().unwrap()), ..challenge }
    }

    fn filter(text: &str) -> ChallengeFilter {
        toml::from_str(text).unwrap()
    }

    #[test]
    fn each_challenge_is_declined_for_the_true_reason() {
        use DeclineReason::{Casual, Generic, Rated, Standard, TimeControl, TooFast, TooSlow, Variant};
        let cases: &[(&str, &str, Option<DeclineReason>)] = &[
            ("", "180+2", None),
            ("time_controls = ['blitz']", "60", Some(TooFast)),
            ("time_controls = ['blitz']", "1800", Some(TooSlow)),
            ("time_controls = ['bullet', 'rapid']", "180+2", Some(TimeControl)),
            ("time_controls = []", "180+2", Some(TimeControl)),
            ("time_controls = ['180+2', 'rapid']", "180+2", None),
            ("time_controls = ['180+2', 'rapid']", "600", None),
            ("time_controls = ['180+2', 'rapid']", "180", Some(TimeControl)),
            ("time_controls = ['180+2', 'rapid']", "60", Some(TooFast)),
            ("time_controls = ['180+2']\nmax_increment = '1s'", "180+2", Some(TooSlow)),
            ("min_base = '4m'", "180+2", Some(TooFast)),
            ("max_base = '2m'", "180+2", Some(TooSlow)),
            ("min_increment = '3s'", "180+2", Some(TooFast)),
            ("max_increment = '1s'", "180+2", Some(TooSlow)),
            ("min_base = '4m'\nmax_increment = '1s'", "180+2", Some(TimeControl)),
            ("bullet_requires_increment = true", "60", Some(TooFast)),
            ("bullet_requires_increment = true", "60+1", None),
            ("bullet_requires_increment = true", "180", None),
            ("modes = ['rated']", "180+2", Some(Rated)),
            ("min_rating = 1501", "180+2", Some(Generic)),
            ("max_rating = 1499", "180+2", Some(Generic)),
            ("colors = ['black', 'white']", "180+2", Some(Generic)),
        ];
        for (text, time, reason) in cases {
            assert_eq!(filter(text).reject(&challenge(time)), *reason, "{text} {time}");
        }
        let rated = Challenge { rated: true, ..challenge("180+2") };
        assert_eq!(filter("modes = ['casual']").reject(&rated), Some(Casual));
        let near = |points| filter(&format!("rating_difference = {points}"));
        let mut to_us = challenge("180+2");
        to_us.dest_user = to_us.challenger.clone();
        to_us.dest_user.as_mut().unwrap().rating = Some(1700);
        assert_eq!((near(200).reject(&to_us), near(199).reject(&to_us)), (None, Some(Generic)));
        assert_eq!(near(0).reject(&challenge("180+2")), None, "our rating is not told");
        let new = Challenge { variant: VariantKey::from("chaturanga").into(), ..challenge("180+2") };
        assert_eq!(ChallengeFilter::default().reject(&new), Some(Variant));
        assert_eq!(filter("variants = ['standard']").reject(&new), Some(Standard));
    }

    #[test]
    fn days_for_a_move() {
        let with = |time_control| Challenge { time_control, ..challenge("180") };
        let days = |days| with(lichess::TimeControl::Correspondence { days });
        let unlimited = with(lichess::TimeControl::Unlimited);
        assert_eq!(ChallengeFilter::default().reject(&unlimited), Some(DeclineReason::TooSlow));
        let any = filter("time_controls = ['correspondence']");
        assert_eq!((any.reject(&days(14)), any.reject(&unlimited)), (None, None));
        let some = filter("time_controls = ['correspondence']\nmin_days = 2\nmax_days = 7");
        assert_eq!(some.reject(&days(1)), Some(DeclineReason::TooFast));
        assert_eq!(some.reject(&days(7)), None);
        assert_eq!(some.reject(&days(10)), Some(DeclineReason::TooSlow));
        assert_eq!(some.reject(&unlimited), Some(DeclineReason::TooSlow));
        let new = with(lichess::TimeControl::Other("hourglass".into()));
        assert_eq!(any.reject(&new), Some(DeclineReason::TimeControl));
    }

    #[test]
    fn unknown_words_are_errors() {
        for (wrong, message) in [
            (
                "variants = ['chaturanga']",
                "'chaturanga' is not a variant that we play; known: standard, chess960",
            ),
            ("time_controls = ['fast']", "'fast' is not a speed"),
            ("time_controls = ['3+2']", "3+2 is not a clock that Lichess has for bots"),
            ("colors = ['red']", "'red' is not a color"),
            ("rated = true", "unknown field"),
            ("max_recent_challenges = 0", "nonzero"),
        ] {
            let error = toml::from_str::<ChallengeFilter>(wrong).unwrap_err().to_string();
            assert!(error.contains(message), "{error}");
        }
    }
}
