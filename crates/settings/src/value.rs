//! Values as TOML has them, and the names of their types.

use serde::Serialize;
use serde_json::Value;

/// Returns the keys of a table that differ from their defaults, but for these, as the file has them.
pub fn changed<T: Serialize + Default>(table: &T, except: &[&str]) -> Vec<String> {
    let [now, usual] = [table, &T::default()].map(|table| serde_json::to_value(table).unwrap_or_default());
    let keys = now.as_object().into_iter().flatten();
    let is_shown = |(name, value): &(&String, &Value)| {
        !except.contains(&name.as_str()) && usual[name.as_str()] != **value
    };
    keys.filter(is_shown).map(|(name, value)| format!("{name} = {}", toml(value))).collect()
}

/// Writes a value in one line.
pub(crate) fn toml(value: &Value) -> String {
    match value {
        Value::Array(list) => format!("[{}]", list.iter().map(toml).collect::<Vec<_>>().join(", ")),
        Value::Object(table) if table.is_empty() => "{}".to_owned(),
        Value::Object(table) => {
            let entry = |(name, value): (&String, &Value)| format!("{} = {}", key(name), toml(value));
            format!("{{ {} }}", table.iter().map(entry).collect::<Vec<_>>().join(", "))
        }
        // Strings are written as in JSON.
        other => other.to_string(),
    }
}

fn key(name: &str) -> String {
    let is_bare = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-".contains(&b));
    if is_bare { name.to_owned() } else { Value::from(name).to_string() }
}

/// Returns the values that a key may have, if they are listed.
pub(crate) fn values(schema: &Value) -> Option<Vec<String>> {
    if let Some(constant) = schema.get("const") {
        return Some(vec![toml(constant)]);
    }
    if let Some(values) = schema["enum"].as_array() {
        return Some(values.iter().map(toml).collect());
    }
    let parts = schema["oneOf"].as_array()?.iter().map(values);
    parts.collect::<Option<Vec<_>>>().map(|parts| parts.concat())
}

/// Returns the type of a key for users: "whole number", "duration".
pub(crate) fn typed(schema: &Value) -> String {
    if let Some(values) = values(schema) {
        return values.join(", ");
    }
    if let Some(name) = schema["x-type"].as_str() {
        return name.to_owned();
    }
    match schema["type"].as_str() {
        Some("integer") => "whole number".to_owned(),
        Some("number") => "number".to_owned(),
        Some("boolean") => "true, false".to_owned(),
        Some("array") => format!("list of {}", typed(&schema["items"])),
        Some("object") => "table".to_owned(),
        _ => "text".to_owned(),
    }
}
