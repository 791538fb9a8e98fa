//! Checks the values of a table by the bounds that its schema declares.

use std::ops::Range;

use serde_json::Value;
use toml::{
    Spanned,
    de::{DeString, DeTable, DeValue},
};
use zeitnot_settings::{Got, fault};

/// A value out of its bounds: its place, its path from the table on, and what was expected.
pub(super) type OutOfBounds = (Range<usize>, String, String);

/// Returns the values of a table that are out of their bounds, each with the key that it is in. Types are the parser's to
/// check.
pub(super) fn out_of_bounds<'t>(
    path: &str,
    schema: &Value,
    table: &DeTable<'t>,
) -> Vec<(Spanned<DeString<'t>>, OutOfBounds)> {
    let in_key = |(key, value): (&Spanned<DeString<'t>>, &Spanned<DeValue<'t>>)| {
        let mut found = Vec::new();
        collect(inner(schema, key.get_ref()), value, &format!("{path}.{}", key.get_ref()), &mut found);
        found.into_iter().map(|found| (key.clone(), found)).collect::<Vec<_>>()
    };
    table.iter().flat_map(in_key).collect()
}

fn inner<'s>(schema: &'s Value, key: &str) -> &'s Value {
    schema["properties"].get(key).unwrap_or(&schema["additionalProperties"])
}

fn collect(schema: &Value, value: &Spanned<DeValue<'_>>, path: &str, found: &mut Vec<OutOfBounds>) {
    let got = match value.get_ref() {
        DeValue::Table(table) => {
            for (key, value) in table {
                let name = key.get_ref();
                collect(inner(schema, name), value, &format!("{path}.{name}"), found);
            }
            None
        }
        DeValue::Array(list) => {
            for (at, inner) in list.iter().enumerate() {
                collect(&schema["items"], inner, &format!("{path}[{at}]"), found);
            }
            None
        }
        DeValue::Integer(number) => {
            let number = i64::from_str_radix(number.as_str(), number.radix());
            number.ok().map(|number| Got::Number(number as f64))
        }
        DeValue::Float(number) => number.as_str().parse().ok().map(Got::Number),
        DeValue::String(text) => Some(Got::Text(text)),
        _ => None,
    };
    if let Some(what) = got.and_then(|got| fault(schema, got)) {
        found.push((value.span(), path.to_owned(), what));
    }
}
