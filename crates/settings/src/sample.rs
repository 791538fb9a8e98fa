//! A configuration as an example, with every key explained.

use std::fmt::Write;

use serde_json::Value;

use crate::{
    bounds::limits,
    tables::{Key, Table, tables},
    value::{toml, values},
};

/// No line is longer, unless a value is.
const WIDTH: usize = 125;
/// Where descriptions begin that follow a value.
const COLUMN: usize = 33;

/// Contents of a sample.
#[derive(Copy, Clone, Debug)]
pub struct Sample<'a> {
    /// The first lines.
    pub head: &'a str,
    /// Paths of the tables, those in them included, as in `bot` and `server lichess`, in their order; empty: all.
    pub tables: &'a [&'a str],
    /// Labels of the tables that are not commented out, though they are optional, each with the keys that are not
    /// commented out, besides those that it must have.
    pub active: &'a [(&'a str, &'a [&'a str])],
}

/// Writes a sample of a configuration with this schema. `# key = value` is the default: without the `#`, nothing changes.
pub fn sample(root: &Value, sample: &Sample<'_>) -> String {
    let all = tables(root);
    let chosen: Vec<_> = match sample.tables {
        [] => all.iter().collect(),
        places => places.iter().flat_map(|place| all.iter().filter(|table| is_at(table, place))).collect(),
    };
    let mut text = sample.head.to_owned();
    for table in chosen {
        write_table(&mut text, table, sample);
    }
    text
}

fn is_at(table: &Table<'_>, place: &str) -> bool {
    let (path, protocol) = place.split_once(' ').map_or((place, None), |(path, name)| (path, Some(name)));
    let rest = table.path.strip_prefix(path);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        && (protocol.is_none() || protocol == table.protocol)
}

fn write_table(text: &mut String, table: &Table<'_>, sample: &Sample<'_>) {
    let label = table.label();
    let active =
        |label: &str| sample.active.iter().find(|(active, _)| *active == label).map(|(_, keys)| *keys);
    // A table that is there by default does nothing when it is there without a key.
    let is_active = match (&table.inside, table.is_optional) {
        (_, true) => active(&label).is_some(),
        (Some(outer), false) => active(outer).is_some(),
        (None, false) => true,
    };
    text.push('\n');
    if !table.header.is_empty() {
        wrap(text, table.description);
        let _ = writeln!(text, "{}{}", if is_active { "" } else { "# " }, table.header);
    }
    let named = active(&label).unwrap_or_default();
    for key in &table.keys {
        let is_set = is_active && (key.is_required || named.contains(&key.name));
        write_key(text, key, is_set);
    }
}

fn write_key(text: &mut String, key: &Key<'_>, is_set: bool) {
    let name = key.name;
    let line = match (key.default(), key.example()) {
        (default, Some(value)) if is_set || default.is_none() => {
            format!("{}{name} = {}", if is_set { "" } else { "# Example: " }, toml(value))
        }
        (Some(value), _) => format!("{}{name} = {}", if is_set { "" } else { "# " }, toml(value)),
        (None, _) => format!("# Example: {name} = …"),
    };
    let description = &explained(key, &line);
    let both = format!("{line:COLUMN$} # {description}");
    if description.is_empty() {
        let _ = writeln!(text, "{line}");
    } else if both.chars().count() <= WIDTH {
        let _ = writeln!(text, "{both}");
    } else {
        wrap(text, description);
        let _ = writeln!(text, "{line}");
    }
}

/// Returns the description, with the values and bounds that neither it nor the line of the key names.
fn explained(key: &Key<'_>, line: &str) -> String {
    let description = key.description();
    let is_named = |value: &String| line.contains(value) || description.contains(value);
    let one = values(key.schema).map(|values| ("One", values));
    let choice = one.or_else(|| values(&key.schema["items"]).map(|values| ("Any", values)));
    let choice = choice.filter(|(_, values)| !values.iter().all(is_named));
    let choice = choice.map(|(how, values)| format!("{how} of {}.", values.join(", ")));
    // That a number is at least 1 is no news.
    let bounds = limits(key.schema).filter(|limits| limits != "from 1").map(|limits| {
        let (first, rest) = limits.split_at(1);
        format!("{}{rest}.", first.to_uppercase())
    });
    let sentences = Some(description.to_owned()).into_iter().chain(choice).chain(bounds);
    sentences.filter(|sentence| !sentence.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Writes a comment.
fn wrap(text: &mut String, words: &str) {
    let mut line = String::new();
    for word in words.split_whitespace() {
        if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > WIDTH - "# ".len() {
            let _ = writeln!(text, "# {line}");
            line.clear();
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    if !line.is_empty() {
        let _ = writeln!(text, "# {line}");
    }
}
