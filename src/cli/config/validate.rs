//! Checks a table by its schema: unknown and missing keys, and values of another type or out of their bounds.

use std::ops::Range;

use serde_json::Value;
use toml::{
    Spanned,
    de::{DeString, DeValue},
};
use zeitnot_clients::ProtocolEntry;
use zeitnot_settings::{Got, Table, fault, hint};

use super::schema;

/// A mistake: its place, its path, and what was expected.
pub(super) type Mistake = (Range<usize>, String, String);

/// Most tables that are named to have an unknown key.
const MAX_ELSEWHERE: usize = 5;

/// Returns the mistakes in a value, and removes the keys that have some. What the schema does not say is the parser's to
/// check.
pub(super) fn take_mistakes(path: &str, schema: &Value, value: &mut Spanned<DeValue<'_>>) -> Vec<Mistake> {
    let mut found = Vec::new();
    check(schema, value, path, &mut found);
    found
}

/// Returns what is wrong with a key that a table does not have.
pub(super) fn unknown(schema: &Value, key: &str, value: &DeValue<'_>) -> String {
    let known = schema["properties"].as_object().into_iter().flatten().map(|(name, _)| format!("`{name}`"));
    let known: Vec<_> = known.collect();
    let hint = hint(key, known.iter().map(String::as_str));
    let known = known.join(", ");
    if !hint.is_empty() {
        return format!("unknown key `{key}`{hint}; known here: {known}");
    }
    if ProtocolEntry::find(key).is_some() {
        return format!("unknown key `{key}`: write [[server]] and, below it, protocol = \"{key}\"");
    }
    let is_table = value.is_table() || value.get(0).is_some_and(|first| first.get_ref().is_table());
    let is_there = |table: &&Table<'_>| match is_table {
        true => table.path.rsplit('.').next() == Some(key),
        false => table.keys.iter().any(|known| known.name == key),
    };
    let elsewhere: Vec<_> = schema::TABLES.iter().filter(is_there).map(Table::label).collect();
    match elsewhere.len() {
        1..=MAX_ELSEWHERE if is_table => {
            format!("unknown key `{key}` here: there is {}", elsewhere.join(" and "))
        }
        1..=MAX_ELSEWHERE if schema["properties"]["command"].is_object() => {
            format!("unknown key `{key}` of a program: set its own options in `options`")
        }
        1..=MAX_ELSEWHERE => format!("unknown key `{key}` here: it belongs in {}", elsewhere.join(" or ")),
        _ => format!("unknown key `{key}`; known here: {known}"),
    }
}

/// Removes the keys with mistakes from a value. Returns whether the value itself can stay.
fn check(schema: &Value, value: &mut Spanned<DeValue<'_>>, path: &str, found: &mut Vec<Mistake>) -> bool {
    let before = found.len();
    check_itself(schema, value, path, found);
    let is_right = found.len() == before;
    match value.get_mut() {
        DeValue::Table(table) => {
            let entries = std::mem::take(table).into_iter().filter_map(|(key, mut inner)| {
                check_entry(schema, &key, &mut inner, path, found).then_some((key, inner))
            });
            *table = entries.collect();
            is_right
        }
        DeValue::Array(list) => {
            let items = list.iter_mut().enumerate();
            let check = |(at, item)| check(&schema["items"], item, &format!("{path}[{at}]"), found);
            items.map(check).fold(is_right, |all, one| all && one)
        }
        _ => is_right,
    }
}

/// Checks a value, and that keys are there which it must have, but not what is in it.
fn check_itself(schema: &Value, value: &Spanned<DeValue<'_>>, path: &str, found: &mut Vec<Mistake>) {
    let got = got(value.get_ref());
    if let Some(what) = header(schema, &got, path).or_else(|| fault(schema, &got)) {
        return found.push((value.span(), path.to_owned(), what));
    }
    let DeValue::Table(table) = value.get_ref() else { return };
    let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    // The key that selects the kind of a table is checked by the table's reader.
    let required = required.filter(|name| schema["properties"][*name].get("const").is_none());
    for name in required.filter(|name| !table.contains_key(*name)) {
        found.push((value.span(), format!("{path}.{name}"), "is missing".to_owned()));
    }
}

fn check_entry(
    schema: &Value,
    key: &Spanned<DeString<'_>>,
    value: &mut Spanned<DeValue<'_>>,
    path: &str,
    found: &mut Vec<Mistake>,
) -> bool {
    let name = key.get_ref();
    let path = format!("{path}.{name}");
    let others = &schema["additionalProperties"];
    match schema["properties"].get(name.as_ref()) {
        None if *others == false => {
            found.push((key.span(), path, unknown(schema, name, value.get_ref())));
            false
        }
        inner => check(inner.unwrap_or(others), value, &path, found),
    }
}

/// Returns the hint to write a table with its header, for a key that has another value.
fn header(schema: &Value, got: &Got<'_>, path: &str) -> Option<String> {
    let header: Vec<_> = path.split('.').map(|step| step.split('[').next().unwrap_or(step)).collect();
    let header = header.join(".");
    let is_single = schema["properties"].is_object() && schema["x-inline"].is_null();
    match got {
        Got::List if is_single => Some(format!("expected single brackets: [{header}]")),
        Got::Table if is_single => None,
        _ if is_single => Some(format!("expected a table: [{header}]")),
        Got::List => None,
        _ => schema["items"]["properties"]
            .is_object()
            .then(|| format!("expected double brackets: [[{header}]]")),
    }
}

fn got<'v>(value: &'v DeValue<'_>) -> Got<'v> {
    match value {
        DeValue::Integer(number) => {
            let parsed = i128::from_str_radix(number.as_str(), number.radix());
            Got::Integer(parsed.unwrap_or(i128::MAX))
        }
        DeValue::Float(number) => Got::Float(number.as_str().parse().unwrap_or(f64::NAN)),
        DeValue::String(text) => Got::Text(text),
        DeValue::Boolean(flag) => Got::Flag(*flag),
        DeValue::Datetime(_) => Got::Date,
        DeValue::Array(_) => Got::List,
        DeValue::Table(_) => Got::Table,
    }
}
