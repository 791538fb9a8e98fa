//! Bounds of a key, as its schema declares them.

use std::{fmt, time::Duration};

use serde_json::Value;

use crate::value::{toml, typed};

/// Value in the file.
#[derive(Copy, Clone, Debug, PartialEq)]
pub enum Got<'t> {
    /// Whole or not.
    Number(f64),
    /// Text, such as a duration.
    Text(&'t str),
}

impl fmt::Display for Got<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Got::Number(number) => number.fmt(f),
            Got::Text(text) => write!(f, "{text:?}"),
        }
    }
}

/// Returns why a value is out of its bounds: `expected a whole number from 1 to 48, got 0`. Its type is the parser's to check.
pub fn fault(schema: &Value, got: Got<'_>) -> Option<String> {
    let is_within = match got {
        Got::Number(number) => {
            let bound = |name: &str| schema[name].as_f64();
            bound("minimum").is_none_or(|min| number >= min)
                && bound("maximum").is_none_or(|max| number <= max)
                && bound("exclusiveMinimum").is_none_or(|min| number > min)
        }
        Got::Text(text) => {
            let Ok(time) = humantime::parse_duration(text) else { return None };
            bound(schema, "x-min").is_none_or(|min| time >= min)
                && bound(schema, "x-max").is_none_or(|max| time <= max)
        }
    };
    // Bounds of the type itself are the parser's to report.
    let limits = limits(schema).filter(|_| !is_within)?;
    Some(format!("expected a {} {limits}, got {got}", typed(schema)))
}

/// Returns the bounds of a key for users: `from 1 to 48`.
pub(crate) fn limits(schema: &Value) -> Option<String> {
    // Those of the type itself say nothing.
    let format = schema["format"].as_str().unwrap_or_default();
    let declared = |name: &str| schema.get(name).filter(|bound| bound.is_number());
    let is_of_type = |bound: &Value| match bound.as_i64() {
        Some(0) => format.starts_with("uint"),
        Some(max) => [u8::MAX.into(), u16::MAX.into(), u32::MAX.into(), i64::MAX].contains(&max),
        None => false,
    };
    let number = |name: &str| declared(name).filter(|bound| !is_of_type(bound)).map(toml);
    let time = |name: &str| schema[name].as_str().map(|time| format!("\"{time}\""));
    let (min, max) = (number("minimum").or(time("x-min")), number("maximum").or(time("x-max")));
    if let Some(min) = number("exclusiveMinimum").or(declared("exclusiveMinimum").map(toml)) {
        return Some(max.map_or_else(|| format!("above {min}"), |max| format!("above {min}, up to {max}")));
    }
    match (min, max) {
        (Some(min), Some(max)) => Some(format!("from {min} to {max}")),
        (Some(min), None) => Some(format!("from {min}")),
        // The least number of its type belongs to it.
        (None, Some(max)) => match declared("minimum") {
            Some(min) => Some(format!("from {} to {max}", toml(min))),
            None => Some(format!("up to {max}")),
        },
        (None, None) => None,
    }
}

fn bound(schema: &Value, name: &str) -> Option<Duration> {
    humantime::parse_duration(schema[name].as_str()?).ok()
}
