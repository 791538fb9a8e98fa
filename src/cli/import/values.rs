//! Conversion of single values; `None` if ours has no such value.

use std::time::Duration;

use serde_json::Value;
use toml::Value as Toml;

use zeitnot_clients::lichess::{BaseUrl, ListUrl, playable_variants};
use zeitnot_rules::TimeControl;
use zeitnot_wire::lichess::{Speed, UserId, clocks::is_offered};

use super::yaml::INFINITY;

pub(super) type Read = fn(&Value) -> Option<Toml>;

/// Maximum of all numbers.
const MAX_NUMBER: u64 = 1 << 31;

pub(super) fn number(value: &Value) -> Option<Toml> {
    value.as_i64().filter(|number| (0..=MAX_NUMBER as i64).contains(number)).map(Toml::Integer)
}

pub(super) fn positive(value: &Value) -> Option<Toml> {
    number(value).filter(|number| *number != Toml::Integer(0))
}

pub(super) fn depth(value: &Value) -> Option<Toml> {
    positive(value).filter(|_| value.as_u64().is_some_and(|depth| depth <= u16::MAX.into()))
}

pub(super) fn plies(value: &Value) -> Option<Toml> {
    value
        .as_u64()
        .filter(|moves| (1..=MAX_NUMBER / 2).contains(moves))
        .map(|moves| Toml::Integer(2 * moves as i64))
}

/// Distance of a score from zero.
pub(super) fn score(value: &Value) -> Option<Toml> {
    value.as_u64().and_then(|score| u16::try_from(score).ok()).map(|score| Toml::Integer(score.into()))
}

/// Distance of a negative score from zero.
pub(super) fn below_zero(value: &Value) -> Option<Toml> {
    score(&Value::from(value.as_i64()?.checked_neg()?))
}

/// Returns whether a maximum is infinite.
pub(super) fn is_unlimited(value: &Value) -> bool {
    value.as_str() == Some(INFINITY)
}

pub(super) fn boolean(value: &Value) -> Option<Toml> {
    value.as_bool().map(Toml::Boolean)
}

/// A switch that is on; off is the default.
pub(super) fn yes(value: &Value) -> Option<Toml> {
    boolean(value).filter(|value| *value == Toml::Boolean(true))
}

pub(super) fn seconds(value: &Value) -> Option<Toml> {
    let time = Duration::try_from_secs_f64(value.as_f64()?).ok()?;
    let text = match time.subsec_millis() {
        0 => format!("{}s", time.as_secs()),
        _ => format!("{}ms", time.as_millis()),
    };
    (time.as_secs() <= MAX_NUMBER).then(|| text.into())
}

/// Initial time of a clock: on Lichess at most three hours.
pub(super) fn base(value: &Value) -> Option<Toml> {
    seconds(&Value::from(value.as_f64()?.min(10_800.0)))
}

pub(super) fn millis(value: &Value) -> Option<Toml> {
    value.as_u64().filter(|time| *time <= MAX_NUMBER).map(|time| format!("{time}ms").into())
}

pub(super) fn minutes(value: &Value) -> Option<Toml> {
    value.as_u64().filter(|time| (1..=1 << 24).contains(time)).map(|time| format!("{time}m").into())
}

/// Text that passes a test.
fn valid(value: &Value, is_valid: impl Fn(&str) -> bool) -> Option<Toml> {
    value.as_str().filter(|text| !text.is_empty() && is_valid(text)).map(Toml::from)
}

/// Defines functions that take over one of these words.
macro_rules! words {
    ($($name:ident: $($word:literal)|+,)+) => {$(
        pub(super) fn $name(value: &Value) -> Option<Toml> {
            valid(value, |word| matches!(word, $($word)|+))
        }
    )+};
}
words! {
    order: "best" | "first",
    preference: "none" | "human" | "bot",
    rating_preference: "none" | "high" | "low",
    database: "masters" | "lichess" | "player",
    popularity: "winrate" | "games_played",
    grouping: "game" | "opponent" | "all",
    mode: "casual" | "rated",
    quality: "best" | "suggest",
    book_quality: "best" | "good" | "all",
}

pub(super) fn text(value: &Value) -> Option<Toml> {
    valid(value, |_| true)
}

