//! Terms of a game: variant, time control, starting position, and whether they can be played.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use zeitnot_rules::{self as rules, Color, DynGame, chess::chess960_start};
use zeitnot_wire::lichess::{
    ColorWish, NewChallenge, PerfKey, PerfName, Source, Speed, TimeControl, Variant, VariantKey,
    clocks::{has_increment, has_limit},
};

use super::{
    answer::Refusal,
    config::{ClockPolicy, Config, MAX_CLOCK},
};
use zeitnot_referee::Allowance;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Terms {
    pub(super) variant: VariantKey,
    pub(super) rated: bool,
    #[serde(with = "exact")]
    pub(super) time: rules::TimeControl,
    /// Starting position, unless it is the usual one.
    pub(super) fen: Option<String>,
    pub(super) source: Source,
}

impl Config {
    /// Returns the clock that a challenge asks for, if it is allowed.
    fn check_clock(&self, time: &TimeControl) -> Result<rules::TimeControl, Refusal> {
        let clock = time.clock().ok_or_else(|| {
            Refusal::field("clock.limit", "A clock is required: there are no correspondence games here")
        })?;
        let is_any = self.clocks == ClockPolicy::Any && !clock.initial.is_zero();
        let is_empty = clock.initial.is_zero() && clock.increment.is_zero();
        if clock.initial > self.max_clock_limit || !is_any && !has_limit(clock.initial) {
            Err(Refusal::field("clock.limit", "Invalid clock limit"))
        } else if clock.increment > self.max_clock_increment
            || !is_any && (is_empty || !has_increment(clock.increment))
        {
            Err(Refusal::field("clock.increment", "Invalid clock increment"))
        } else {
            Ok(clock)
        }
    }

    /// Checks whether bots may play at this speed.
    pub(super) fn check_for_bots(&self, speed: Speed) -> Result<(), Refusal> {
        match self.clocks == ClockPolicy::Lichess && speed == Speed::UltraBullet {
            true => Err(Refusal::bad("Game incompatible with a BOT account")),
            false => Ok(()),
        }
    }
}

impl Terms {
    /// Reads the terms of a challenge.
    pub(super) fn read(form: &NewChallenge, config: &Config) -> Result<Terms, Refusal> {
        let time = config.check_clock(&form.time)?;
        let (variant, fen) = match (&form.variant, form.fen.clone()) {
            (VariantKey::Standard | VariantKey::FromPosition, Some(fen)) => {
                (VariantKey::FromPosition, Some(fen))
            }
            (VariantKey::Chess960, fen) => (VariantKey::Chess960, Some(fen.unwrap_or_else(random_960))),
            (VariantKey::FromPosition, None) => return Err(Refusal::field("fen", "This field is required")),
            (VariantKey::Other(_), _) => return Err(Refusal::field("variant", "Invalid variant")),
            (variant, fen) => (variant.clone(), fen),
        };
        let terms = Terms { variant, rated: form.rated, time, fen, source: Source::Friend };
        terms.begin()?;
        let has_own_start = terms.variant != VariantKey::Chess960 && terms.fen.is_some();
        if terms.rated && has_own_start {
            return Err(Refusal::field("rated", "Such a game can only be casual"));
        }
        Ok(terms)
    }

    /// The game before its first move.
    pub(super) fn begin(&self) -> Result<DynGame, Refusal> {
        if self.time.initial.max(self.time.increment) > MAX_CLOCK {
            return Err(Refusal::field("clock.limit", "Invalid clock limit"));
        }
        let begun = self.variant.begin(self.fen.as_deref()).ok().filter(|game| !game.outcome().is_over());
        begun.ok_or_else(|| Refusal::field("fen", "Invalid FEN"))
    }

    pub(super) fn has_clock(&self) -> bool {
        !self.time.initial.max(self.time.increment).is_zero()
    }

    /// The time of each side. With an increment only, it begins with three seconds or the increment, whichever is more.
    pub(super) fn allowance(&self) -> Allowance {
        let mut time = self.time;
        if time.initial.is_zero() {
            time.initial = time.increment.max(Duration::from_secs(3));
        }
        Allowance::Game(time)
    }

    pub(super) fn speed(&self) -> Speed {
        Speed::of(self.time)
    }

    /// The rating that the game counts for.
    pub(super) fn perf(&self) -> PerfKey {
        match &self.variant {
            VariantKey::Standard | VariantKey::FromPosition => self.speed().as_str().into(),
            variant => variant.as_str().into(),
        }
    }

    /// The name of that rating.
    pub(super) fn perf_name(&self) -> PerfName {
        let name = match self.perf() {
            PerfKey::UltraBullet => "UltraBullet",
            PerfKey::Bullet => "Bullet",
            PerfKey::Blitz => "Blitz",
            PerfKey::Rapid => "Rapid",
            PerfKey::Classical => "Classical",
            _ => return PerfName { name: Variant::from(self.variant.clone()).name },
        };
        PerfName { name: name.to_owned() }
    }
}

