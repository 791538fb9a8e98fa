//! Tables of all keys, in Markdown.

use std::fmt::Write;

use serde_json::Value;

use crate::{
    bounds::limits,
    tables::{Key, tables},
    value::{toml, typed},
};

/// Writes a section for each table of a configuration with this schema.
pub fn page(root: &Value) -> String {
    let mut text = String::new();
    let tables = tables(root);
    for table in &tables {
        let label = table.label();
        // Tables of several protocols may have the same header.
        let is_shared = tables.iter().filter(|other| other.header == table.header).count() > 1;
        let title = match label.split_once(' ') {
            Some((header, protocol)) => format!("`{header}` {protocol}"),
            None if label.is_empty() => "At the top".to_owned(),
            None => match table.protocol.filter(|_| is_shared) {
                Some(protocol) => format!("`{label}` {protocol}"),
                None => format!("`{label}`"),
            },
        };
        let _ = writeln!(text, "### {title}\n");
        // The top of the file has no description but that of the whole.
        if !label.is_empty() && !table.description.is_empty() {
            let _ = writeln!(text, "{}\n", linked(table.description));
        }
        if table.keys.is_empty() {
            continue;
        }
        text += "| key | type | default | bounds | reload | meaning |\n|---|---|---|---|---|---|\n";
        for key in &table.keys {
            row(&mut text, key);
        }
        text.push('\n');
    }
    text
}

fn row(text: &mut String, key: &Key<'_>) {
    let default = match key.default() {
        Some(value) => format!("`{}`", toml(value)),
        None if key.is_required => "required".to_owned(),
        None => String::new(),
    };
    let cells = [
        format!("`{}`", key.name),
        typed(key.schema),
        default,
        limits(key.schema).unwrap_or_default(),
        if key.is_reloadable { "yes".to_owned() } else { String::new() },
        linked(key.description()),
    ];
    let cells = cells.map(|cell| cell.replace('|', "\\|"));
    let _ = writeln!(text, "| {} |", cells.join(" | "));
}

/// Names of pages, such as docs/web.md, as links from a page beside them.
fn linked(description: &str) -> String {
    let word = |word: &str| {
        let page = word.strip_prefix("docs/").and_then(|rest| rest.split_once(".md"));
        page.map_or_else(|| word.to_owned(), |(name, rest)| format!("[{name}.md]({name}.md){rest}"))
    };
    description.split(' ').map(word).collect::<Vec<_>>().join(" ")
}
