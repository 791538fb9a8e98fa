//! What we play: the terms that a challenge must keep to, and the reason to be told where it does not.

use std::{fmt, num::NonZeroUsize, time::Duration};

use serde::{Deserialize, Deserializer, Serialize, de::Error};

use zeitnot_wire::lichess::{Challenge, ColorWish, DeclineReason, Speed, TimeControl, VariantKey};

/// What is accepted from one kind of opponent: the `human` and the `bot` table.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Terms {
    /// Is anything?
    pub accept: bool,
    /// Which chess.
    #[serde(deserialize_with = "variants")]
    pub variants: Vec<VariantKey>,
    /// How fast; `correspondence` has days for a move, or all the time in the world.
    #[serde(deserialize_with = "speeds")]
    pub speeds: Vec<Speed>,
    /// About ratings or not.
    pub modes: Vec<Mode>,
    /// The clock at the start, at least and at most.
    #[serde(with = "humantime_serde")]
    pub shortest: Duration,
    #[allow(missing_docs)]
    #[serde(with = "humantime_serde")]
    pub longest: Duration,
    /// The increment, at least and at most.
    #[serde(with = "humantime_serde")]
    pub least_increment: Duration,
    #[allow(missing_docs)]
    #[serde(with = "humantime_serde")]
    pub most_increment: Duration,
    /// Bullet without an increment is declined.
    pub bullet_needs_increment: bool,
    /// Days for a move, at least; 0 is nothing special.
    pub fewest_days: u32,
    /// Days for a move, at most; without it any number, and games without limit as well.
    pub most_days: Option<u32>,
    /// The opponent's rating, at least and at most. Who has none is welcome.
    pub lowest_rating: Option<i32>,
    #[allow(missing_docs)]
    pub highest_rating: Option<i32>,
    /// Which sides the challenger may want.
    #[serde(deserialize_with = "colors")]
    pub colors: Vec<ColorWish>,
    /// The same opponent's challenges: so many within such a time. Without it: any number.
    pub recent: Option<Recent>,
}

impl Default for Terms {
    fn default() -> Self {
        Terms {
            accept: true,
            variants: played(),
            speeds: vec![Speed::Bullet, Speed::Blitz, Speed::Rapid, Speed::Classical],
            modes: vec![Mode::Casual, Mode::Rated],
            shortest: Duration::ZERO,
            longest: Duration::from_secs(3 * 3600),
            least_increment: Duration::ZERO,
            most_increment: Duration::from_secs(180),
            bullet_needs_increment: false,
            fewest_days: 0,
            most_days: None,
            lowest_rating: None,
            highest_rating: None,
            colors: ColorWish::KNOWN.to_vec(),
            recent: None,
        }
    }
}

/// The variants that our rules know.
pub fn played() -> Vec<VariantKey> {
    VariantKey::KNOWN.iter().filter(|variant| variant.game().is_some()).cloned().collect()
}

/// Is a game about ratings?
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// No.
    Casual,
    /// Yes.
    Rated,
}

impl Mode {
    /// The word.
    pub fn word(self) -> &'static str {
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

/// So many games within such a time.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recent {
    /// So many.
    pub games: NonZeroUsize,
    /// Within this time.
    #[serde(with = "humantime_serde")]
    pub within: Duration,
}

impl fmt::Display for Terms {
    /// What is accepted, for people.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.accept {
            return f.write_str("nothing");
        }
        let words = |words: Vec<&str>| if words.is_empty() { "nothing".into() } else { words.join(", ") };
        let variants = words(self.variants.iter().map(VariantKey::as_str).collect());
        let speeds = words(self.speeds.iter().map(Speed::as_str).collect());
        let modes = words(self.modes.iter().map(|mode| mode.word()).collect());
        write!(f, "{variants}; {speeds}; {modes}")?;
        let usual = Terms::default();
        if (self.shortest, self.longest) != (usual.shortest, usual.longest) {
            let [least, most] = [self.shortest, self.longest].map(humantime::format_duration);
            write!(f, "; clocks from {least} to {most}")?;
        }
        if (self.least_increment, self.most_increment) != (usual.least_increment, usual.most_increment) {
            let [least, most] = [self.least_increment, self.most_increment].map(humantime::format_duration);
            write!(f, "; increments from {least} to {most}")?;
        }
        if self.bullet_needs_increment {
            f.write_str("; no bullet without an increment")?;
        }
        match (self.lowest_rating, self.highest_rating) {
            (None, None) => {}
            (Some(least), None) => write!(f, "; ratings from {least}")?,
            (None, Some(most)) => write!(f, "; ratings up to {most}")?,
            (Some(least), Some(most)) => write!(f, "; ratings from {least} to {most}")?,
        }
        if let Some(Recent { games, within }) = &self.recent {
            let within = humantime::format_duration(*within);
            write!(f, "; at most {games} of the same opponent within {within}")?;
        }
        Ok(())
    }
}

