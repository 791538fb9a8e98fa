//! YAML as a JSON value, of limited depth and size: scalars as PyYAML reads them, which lichess-bot uses.

use std::collections::HashMap;

use granit_parser::{Event, Parser, ScalarStyle, Tag, options};
use serde_json::{Map, Value};

/// Collections in each other, for each of the two notations.
const MAX_DEPTH: usize = 16;
/// Nodes and bytes of text together. Each alias counts as what it stands for.
const MAX_SIZE: usize = 1 << 20;
/// Key whose mappings add their entries where a mapping has none.
const MERGE: &str = "<<";

/// Line of a mistake, or of what is too deep or too large.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct InvalidAt(pub usize);

/// Parses one document; an empty text is null.
///
/// # Errors
/// The line. The parser's messages would quote the text, which may contain a secret.
pub fn parse(yaml: &str) -> Result<Value, InvalidAt> {
    let options = options! { flow_nesting_limit: MAX_DEPTH, block_nesting_limit: MAX_DEPTH };
    let mut loader = Loader::default();
    for next in Parser::new_from_str_with_options(yaml, options) {
        let (event, span) = next.map_err(|error| InvalidAt(error.marker().line()))?;
        loader.take(event).ok_or(InvalidAt(span.start.line()))?;
    }
    Ok(loader.root.unwrap_or_default())
}

#[derive(Default)]
struct Loader {
    /// Collections that have not ended, the innermost last.
    open: Vec<Collection>,
    root: Option<Value>,
    /// Values of anchors with their sizes.
    anchors: HashMap<usize, (Value, usize)>,
    size: usize,
}

/// A collection whose entries are being read.
struct Collection {
    anchor: usize,
    /// Size of all before it.
    began: usize,
    entries: Entries,
}

enum Entries {
    List(Vec<Value>),
    /// Entries, those of merged mappings, and the key whose value is next.
    Mapping(Map<String, Value>, Vec<Value>, Option<String>),
}

impl Loader {
    /// Takes one event; `None` if it cannot be part of a configuration.
    fn take(&mut self, event: Event<'_>) -> Option<()> {
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                let began = self.size;
                self.grow(1 + text.len())?;
                let is_key =
                    matches!(self.open.last(), Some(Collection { entries: Entries::Mapping(.., None), .. }));
                let value =
                    if is_key { Value::String(text.into()) } else { scalar(&text, style, tag.as_deref()) };
                self.add(value, anchor, began)
            }
            Event::SequenceStart(_, anchor, _) => self.open(anchor, Entries::List(Vec::new())),
            Event::MappingStart(_, anchor, _) => {
                self.open(anchor, Entries::Mapping(Map::new(), Vec::new(), None))
            }
            Event::SequenceEnd | Event::MappingEnd => {
                let Collection { anchor, began, entries } = self.open.pop()?;
                self.add(entries.into_value(), anchor, began)
            }
            // A collection that contains itself has no value yet.
            Event::Alias(anchor) => {
                let (value, size) = self.anchors.get(&anchor)?;
                let value = value.clone();
                let size = *size;
                let began = self.size;
                self.grow(size)?;
                self.add(value, 0, began)
            }
            // Another document.
            Event::DocumentStart(..) if self.root.is_some() => None,
            _ => Some(()),
        }
    }

    fn grow(&mut self, size: usize) -> Option<()> {
        self.size = self.size.checked_add(size).filter(|size| *size <= MAX_SIZE)?;
        Some(())
    }

    fn open(&mut self, anchor: usize, entries: Entries) -> Option<()> {
        // As a key it would have no name.
        if let Some(Collection { entries: Entries::Mapping(.., None), .. }) = self.open.last() {
            return None;
        }
        self.open.push(Collection { anchor, began: self.size, entries });
        self.grow(1)
    }

    /// Puts a value where it belongs. The size was `began` before it.
    fn add(&mut self, value: Value, anchor: usize, began: usize) -> Option<()> {
        if anchor > 0 {
            self.anchors.insert(anchor, (value.clone(), self.size - began));
        }
        match self.open.last_mut().map(|collection| &mut collection.entries) {
            None => self.root = Some(value),
            Some(Entries::List(list)) => list.push(value),
            Some(Entries::Mapping(map, merged, key)) => match (key.take(), value) {
                (None, Value::String(text)) => *key = Some(text),
                (None, _) => return None,
                (Some(key), Value::Array(maps)) if key == MERGE => merged.extend(maps),
                (Some(key), map @ Value::Object(_)) if key == MERGE => merged.push(map),
                (Some(key), value) => drop(map.insert(key, value)),
            },
        }
        Some(())
    }
}

