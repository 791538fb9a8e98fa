//! Bounds of a key, as its schema declares them.

use std::time::Duration;

use serde_json::Value;

use crate::value::toml;

/// Bound of durations that declare no maximum: added to the present time, a longer one would overflow.
pub(crate) const MAX_DURATION: &str = "3650days";

/// Returns the bounds of a key for users: `from 1 to 48`.
pub(crate) fn limits(schema: &Value) -> Option<String> {
    // Those of the type itself say nothing.
    let of_type = of_type(schema).unwrap_or([i64::MIN, i64::MAX]);
    let declared = |name: &str| schema.get(name).filter(|bound| bound.is_number());
    let is_of_type = |bound: &Value| bound.as_i64().is_some_and(|bound| of_type.contains(&bound));
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

/// Returns the least and the greatest number of a key's type.
pub(crate) fn of_type(schema: &Value) -> Option<[i64; 2]> {
    Some(match schema["format"].as_str()? {
        "int32" => [i32::MIN.into(), i32::MAX.into()],
        "uint8" => [0, u8::MAX.into()],
        "uint16" => [0, u16::MAX.into()],
        "uint32" => [0, u32::MAX.into()],
        "uint" | "uint64" => [0, i64::MAX],
        _ => return None,
    })
}

/// Returns whether a number is within the declared bounds.
pub(crate) fn allows_number(schema: &Value, number: f64) -> bool {
    let bound = |name: &str| schema[name].as_f64();
    bound("minimum").is_none_or(|min| number >= min)
        && bound("maximum").is_none_or(|max| number <= max)
        && bound("exclusiveMinimum").is_none_or(|min| number > min)
}

/// Returns whether a duration is within the declared bounds.
pub(crate) fn allows_duration(schema: &Value, time: Duration) -> bool {
    let parse = |bound| humantime::parse_duration(bound).ok();
    let max = schema["x-max"].as_str().unwrap_or(MAX_DURATION);
    let min = schema["x-min"].as_str().and_then(parse);
    min.is_none_or(|min| time >= min) && parse(max).is_none_or(|max| time <= max)
}