impl Terms {
    /// Why this challenge is none that we accept, whoever it comes from; `None` if it is one.
    pub fn objection(&self, challenge: &Challenge) -> Option<DeclineReason> {
        self.of_variant(&challenge.variant.key)
            .or_else(|| self.of_time(&challenge.time_control))
            .or_else(|| self.of_mode(challenge.rated.into()))
            .or_else(|| self.of_rest(challenge))
    }

    fn of_variant(&self, variant: &VariantKey) -> Option<DeclineReason> {
        if self.variants.contains(variant) {
            return None;
        }
        let only_standard = self.variants == [VariantKey::Standard];
        Some(if only_standard { DeclineReason::Standard } else { DeclineReason::Variant })
    }

    fn of_mode(&self, mode: Mode) -> Option<DeclineReason> {
        // The reason names what is wanted instead.
        let wanted = match mode {
            Mode::Rated => DeclineReason::Casual,
            Mode::Casual => DeclineReason::Rated,
        };
        (!self.modes.contains(&mode)).then_some(wanted)
    }

    fn of_time(&self, time: &TimeControl) -> Option<DeclineReason> {
        let speed = time.speed();
        if !self.speeds.contains(&speed) {
            // The speeds are ordered, the fastest first.
            let faster = self.speeds.iter().all(|ours| speed < *ours);
            let slower = self.speeds.iter().all(|ours| speed > *ours);
            return Some(match (faster, slower) {
                (true, false) => DeclineReason::TooFast,
                (false, true) => DeclineReason::TooSlow,
                _ => DeclineReason::TimeControl,
            });
        }
        match time {
            TimeControl::Clock(clock) => {
                let increment_missing =
                    self.bullet_needs_increment && speed <= Speed::Bullet && clock.increment.is_zero();
                let too_fast = clock.initial < self.shortest || clock.increment < self.least_increment;
                let too_slow = clock.initial > self.longest || clock.increment > self.most_increment;
                match (too_fast || increment_missing, too_slow) {
                    (false, false) => None,
                    (true, false) => Some(DeclineReason::TooFast),
                    (false, true) => Some(DeclineReason::TooSlow),
                    (true, true) => Some(DeclineReason::TimeControl),
                }
            }
            TimeControl::Correspondence { days } if *days < self.fewest_days => Some(DeclineReason::TooFast),
            TimeControl::Correspondence { days } => {
                self.most_days.filter(|most| days > most).map(|_| DeclineReason::TooSlow)
            }
            TimeControl::Unlimited => self.most_days.map(|_| DeclineReason::TooSlow),
            TimeControl::Other(_) => Some(DeclineReason::TimeControl),
        }
    }

    fn of_rest(&self, challenge: &Challenge) -> Option<DeclineReason> {
        let rating = challenge.challenger.as_ref().and_then(|user| user.rating);
        let too_weak = rating.zip(self.lowest_rating).is_some_and(|(theirs, lowest)| theirs < lowest);
        let too_strong = rating.zip(self.highest_rating).is_some_and(|(theirs, highest)| theirs > highest);
        let color = challenge.color.as_ref().unwrap_or(&ColorWish::Random);
        let objects = too_weak || too_strong || !self.colors.contains(color);
        objects.then_some(DeclineReason::Generic)
    }
}

fn variants<'de, D: Deserializer<'de>>(list: D) -> Result<Vec<VariantKey>, D::Error> {
    known(list, &played(), "no variant that we play", VariantKey::as_str)
}

fn speeds<'de, D: Deserializer<'de>>(list: D) -> Result<Vec<Speed>, D::Error> {
    known(list, Speed::KNOWN, "no speed", Speed::as_str)
}

fn colors<'de, D: Deserializer<'de>>(list: D) -> Result<Vec<ColorWish>, D::Error> {
    known(list, ColorWish::KNOWN, "no colour", ColorWish::as_str)
}