pub(super) fn random_960() -> String {
    chess960_start(&mut fastrand::Rng::new())
}

pub(super) fn draw_color(wish: &ColorWish) -> Color {
    match wish {
        ColorWish::White => Color::White,
        ColorWish::Black => Color::Black,
        _ if fastrand::bool() => Color::White,
        _ => Color::Black,
    }
}

/// Clocks in full, behind what earlier versions had there. Those had games without a clock, too: here both times of
/// such a game are zero.
mod exact {
    use serde::{Deserializer, Serializer, de::IgnoredAny};

    use super::{Deserialize, Duration, Serialize, rules::TimeControl};

    pub(super) fn serialize<S: Serializer>(time: &TimeControl, to: S) -> Result<S::Ok, S::Error> {
        ((), [time.initial, time.increment]).serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<TimeControl, D::Error> {
        let (_, clock) = <(IgnoredAny, Option<[Duration; 2]>)>::deserialize(from)?;
        let [initial, increment] = clock.unwrap_or_default();
        Ok(TimeControl { initial, increment })
    }
}

#[cfg(test)]
mod tests {
    use zeitnot_wire::lichess::Form;

    use super::*;

    fn config(clocks: &str) -> Config {
        toml::from_str(&format!("listen = '127.0.0.1:0'\nclocks = '{clocks}'")).unwrap()
    }

    #[test]
    fn clocks_are_bounded_whatever_is_allowed() {
        for (form, is_playable) in [
            ("clock.limit=0.5&clock.increment=0.01", true),
            ("clock.limit=10800&clock.increment=180", true),
            ("clock.limit=10801&clock.increment=0", false),
            ("clock.limit=60&clock.increment=180.5", false),
            ("clock.limit=60&clock.increment=300000000", false),
        ] {
            let challenge = NewChallenge::from_form(form).unwrap();
            assert_eq!(Terms::read(&challenge, &config("any")).is_ok(), is_playable, "{form}");
        }
    }

    #[test]
    fn playable_terms() {
        for (form, is_playable) in [
            ("clock.limit=180&clock.increment=2&rated=true", true),
            ("variant=chess960&clock.limit=60&clock.increment=1", true),
            ("days=3", false),
            ("", false),
            ("clock.limit=60&fen=4k3/8/8/8/8/8/8/4K2R+w+K+-+0+1", true),
            ("clock.limit=61&clock.increment=0", false),
            ("clock.limit=0&clock.increment=0", false),
            ("clock.limit=60&clock.increment=61", false),
            ("clock.limit=60&variant=atomic", true),
            ("variant=threeCheck&clock.limit=180&clock.increment=0&rated=true", true),
            ("clock.limit=60&variant=racingKings&fen=8/4k3/8/8/8/8/8/4K3+w+-+-+0+1", true),
            ("variant=horde&rated=true&clock.limit=60&fen=4k3/8/8/8/8/8/8/P7+w+-+-+0+1", false),
            ("clock.limit=60&variant=horde&fen=4k3/8/8/8/8/8/8/8+w+-+-+0+1", false),
            ("clock.limit=60&variant=brandNew", false),
            ("clock.limit=60&variant=fromPosition", false),
            ("clock.limit=60&fen=nonsense", false),
            ("rated=true&fen=4k3/8/8/8/8/8/8/4K2R+w+K+-+0+1&clock.limit=60", false),
        ] {
            let challenge = NewChallenge::from_form(form).unwrap();
            assert_eq!(Terms::read(&challenge, &config("lichess")).is_ok(), is_playable, "{form}");
        }
    }

    #[test]
    fn saved_terms_keep_fractions_of_a_second_and_those_of_earlier_versions_are_read() {
        for time in ["0.5+0.05", "180+2"] {
            let (variant, source, time) = (VariantKey::Standard, Source::Friend, time.parse().unwrap());
            let terms = Terms { variant, rated: true, time, fen: None, source };
            let text = serde_json::to_string(&terms).unwrap();
            let read: Terms = serde_json::from_str(&text).unwrap();
            assert!(read.time == time && read.has_clock());
        }
        let clock = r#"[{"secs":3,"nanos":0},{"secs":0,"nanos":500000000}]"#;
        for (time, has_clock) in [
            (format!(r#"[{{"type":"clock","limit":3,"increment":0,"show":"0.05+0"}},{clock}]"#), true),
            (r#"[{"type":"correspondence","daysPerTurn":3},null]"#.to_owned(), false),
            (r#"[{"type":"unlimited"},null]"#.to_owned(), false),
        ] {
            let text = format!(
                r#"{{"variant":"standard","rated":false,"time":{time},"fen":null,"source":"friend"}}"#
            );
            let read: Terms = serde_json::from_str(&text).unwrap();
            assert_eq!(
                (read.has_clock(), read.time.initial.as_secs()),
                (has_clock, 3 * u64::from(has_clock))
            );
        }
    }
}
