//! BotLi's books: each group has the games of its name.

use std::path::Path;

use serde_json::{Map, Value, json};
use toml::{Table, Value as Toml};

use super::{
    super::{
        tables::{Import, clean},
        values,
    },
    games::Games,
};

/// Keys of a group. In earlier releases all groups had the same.
const KEYS: [(&str, &str, values::Read); 2] =
    [("selection", "selection", values::selection), ("max_depth", "max_ply", values::number)];

pub(super) fn convert(import: &mut Import<'_>) {
    let paths = import.take("books");
    let Some(Value::Object(groups)) = import.take("opening_books.books") else { return };
    let Value::Object(mut paths) = paths.unwrap_or_else(|| json!({})) else { return };
    let common = KEYS.map(|(key, ..)| import.take(&format!("opening_books.{key}")));
    let mut books = Vec::new();
    let mut used = Vec::new();
    for (name, mut keys) in groups {
        // In earlier releases a list of names.
        if !keys.is_object() {
            keys = json!({ "names": keys });
        }
        for ((key, ..), value) in KEYS.iter().zip(&common) {
            if let (Some(value), Some(keys)) = (value, keys.as_object_mut()) {
                keys.entry(*key).or_insert_with(|| value.clone());
            }
        }
        match games(&name) {
            Err(why) => import.leave(&format!("opening_books.books.{}", clean(&name)), why),
            Ok(games) => {
                let convert = |import: &mut Import<'_>| book(import, &paths, &mut used);
                let book = import.entry("opening_books.books", &name, keys, convert);
                books.extend(book.map(|book| (games, book)));
            }
        }
    }
    books.sort_by(|(first, _), (second, _)| first.order.cmp(&second.order));
    for (games, mut book) in books {
        if games.conditions.is_empty() {
            book.into_iter().for_each(|(key, value)| import.set(&format!("bot.book.{key}"), value));
        } else {
            book.extend(games.conditions);
            import.set("bot.books", vec![Toml::Table(book)]);
        }
    }
    paths.retain(|name, _| !used.contains(name));
    import.put("books", paths.into());
}

/// The games of a group.
///
/// # Errors
/// The reason why there are none.
fn games(name: &str) -> Result<Games, &'static str> {
    match name.split('_').next() {
        // Names of earlier releases.
        Some("white" | "black") => Games::parse(&format!("standard_{name}")),
        // Engines have it, books do not.
        Some("variants") => Err("each variant has its own book"),
        _ => Games::parse(name),
    }
}

/// Converts a group. Returns none without a file.
fn book(import: &mut Import<'_>, paths: &Map<String, Value>, used: &mut Vec<String>) -> Option<Table> {
    let mut files: Vec<Toml> = Vec::new();
    for name in import.take_list("names").iter().filter_map(Value::as_str) {
        match paths.get(name).and_then(Value::as_str) {
            Some(file) => {
                files.push(import.path(Path::new(file)).into());
                used.push(name.to_owned());
            }
            None => import.leave(&format!("names: {}", clean(name)), "`books` has no such name"),
        }
    }
    let mut book = Table::new();
    for (key, ours, read) in KEYS {
        let Some(value) = import.take(key).filter(|value| !value.is_null()) else { continue };
        match read(&value) {
            Some(value) => _ = book.insert(ours.to_owned(), value),
            None => import.leave(key, "this value is not supported"),
        }
    }
    if files.is_empty() {
        return None;
    }
    book.insert("files".to_owned(), files.into());
    Some(book)
}