/// The words of the wire may be new ones; those of a configuration may not.
pub(super) fn known<'de, T: Deserialize<'de> + PartialEq, D: Deserializer<'de>>(
    list: D,
    all: &[T],
    wrong: &str,
    word: fn(&T) -> &str,
) -> Result<Vec<T>, D::Error> {
    let list = Vec::<T>::deserialize(list)?;
    match list.iter().find(|one| !all.contains(one)) {
        None => Ok(list),
        Some(bad) => {
            let all = all.iter().map(word).collect::<Vec<_>>().join(", ");
            Err(D::Error::custom(format!("'{}' is {wrong}; known: {all}", word(bad))))
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use zeitnot_wire::{Message, lichess};

    /// Standard, casual, from bob, who is rated 1500.
    pub fn challenge(time: &str) -> Challenge {
        let user = r#"{"id":"bob","name":"Bob","rating":1500}"#;
        let line = format!(
            r#"{{"id":"abcdefgh","challenger":{user},"destUser":null,"timeControl":{{"type":"unlimited"}}}}"#
        );
        let challenge: Challenge = Message::parse(&line).unwrap();
        Challenge { time_control: TimeControl::Clock(time.parse().unwrap()), ..challenge }
    }

    fn terms(text: &str) -> Terms {
        toml::from_str(text).unwrap()
    }

    #[test]
    fn each_reason_is_the_true_one() {
        use DeclineReason::{Casual, Generic, Rated, Standard, TimeControl, TooFast, TooSlow, Variant};
        let cases: &[(&str, &str, Option<DeclineReason>)] = &[
            ("", "180+2", None),
            ("speeds = ['blitz']", "60", Some(TooFast)),
            ("speeds = ['blitz']", "1800", Some(TooSlow)),
            ("speeds = ['bullet', 'rapid']", "180+2", Some(TimeControl)),
            ("speeds = []", "180+2", Some(TimeControl)),
            ("shortest = '4m'", "180+2", Some(TooFast)),
            ("longest = '2m'", "180+2", Some(TooSlow)),
            ("least_increment = '3s'", "180+2", Some(TooFast)),
            ("most_increment = '1s'", "180+2", Some(TooSlow)),
            ("shortest = '4m'\nmost_increment = '1s'", "180+2", Some(TimeControl)),
            ("bullet_needs_increment = true", "60", Some(TooFast)),
            ("bullet_needs_increment = true", "60+1", None),
            ("bullet_needs_increment = true", "180", None),
            ("modes = ['rated']", "180+2", Some(Rated)),
            ("lowest_rating = 1501", "180+2", Some(Generic)),
            ("highest_rating = 1499", "180+2", Some(Generic)),
            ("colors = ['black', 'white']", "180+2", Some(Generic)),
        ];
        for (text, time, reason) in cases {
            assert_eq!(terms(text).objection(&challenge(time)), *reason, "{text} {time}");
        }
        let rated = Challenge { rated: true, ..challenge("180+2") };
        assert_eq!(terms("modes = ['casual']").objection(&rated), Some(Casual));
        let new = Challenge { variant: VariantKey::from("chaturanga").into(), ..challenge("180+2") };
        assert_eq!(Terms::default().objection(&new), Some(Variant));
        assert_eq!(terms("variants = ['standard']").objection(&new), Some(Standard));
    }

    #[test]
    fn days_for_a_move() {
        let with = |time_control| Challenge { time_control, ..challenge("180") };
        let days = |days| with(lichess::TimeControl::Correspondence { days });
        let unlimited = with(lichess::TimeControl::Unlimited);
        assert_eq!(Terms::default().objection(&unlimited), Some(DeclineReason::TooSlow));
        let any = terms("speeds = ['correspondence']");
        assert_eq!((any.objection(&days(14)), any.objection(&unlimited)), (None, None));
        let some = terms("speeds = ['correspondence']\nfewest_days = 2\nmost_days = 7");
        assert_eq!(some.objection(&days(1)), Some(DeclineReason::TooFast));
        assert_eq!(some.objection(&days(7)), None);
        assert_eq!(some.objection(&days(10)), Some(DeclineReason::TooSlow));
        assert_eq!(some.objection(&unlimited), Some(DeclineReason::TooSlow));
        let new = with(lichess::TimeControl::Other("hourglass".into()));
        assert_eq!(any.objection(&new), Some(DeclineReason::TimeControl));
    }

    #[test]
    fn what_nobody_knows_is_no_configuration() {
        for (wrong, told) in [
            (
                "variants = ['chaturanga']",
                "'chaturanga' is no variant that we play; known: standard, chess960",
            ),
            ("speeds = ['fast']", "'fast' is no speed"),
            ("colors = ['red']", "'red' is no colour"),
            ("rated = true", "unknown field"),
            ("recent = { games = 0, within = '1h' }", "nonzero"),
        ] {
            let error = toml::from_str::<Terms>(wrong).unwrap_err().to_string();
            assert!(error.contains(told), "{error}");
        }
    }
}
