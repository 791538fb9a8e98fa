//! Comparison of a value in the file with the schema of its key.

use std::fmt;

use serde_json::Value;

use crate::{
    bounds::{MAX_DURATION, allows_duration, allows_number, limits, of_type},
    hint::hint,
    value::values,
};

/// Value in the file.
#[derive(Copy, Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum Got<'t> {
    Integer(i128),
    Float(f64),
    Text(&'t str),
    Flag(bool),
    Date,
    List,
    Table,
}

impl Got<'_> {
    /// Returns its name, and the types of JSON schema that it fits.
    fn kind(&self) -> (&'static str, &'static [&'static str]) {
        match self {
            Got::Integer(_) => ("a number", &["integer", "number"]),
            Got::Float(_) => ("a number", &["number"]),
            Got::Text(_) => ("text", &["string"]),
            Got::Flag(_) => ("true or false", &["boolean"]),
            Got::Date => ("a date", &[]),
            Got::List => ("a list", &["array"]),
            Got::Table => ("a table", &["object"]),
        }
    }
}

impl fmt::Display for Got<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Got::Integer(number) => number.fmt(f),
            // 1.0 is not a whole number.
            Got::Float(number) => write!(f, "{number:?}"),
            Got::Text(text) => Value::from(*text).fmt(f),
            Got::Flag(flag) => flag.fmt(f),
            Got::Date | Got::List | Got::Table => f.write_str(self.kind().0),
        }
    }
}

/// Returns why a value cannot be that of a key: `expected a whole number from 1 to 48, got 0`. Items of lists and keys of
/// tables are not looked at.
pub fn fault(schema: &Value, got: &Got<'_>) -> Option<String> {
    if let Some(values) = values(schema) {
        let text = got.to_string();
        let hint = || match schema["x-hints"][text.trim_matches('"').to_lowercase()].as_str() {
            Some(meant) => format!(" (did you mean `{meant}`?)"),
            None => hint(&text, values.iter().map(String::as_str)),
        };
        return (!values.contains(&text))
            .then(|| format!("expected {}, got {got}{}", listed(&values), hint()));
    }
    let declared = match &schema["type"] {
        Value::String(one) => vec![one.as_str()],
        several => several.as_array().into_iter().flatten().filter_map(Value::as_str).collect(),
    };
    let (name, fits) = got.kind();
    if !declared.is_empty() && !declared.iter().any(|kind| fits.contains(kind)) {
        let limits = limits_of(schema).map(|limits| format!(" {limits}")).unwrap_or_default();
        // A value of another type may be a secret without its quotes, so it is not shown.
        return Some(match declared.contains(&"string") && schema["x-type"].is_null() {
            true => format!("expected {}, got {name}", expected(schema)),
            false => format!("expected {}{limits}, got {got}", expected(schema)),
        });
    }
    let limits = match *got {
        Got::Integer(number) => {
            let [least, most] = of_type(schema).unwrap_or([i64::MIN, i64::MAX]).map(i128::from);
            let is_of_type = (least..=most).contains(&number);
            if is_of_type && allows_number(schema, number as f64) {
                return None;
            }
            limits(schema).unwrap_or_else(|| match most == i64::MAX.into() {
                true => format!("from {least}"),
                false => format!("from {least} to {most}"),
            })
        }
        Got::Float(number) if !allows_number(schema, number) => limits(schema)?,
        Got::Text(text) if schema["x-type"] == *"duration" => match humantime::parse_duration(text) {
            Ok(time) if allows_duration(schema, time) => return None,
            Ok(time) if schema["x-max"].is_null() && !allows_duration(&Value::Null, time) => {
                format!("up to \"{MAX_DURATION}\"")
            }
            _ => limits_of(schema)?,
        },
        _ => return None,
    };
    Some(format!("expected {} {limits}, got {got}", expected(schema)))
}

/// Returns the bounds of a key; of a duration without any, examples.
fn limits_of(schema: &Value) -> Option<String> {
    let examples = || (schema["x-type"] == *"duration").then(|| "such as \"50ms\" or \"2s\"".to_owned());
    limits(schema).or_else(examples)
}

/// Names what a key may be, but for its bounds.
fn expected(schema: &Value) -> String {
    let kind = match (&schema["type"], schema["x-type"].as_str()) {
        (_, Some("duration")) => "a duration",
        (Value::Array(_), _) => "text, a number, or true or false",
        (kind, _) => match kind.as_str().unwrap_or_default() {
            "integer" => "a whole number",
            "number" => "a number",
            "boolean" => "true or false",
            "array" => "a list in [brackets]",
            "object" => "a table",
            _ => {
                let example = schema["examples"][0].as_str().or(schema["default"].as_str());
                let example = example.filter(|example| !example.is_empty());
                let example = example.map(|example| format!(", such as \"{example}\"")).unwrap_or_default();
                return format!("text in quotes{example}");
            }
        },
    };
    kind.to_owned()
}

fn listed(values: &[String]) -> String {
    match values {
        [before @ .., last] if !before.is_empty() => format!("{} or {last}", before.join(", ")),
        values => values.concat(),
    }
}