pub(super) fn address(value: &Value) -> Option<Toml> {
    BaseUrl::try_from(value.as_str()?.to_owned()).ok().map(|url| url.to_string().into())
}

pub(super) fn selection(value: &Value) -> Option<Toml> {
    match value.as_str()? {
        "weighted_random" => Some("weighted".into()),
        "uniform_random" => Some("uniform".into()),
        "best_move" => Some("best".into()),
        _ => None,
    }
}

pub(super) fn modes(value: &Value) -> Option<Toml> {
    match value.as_str()? {
        "random" => Some(vec!["casual", "rated"].into()),
        one => mode(value).map(|_| vec![one].into()),
    }
}

pub(super) fn speed(value: &Value) -> Option<Toml> {
    valid(value, |word| Speed::KNOWN.iter().any(|speed| word == speed.as_str()))
}

pub(super) fn variant(value: &Value) -> Option<Toml> {
    valid(value, |word| playable_variants().iter().any(|variant| word == variant.as_str()))
}

pub(super) fn name(value: &Value) -> Option<Toml> {
    valid(value, |name| name.parse::<UserId>().is_ok())
}

/// Address of a list of names.
pub(super) fn list(value: &Value) -> Option<Toml> {
    valid(value, |url| ListUrl::try_from(url.to_owned()).is_ok())
}

/// Variants of chess by our names, and the names that engines and books of other bots have for them.
pub(super) const VARIANTS: [(&str, &[&str]); 8] = [
    ("chess960", &["chess960"]),
    ("crazyhouse", &["crazyhouse", "house", "zh"]),
    ("atomic", &["atomic", "atom"]),
    ("antichess", &["antichess", "anti"]),
    ("horde", &["horde"]),
    ("king-of-the-hill", &["kingofthehill", "koth", "hill"]),
    ("racing-kings", &["racingkings", "racing", "race"]),
    ("three-check", &["3check", "threecheck", "three-check", "3-check"]),
];

/// A clock to which bots can be challenged, from whole seconds.
pub(super) fn clock(initial: u64, increment: u64) -> Option<String> {
    let clock = format!("{initial}+{increment}");
    clock.parse::<TimeControl>().is_ok_and(is_offered).then_some(clock)
}

/// Whether bots can be challenged to a variant.
pub(super) fn is_proposed(name: &str) -> bool {
    name != "fromPosition" && playable_variants().iter().any(|variant| variant.as_str() == name)
}

/// Words in braces that the chat replaces.
const PLACEHOLDERS: [&str; 4] = ["{opponent}", "{me}", "{engine}", "{version}"];

/// The other words in braces.
pub(super) fn unknown_placeholders(text: &str) -> Vec<String> {
    let word = |rest: &str| {
        let (word, _) = rest.split_once('}')?;
        let is_word = !word.is_empty() && word.chars().all(|c| c.is_alphanumeric() || "_-".contains(c));
        is_word.then(|| format!("{{{word}}}"))
    };
    let words = text.split('{').skip(1).filter_map(word);
    words.filter(|word| !PLACEHOLDERS.contains(&word.as_str())).collect()
}

/// Initial time and increment in seconds, of a text of minutes and seconds such as `0.5+1`.
pub(super) fn minutes_clock(text: &str) -> Option<(u64, u64)> {
    let (minutes, increment) = text.split_once('+')?;
    let seconds = minutes.parse::<f64>().ok()? * 60.0;
    let is_clock = (0.0..=10_800.0).contains(&seconds) && seconds.fract() == 0.0;
    is_clock.then_some(seconds as u64).zip(increment.parse().ok().filter(|increment| *increment <= 180))
}

/// A speed, or a clock in minutes and seconds; ours is in seconds.
pub(super) fn speed_or_clock(value: &Value) -> Option<Toml> {
    let clock = value.as_str().and_then(minutes_clock);
    clock
        .and_then(|(initial, increment)| self::clock(initial, increment).map(Toml::from))
        .or_else(|| speed(value))
}

/// Criterion for the explorer's best move. There is no counterpart of the performance rating.
pub(super) fn botli_popularity(value: &Value) -> Option<Toml> {
    (value.as_str()? == "win_rate").then(|| "winrate".into())
}
