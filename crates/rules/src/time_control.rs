//! Time controls and speeds of games.

use std::{fmt, str::FromStr, time::Duration};

use serde::{Deserialize, Serialize};

/// Time for the whole game and an increment after each move, both in seconds: `3+0.05`.
///
/// ```
/// use std::time::Duration;
/// use zeitnot_rules::TimeControl;
///
/// let tc: TimeControl = "180+2".parse().unwrap();
/// assert_eq!(tc.initial, Duration::from_secs(180));
/// assert_eq!(tc.increment, Duration::from_secs(2));
/// assert_eq!("0.5".parse::<TimeControl>().unwrap().to_string(), "0.5+0");
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(try_from = "String", into = "String")]
pub struct TimeControl {
    /// Time on each clock at the start.
    pub initial: Duration,
    /// Time added after each move.
    pub increment: Duration,
}

/// The speed of a game as Lichess defines it: by the initial time and forty increments.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Speed {
    /// Less than 30 seconds.
    UltraBullet,
    /// Less than 3 minutes.
    Bullet,
    /// Less than 8 minutes.
    Blitz,
    /// Less than 25 minutes.
    Rapid,
    /// A longer time with a clock.
    Classical,
    /// Days for a move, or unlimited time.
    Correspondence,
}

impl Speed {
    /// All speeds, the fastest first.
    pub const ALL: [Speed; 6] = [
        Speed::UltraBullet,
        Speed::Bullet,
        Speed::Blitz,
        Speed::Rapid,
        Speed::Classical,
        Speed::Correspondence,
    ];

    /// The speed of a game with this clock, or without one.
    pub fn of(clock: Option<TimeControl>) -> Speed {
        let Some(TimeControl { initial, increment }) = clock else { return Speed::Correspondence };
        match initial.saturating_add(increment.saturating_mul(40)).as_secs() {
            0..30 => Speed::UltraBullet,
            30..180 => Speed::Bullet,
            180..480 => Speed::Blitz,
            480..1500 => Speed::Rapid,
            _ => Speed::Classical,
        }
    }
}

/// Upper bound of a time that comes from outside: longer than any clock of any server, and so short that instants and
/// sums of a few such times do not overflow. Parsers cut longer times to it.
pub const MAX_TIME: Duration = Duration::from_secs(10 * 365 * 24 * 3600);

/// Longer than any game with a clock, and far from overflows in arithmetic on instants.
const MAX_SECONDS: f64 = 7.0 * 24.0 * 3600.0;

impl FromStr for TimeControl {
    type Err = BadTimeControl;

    fn from_str(text: &str) -> Result<Self, BadTimeControl> {
        let (initial, increment) = text.split_once('+').unwrap_or((text, "0"));
        let seconds = |field: &str| {
            let value: f64 = field.trim().parse().ok()?;
            (0.0..=MAX_SECONDS).contains(&value).then(|| Duration::from_secs_f64(value))
        };
        match (seconds(initial), seconds(increment)) {
            (Some(initial), Some(increment)) if !initial.is_zero() => Ok(TimeControl { initial, increment }),
            _ => Err(BadTimeControl(text.chars().take(32).collect())),
        }
    }
}

impl TryFrom<String> for TimeControl {
    type Error = BadTimeControl;
    fn try_from(text: String) -> Result<Self, BadTimeControl> {
        text.parse()
    }
}

impl From<TimeControl> for String {
    fn from(tc: TimeControl) -> String {
        tc.to_string()
    }
}

impl fmt::Display for TimeControl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}+{}", self.initial.as_secs_f64(), self.increment.as_secs_f64())
    }
}

/// Text that is not a time control.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error(
    "'{0}' is not a time control: expected seconds for the game and an increment, as in \"180+2\" or \"3+0.05\""
)]
pub struct BadTimeControl(String);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nonsense_is_refused() {
        for text in ["", "x", "0+1", "-1+0", "1e9", "nan+0", "inf", "1+", "1+-2", "1+2+3"] {
            assert!(text.parse::<TimeControl>().is_err(), "{text}");
        }
        let error = "x".repeat(40).parse::<TimeControl>().unwrap_err().to_string();
        assert!(error.starts_with(&format!("'{}' is not a time control", "x".repeat(32))), "{error}");
    }

    #[test]
    fn time_controls_are_read_and_written() {
        for (text, initial, increment, written) in [
            ("180+2", 180_000, 2000, "180+2"),
            (" 3 + 0.05", 3000, 50, "3+0.05"),
            ("0.5", 500, 0, "0.5+0"),
            ("604800+604800", 604_800_000, 604_800_000, "604800+604800"),
        ] {
            let expected = TimeControl {
                initial: Duration::from_millis(initial),
                increment: Duration::from_millis(increment),
            };
            assert_eq!(text.parse(), Ok(expected), "{text}");
            assert_eq!(TimeControl::try_from(text.to_owned()), Ok(expected));
            assert_eq!(
                (expected.to_string(), String::from(expected)),
                (written.to_owned(), written.to_owned())
            );
        }
    }

    #[test]
    fn a_week_is_the_longest_time() {
        for text in ["604801", "604800.1+1", "1+604801"] {
            assert!(text.parse::<TimeControl>().is_err(), "{text}");
        }
        let ten_years = 3650 * 86_400;
        assert_eq!(MAX_TIME.as_secs(), ten_years);
    }

    #[test]
    fn the_speed_is_that_of_lichess() {
        for (time_control, speed) in [
            ("29", Speed::UltraBullet),
            ("29.9", Speed::UltraBullet),
            ("0.1+0.7", Speed::UltraBullet),
            ("30", Speed::Bullet),
            ("10+0.5", Speed::Bullet),
            ("179", Speed::Bullet),
            ("60+2", Speed::Bullet),
            ("180", Speed::Blitz),
            ("60+3", Speed::Blitz),
            ("479", Speed::Blitz),
            ("480", Speed::Rapid),
            ("300+5", Speed::Rapid),
            ("900+14", Speed::Rapid),
            ("1499", Speed::Rapid),
            ("900+15", Speed::Classical),
            ("1500", Speed::Classical),
        ] {
            assert_eq!(Speed::of(Some(time_control.parse().unwrap())), speed, "{time_control}");
        }
        assert_eq!(Speed::of(None), Speed::Correspondence);
        let longest = TimeControl { initial: Duration::MAX, increment: Duration::MAX };
        assert_eq!(Speed::of(Some(longest)), Speed::Classical);
    }
}
