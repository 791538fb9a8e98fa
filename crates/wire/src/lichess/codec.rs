//! Representations of plain values in the API's JSON.

use std::time::Duration;

use serde::{Deserialize, Deserializer, Serializer};
use serde_json::Number;
use zeitnot_rules::MAX_TIME;

/// End of the year 9999, since 1970: calendars know no later one.
const MAX_DATE: Duration = Duration::from_secs(253_402_300_799);

/// Parses `null` as the default.
pub(super) fn nullable<'de, T: Deserialize<'de> + Default, D: Deserializer<'de>>(
    d: D,
) -> Result<T, D::Error> {
    Option::deserialize(d).map(Option::unwrap_or_default)
}

/// For `skip_serializing_if`.
pub(super) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Negative clocks count as zero.
fn whole(number: &Number) -> u64 {
    number.as_u64().unwrap_or_else(|| number.as_f64().unwrap_or_default() as u64)
}

macro_rules! durations {
    ($(#[$doc:meta])* $name:ident, $from:expr, $into:expr) => {
        $(#[$doc])*
        pub(crate) mod $name {
            use super::*;

            pub(crate) fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Duration, D::Error> {
                option::deserialize(d).map(Option::unwrap_or_default)
            }

            pub(crate) fn serialize<S: Serializer>(time: &Duration, s: S) -> Result<S::Ok, S::Error> {
                let into: fn(&Duration) -> u64 = $into;
                s.serialize_u64(into(time))
            }

            pub(crate) mod option {
                use super::*;

                pub(crate) fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Option<Duration>, D::Error> {
                    let time = Option::<Number>::deserialize(d)?.as_ref().map(whole).map($from);
                    Ok(time.map(|time: Duration| time.min(MAX_TIME)))
                }

                pub(crate) fn serialize<S: Serializer>(time: &Option<Duration>, s: S) -> Result<S::Ok, S::Error> {
                    match time {
                        Some(time) => super::serialize(time, s),
                        None => s.serialize_none(),
                    }
                }
            }
        }
    };
}

durations!(
    /// Integral milliseconds, cut to [`MAX_TIME`].
    millis,
    Duration::from_millis,
    |time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
);
durations!(
    /// Integral seconds, cut to [`MAX_TIME`].
    seconds,
    Duration::from_secs,
    Duration::as_secs
);

/// Integral milliseconds since 1970, cut to [`MAX_DATE`].
pub(super) mod timestamp {
    use super::*;

    pub(crate) use super::millis::option::serialize;

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Option<Duration>, D::Error> {
        let since = Option::<Number>::deserialize(d)?.as_ref().map(whole).map(Duration::from_millis);
        Ok(since.map(|since| since.min(MAX_DATE)))
    }
}

/// `{"initial": ms, "increment": ms}`.
pub(super) mod clock {
    use serde::Serialize;

    use super::*;
    use zeitnot_rules::TimeControl;

    #[derive(Serialize, Deserialize)]
    struct Clock {
        #[serde(with = "millis")]
        initial: Duration,
        #[serde(default, with = "millis")]
        increment: Duration,
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Option<TimeControl>, D::Error> {
        let clock = Option::<Clock>::deserialize(d)?;
        Ok(clock.map(|Clock { initial, increment }| TimeControl { initial, increment }))
    }

    pub(crate) fn serialize<S: Serializer>(clock: &Option<TimeControl>, s: S) -> Result<S::Ok, S::Error> {
        clock.map(|TimeControl { initial, increment }| Clock { initial, increment }).serialize(s)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absurd_times_are_cut() {
        for number in ["9223372036854775807", "18446744073709551615", "1e300"] {
            let json = || serde_json::Deserializer::from_str(number);
            assert_eq!(seconds::deserialize(&mut json()).unwrap(), MAX_TIME);
            assert_eq!(millis::deserialize(&mut json()).unwrap(), MAX_TIME);
            assert_eq!(timestamp::deserialize(&mut json()).unwrap(), Some(MAX_DATE));
        }
        let date = timestamp::deserialize(&mut serde_json::Deserializer::from_str("1800000000000"));
        assert_eq!(date.unwrap(), Some(Duration::from_secs(1_800_000_000)), "a date is no span of time");
    }
}
