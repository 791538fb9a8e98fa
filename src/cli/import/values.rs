//! What becomes of a value on its way from lichess-bot's configuration to ours; `None` where we have nothing like it.

use std::time::Duration;

use serde_json::Value;
use toml::Value as Toml;

use zeitnot_clients::lichess::{BaseUrl, ListUrl};
use zeitnot_wire::lichess::{Speed, UserId};

/// How a value is read.
pub type Read = fn(&Value) -> Option<Toml>;

/// No number of a configuration is larger.
const LARGEST: i64 = 1 << 31;

/// Something that is counted.
pub fn number(value: &Value) -> Option<Toml> {
    value.as_i64().filter(|number| (0..=LARGEST).contains(number)).map(Toml::Integer)
}

/// Something of which there is one at least.
pub fn positive(value: &Value) -> Option<Toml> {
    number(value).filter(|number| *number != Toml::Integer(0))
}

/// Their plies are counted in moves of both sides.
pub fn plies(value: &Value) -> Option<Toml> {
    value.as_i64().filter(|moves| (1..=LARGEST / 2).contains(moves)).map(|moves| Toml::Integer(2 * moves))
}

/// A score, as near to zero.
pub fn score(value: &Value) -> Option<Toml> {
    value.as_u64().and_then(|score| u16::try_from(score).ok()).map(|score| Toml::Integer(score.into()))
}

/// A score below zero is told without its sign here.
pub fn below_zero(value: &Value) -> Option<Toml> {
    score(&Value::from(value.as_i64()?.checked_neg()?))
}

/// True or false.
pub fn boolean(value: &Value) -> Option<Toml> {
    value.as_bool().map(Toml::Boolean)
}

pub fn seconds(value: &Value) -> Option<Toml> {
    let time = Duration::try_from_secs_f64(value.as_f64()?).ok()?;
    let text = match time.subsec_millis() {
        0 => format!("{}s", time.as_secs()),
        _ => format!("{}ms", time.as_millis()),
    };
    Some(Toml::String(text)).filter(|_| time.as_secs() <= LARGEST.unsigned_abs())
}

/// A clock at the start: Lichess has none of more than three hours.
pub fn base(value: &Value) -> Option<Toml> {
    seconds(&Value::from(value.as_f64()?.min(10_800.0)))
}

pub fn millis(value: &Value) -> Option<Toml> {
    value
        .as_u64()
        .filter(|time| *time <= LARGEST.unsigned_abs())
        .map(|time| Toml::String(format!("{time}ms")))
}

pub fn minutes(value: &Value) -> Option<Toml> {
    value.as_u64().filter(|time| (1..=1 << 24).contains(time)).map(|time| Toml::String(format!("{time}m")))
}

pub fn text(value: &Value) -> Option<Toml> {
    value.as_str().filter(|text| !text.is_empty()).map(|text| Toml::String(text.to_owned()))
}

/// The address of a server.
pub fn address(value: &Value) -> Option<Toml> {
    let base = BaseUrl::try_from(value.as_str()?.to_owned()).ok()?;
    Some(Toml::String(base.to_string()))
}

/// One of their words, as ours.
fn translated(value: &Value, words: &[(&str, &str)]) -> Option<Toml> {
    let word = value.as_str()?;
    words.iter().find(|(theirs, _)| *theirs == word).map(|(_, ours)| Toml::String((*ours).to_owned()))
}

pub fn order(value: &Value) -> Option<Toml> {
    translated(value, &[("best", "best"), ("first", "first")])
}

pub fn selection(value: &Value) -> Option<Toml> {
    translated(
        value,
        &[("weighted_random", "weighted"), ("uniform_random", "uniform"), ("best_move", "best")],
    )
}

pub fn database(value: &Value) -> Option<Toml> {
    translated(value, &[("masters", "masters"), ("lichess", "lichess"), ("player", "player")])
}

pub fn popularity(value: &Value) -> Option<Toml> {
    translated(value, &[("winrate", "winrate"), ("games_played", "games_played")])
}

pub fn grouping(value: &Value) -> Option<Toml> {
    translated(value, &[("game", "game"), ("opponent", "opponent"), ("all", "all")])
}

/// Of a choice by chance, what may come of it.
pub fn modes(value: &Value) -> Option<Toml> {
    let modes: &[&str] = match value.as_str()? {
        "random" => &["casual", "rated"],
        "casual" => &["casual"],
        "rated" => &["rated"],
        _ => return None,
    };
    Some(modes.iter().map(|mode| Toml::String((*mode).to_owned())).collect::<Vec<_>>().into())
}

pub fn mode(value: &Value) -> Option<Toml> {
    translated(value, &[("casual", "casual"), ("rated", "rated")])
}

pub fn speed(value: &Value) -> Option<Toml> {
    text(value).filter(|word| Speed::KNOWN.iter().any(|speed| word.as_str() == Some(speed.as_str())))
}

/// A variant that our rules know.
pub fn variant(value: &Value) -> Option<Toml> {
    let played = zeitnot_clients::lichess::playable_variants();
    text(value).filter(|word| played.iter().any(|variant| word.as_str() == Some(variant.as_str())))
}

pub fn name(value: &Value) -> Option<Toml> {
    text(value).filter(|word| word.as_str().is_some_and(|name| name.parse::<UserId>().is_ok()))
}

/// The address of a list of names.
pub fn list(value: &Value) -> Option<Toml> {
    text(value).filter(|word| word.as_str().is_some_and(|url| ListUrl::try_from(url.to_owned()).is_ok()))
}
