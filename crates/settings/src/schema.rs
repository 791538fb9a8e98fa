//! The schema of a table, as JSON: without references, and as TOML has it, which knows no null.

use schemars::{JsonSchema, Schema, generate::SchemaSettings, json_schema};
use serde::Serialize;
use serde_json::{Map, Value, json};

/// Returns the schema of a table.
pub fn schema_of<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    tidy(&mut schema);
    schema
}

/// Schema of text that is one of these words, as they are serialized.
pub fn words<W: Serialize>(words: impl IntoIterator<Item = W>) -> Schema {
    let words: Vec<_> = words.into_iter().map(|word| json!(word)).collect();
    json_schema!({ "type": "string", "enum": words })
}

/// Schema of a list.
#[allow(clippy::needless_pass_by_value)] // It is made for the call.
pub fn list_of(items: Schema) -> Schema {
    json_schema!({ "type": "array", "items": items })
}

/// Returns whether a key of a table, such as `challenge.bot.accept`, is declared to take effect while games run.
pub fn is_reloadable(table: &Value, key: &str) -> bool {
    let mut here = table;
    let mut is_reloadable = false;
    for step in key.split('.') {
        let name = step.split('[').next().unwrap_or_default();
        let Some(inner) = here["properties"].get(name).or_else(|| here.get("additionalProperties")) else {
            return false;
        };
        if !inner.is_object() {
            return false;
        }
        is_reloadable = inner["x-reload"].as_bool().unwrap_or(is_reloadable);
        here = if step.contains('[') { &inner["items"] } else { inner };
    }
    is_reloadable
}

/// Rewrites what the schema says of Rust's types: `Option`s as keys that may be missing, and descriptions in
/// one line.
fn tidy(schema: &mut Value) {
    match schema {
        Value::Array(list) => list.iter_mut().for_each(tidy),
        Value::Object(object) => {
            without_null(object);
            if let Some(Value::String(text)) = object.get_mut("description") {
                *text = text.split_whitespace().collect::<Vec<_>>().join(" ");
            }
            // Names of Rust's types say nothing to users.
            if object.get("title").is_some_and(Value::is_string) {
                object.shift_remove("title");
            }
            object.values_mut().for_each(tidy);
        }
        _ => {}
    }
}

/// Removes null from what a value may be, and notes that the key may be missing without a default.
fn without_null(object: &mut Map<String, Value>) {
    let is_null = |value: &Value| value.is_null() || value["type"] == json!("null");
    let mut is_optional = false;
    if object.get("default").is_some_and(Value::is_null) {
        object.shift_remove("default");
    }
    if let Some(Value::Array(types)) = object.get_mut("type") {
        is_optional = types.iter().any(|one| *one == json!("null"));
        types.retain(|one| *one != json!("null"));
        if let [one] = types.as_slice() {
            let one = one.clone();
            object.insert("type".to_owned(), one);
        }
    }
    if let Some(Value::Array(values)) = object.get_mut("enum") {
        values.retain(|value| !value.is_null());
    }
    for several in ["anyOf", "oneOf"] {
        let Some(Value::Array(parts)) = object.get_mut(several) else { continue };
        let before = parts.len();
        parts.retain(|part| !is_null(part));
        is_optional |= parts.len() < before;
        if let ([Value::Object(only)], true) = (parts.as_slice(), parts.len() < before) {
            let only = only.clone();
            object.shift_remove(several);
            for (key, value) in only {
                object.entry(key).or_insert(value);
            }
        }
    }
    if is_optional {
        object.insert("x-optional".to_owned(), json!(true));
    }
}