impl Entries {
    fn into_value(self) -> Value {
        match self {
            Entries::List(list) => list.into(),
            Entries::Mapping(mut map, merged, _) => {
                for (key, value) in merged
                    .into_iter()
                    .filter_map(|map| match map {
                        Value::Object(map) => Some(map),
                        _ => None,
                    })
                    .flatten()
                {
                    map.entry(key).or_insert(value);
                }
                map.into()
            }
        }
    }
}

/// Infinity, however the file spells it: JSON has no such number.
pub(super) const INFINITY: &str = ".inf";

/// Returns the value of a scalar.
fn scalar(text: &str, style: ScalarStyle, tag: Option<&Tag>) -> Value {
    let is_text = tag.is_some_and(|tag| tag.is_yaml_core_schema_tag("str"));
    if style != ScalarStyle::Plain || is_text {
        return text.into();
    }
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Value::Null,
        "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => return true.into(),
        "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => return false.into(),
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => return INFINITY.into(),
        _ => {}
    }
    number(text).unwrap_or_else(|| text.into())
}

fn number(text: &str) -> Option<Value> {
    let digits = text.replace('_', "");
    let unsigned = digits.trim_start_matches(['+', '-']);
    if let Some(hex) = unsigned.strip_prefix("0x") {
        return i64::from_str_radix(hex, 16).ok().map(Value::from);
    }
    // Rust also reads names such as `inf`.
    if !unsigned.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return None;
    }
    let float = || digits.parse().ok().and_then(serde_json::Number::from_f64).map(Value::Number);
    digits.parse::<i64>().ok().map(Value::from).or_else(float)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn scalars_are_those_of_pyyaml() {
        let text = "a: [yes, 'yes', 12, -1_000, 0x1f, 1.5e3, .inf, +.INF, -.inf, ~, , x: y, !!str 7, 1.2.3, \"a\\tb\"]\n1: |\n  two\n  lines\n";
        let list = json!([true, "yes", 12, -1000, 31, 1500.0, ".inf", ".inf", "-.inf", null, { "x": "y" }, "7", "1.2.3", "a\tb"]);
        assert_eq!(parse(&text.replace(" ,", "")), Ok(json!({ "a": list, "1": "two\nlines\n" })));
        assert_eq!(parse(""), Ok(Value::Null));
    }

    #[test]
    fn aliases_and_merged_mappings_are_copied_and_the_last_of_two_entries_counts() {
        let text = "a: &a {x: 1, y: 2}\nb: {<<: *a, y: 3, z: *a}\nc: {<<: [*a, {w: 4}]}\nd: 1\nd: 2";
        let a = json!({ "x": 1, "y": 2 });
        let expected =
            json!({ "a": a, "b": { "x": 1, "y": 3, "z": a }, "c": { "x": 1, "y": 2, "w": 4 }, "d": 2 });
        assert_eq!(parse(text), Ok(expected));
    }

    #[test]
    fn a_mistake_is_told_by_its_line() {
        let deep = format!("a:\n  {}{}", "[".repeat(17), "]".repeat(17));
        let large = format!("a: &a {}\nb: [{}]", "x".repeat(1 << 16), ["*a"; 16].join(","));
        for (text, line) in [
            ("a: 1\nb: [1\nc: 2", 3),
            ("a: 1\n b: 2", 2),
            ("a: 1\nb: *c", 2),
            ("a: &a\n  - *a", 2),
            ("a: 1\n? [b]\n: 1", 2),
            ("a: 1\n---\nb: 1", 2),
            (&deep, 2),
            (&large, 2),
        ] {
            assert_eq!(parse(text), Err(InvalidAt(line)), "{text:.40}");
        }
    }
}
