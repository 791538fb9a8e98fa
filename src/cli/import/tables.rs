//! Both configurations during a conversion: theirs, from which keys are taken, and ours, in which they are set.

use std::{mem, path::Path};

use serde_json::{Map, Value};
use toml::{Table, Value as Toml};

use super::{
    source::{Row, Source, is_in},
    values,
};

pub(super) struct Import<'h> {
    pub(super) source: &'static Source,
    /// The keys that are not converted yet.
    pub(super) theirs: Value,
    /// Keys of earlier releases: their paths today, and in the file.
    moved: Vec<(&'static str, &'static str)>,
    /// The table of names to which `theirs` belongs, if it is one of its entries, and the name.
    entry: Option<(&'static str, String)>,
    pub(super) home: &'h Path,
    pub(super) ours: Table,
    pub(super) left: Vec<String>,
}

impl<'h> Import<'h> {
    pub(super) fn new(source: &'static Source, theirs: Value, home: &'h Path) -> Import<'h> {
        let mut import = Import {
            source,
            theirs,
            moved: Vec::new(),
            entry: None,
            home,
            ours: Table::new(),
            left: Vec::new(),
        };
        for &(old, new) in source.moved {
            if import.look(new).is_none()
                && let Some(value) = import.take(old)
            {
                import.put(new, value);
                import.moved.push((new, old));
            }
        }
        import
    }

    /// Converts an entry of a table of names: paths are relative to it meanwhile. In the tables of keys `*` stands for
    /// its name.
    pub(super) fn entry<T>(
        &mut self,
        table: &'static str,
        name: &str,
        keys: Value,
        convert: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let all = mem::replace(&mut self.theirs, keys);
        self.entry = Some((table, clean(name)));
        let converted = convert(self);
        self.leave_rest();
        self.theirs = all;
        self.entry = None;
        converted
    }

    /// The path of a key as the tables of keys have it.
    fn known(&self, path: &str) -> String {
        match &self.entry {
            Some((table, _)) if path.is_empty() => format!("{table}.*"),
            Some((table, _)) => format!("{table}.*.{path}"),
            None => path.to_owned(),
        }
    }

    /// The path of a key as the file has it.
    fn shown(&self, path: &str) -> String {
        let path = match &self.entry {
            Some((table, name)) if path.is_empty() => format!("{table}.{name}"),
            Some((table, name)) => format!("{table}.{name}.{path}"),
            None => path.to_owned(),
        };
        self.moved.iter().rev().fold(path, |path, (new, old)| match is_in(&path, new) {
            true => format!("{old}{}", &path[new.len()..]),
            false => path,
        })
    }

    /// Converts a row, if the key is there; values that cannot be converted are reported.
    pub(super) fn row(&mut self, row: &Row) {
        if !row.is_list {
            return self.copy(row.theirs, row.ours, row.read);
        }
        let mut known = Vec::new();
        let why = self.source.reason(&self.known(row.theirs)).unwrap_or("not supported");
        for entry in self.take_list(row.theirs) {
            match (row.read)(&entry) {
                Some(value) => known.push(value),
                None => self.leave(&format!("{}: {}", row.theirs, word(&entry)), why),
            }
        }
        if !known.is_empty() {
            row.ours.iter().for_each(|ours| self.set(ours, known.clone()));
        }
    }

    pub(super) fn copy(&mut self, theirs: &str, ours: &[&str], read: values::Read) {
        let Some(value) = self.take(theirs) else { return };
        let name = theirs.rsplit('.').next().unwrap_or(theirs);
        let unlimited = self.source.unlimited.iter().find(|(maximum, _)| *maximum == name);
        if let Some((_, none)) = unlimited.filter(|_| values::is_unlimited(&value)) {
            return ours.iter().for_each(|ours| match none {
                Some(none) => self.set(ours, *none),
                None => drop(self.unset(ours)),
            });
        }
        match read(&value) {
            Some(value) => ours.iter().for_each(|ours| self.set(ours, value.clone())),
            None if self.is_alike(theirs, &value) || value.is_null() => {}
            None => self.leave(theirs, "this value is not supported"),
        }
    }

    /// Rules that have a switch, with their defaults.
    pub(super) fn rules(&mut self) {
        for (switch, rows) in self.source.rules {
            let is_on = self.take(switch) == Some(Value::Bool(true));
            for (row, default) in *rows {
                if is_on {
                    row.ours.iter().for_each(|ours| self.set(ours, *default));
                    self.row(row);
                } else {
                    self.take(row.theirs);
                }
            }
        }
    }

    /// Drops the tables that are switched off.
    pub(super) fn drop_disabled(&mut self) {
        for switch in self.source.switches {
            let (table, _) = switch.rsplit_once('.').unwrap_or((switch, ""));
            if self.look(switch) != Some(&Value::Bool(true)) {
                self.take(table);
            }
        }
    }

    /// Takes an engine's own options.
    pub(super) fn options(&mut self, table: &str) -> Table {
        let plain = |value: &Value| match value {
            Value::Bool(flag) => Some(Toml::Boolean(*flag)),
            Value::Number(number) => {
                number.as_i64().map(Toml::Integer).or_else(|| number.as_f64().map(Toml::Float))
            }
            Value::String(text) if !text.contains(char::is_control) => Some(Toml::String(text.clone())),
            _ => None,
        };
        let mut options = Table::new();
        if let Some(theirs) = self.look_mut(table).and_then(Value::as_object_mut) {
            theirs.retain(|name, value| {
                let ours = plain(value).filter(|_| !name.contains(char::is_control));
                let is_left = ours.is_none();
                options.extend(ours.map(|ours| (name.clone(), ours)));
                is_left
            });
        }
        options
    }

    /// Ponders in each game, as the other bots do.
    pub(super) fn ponder(&mut self) {
        let max_games = self.ours_at("server.concurrency").and_then(Toml::as_integer).unwrap_or(1);
        self.set("bot.ponder", max_games);
    }

    /// Removes the words in braces that nothing replaces, as the other bots do, too.
    pub(super) fn messages(&mut self, table: &str) {
        let Some(messages) = self.look_mut(table).and_then(Value::as_object_mut) else { return };
        let mut unknown = Vec::new();
        for (key, message) in messages {
            let Value::String(text) = message else { continue };
            let words = values::unknown_placeholders(text);
            words.iter().for_each(|word| *text = text.replace(word.as_str(), ""));
            unknown.extend(words.into_iter().map(|word| format!("{table}.{key}: {word}")));
        }
        unknown.iter().for_each(|word| self.leave(word, "is not replaced, so it is removed"));
    }

    pub(super) fn look(&self, path: &str) -> Option<&Value> {
        path.split('.').try_fold(&self.theirs, |value, key| value.get(key))
    }

    fn look_mut(&mut self, path: &str) -> Option<&mut Value> {
        path.split('.').try_fold(&mut self.theirs, |value, key| value.get_mut(key))
    }

    pub(super) fn take(&mut self, path: &str) -> Option<Value> {
        let (table, key) = path.rsplit_once('.').unwrap_or(("", path));
        let table = if table.is_empty() { &mut self.theirs } else { self.look_mut(table)? };
        table.as_object_mut()?.remove(key)
    }

    /// Adds a key of theirs. Creates its tables.
    pub(super) fn put(&mut self, path: &str, value: Value) {
        let mut place = &mut self.theirs;
        for key in path.split('.') {
            if place.is_null() {
                *place = Value::Object(Map::new());
            }
            let Some(table) = place.as_object_mut() else { return };
            place = table.entry(key).or_insert(Value::Null);
        }
        *place = value;
    }

    pub(super) fn take_text(&mut self, path: &str) -> Option<String> {
        self.take(path)?.as_str().map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned)
    }

    /// Takes a value if it can be read; another stays, and is reported.
    pub(super) fn take_if<T>(&mut self, path: &str, read: fn(&Value) -> Option<T>) -> Option<T> {
        let value = read(self.look(path)?)?;
        self.take(path);
        Some(value)
    }

    /// Takes a list, or a single value as a list of one.
    pub(super) fn take_list(&mut self, path: &str) -> Vec<Value> {
        match self.take(path) {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::Array(list)) => list,
            Some(one) => vec![one],
        }
    }

    pub(super) fn ours_at(&self, path: &str) -> Option<&Toml> {
        let (first, rest) = path.split_once('.')?;
        rest.split('.').try_fold(self.ours.get(first)?, |value, key| value.get(key))
    }

    /// Sets a key, or adds to a list. Creates its tables.
    pub(super) fn set(&mut self, path: &str, value: impl Into<Toml>) {
        let (tables, key) = path.rsplit_once('.').unwrap_or(("", path));
        let mut table = &mut self.ours;
        for name in tables.split('.') {
            let next = table.entry(name).or_insert_with(|| Toml::Table(Table::new()));
            let Toml::Table(next) = next else { return };
            table = next;
        }
        match (table.get_mut(key), value.into()) {
            (Some(Toml::Array(list)), Toml::Array(more)) => {
                for entry in more {
                    if !list.contains(&entry) {
                        list.push(entry);
                    }
                }
            }
            (_, value) => _ = table.insert(key.to_owned(), value),
        }
    }

    pub(super) fn unset(&mut self, path: &str) -> Option<Toml> {
        let (tables, key) = path.rsplit_once('.')?;
        let (first, rest) =
            tables.split_once('.').map_or((tables, None), |(first, rest)| (first, Some(rest)));
        let mut steps = rest.into_iter().flat_map(|rest| rest.split('.'));
        steps
            .try_fold(self.ours.get_mut(first)?, |value, key| value.get_mut(key))?
            .as_table_mut()?
            .remove(key)
    }

    /// A path of theirs relative to the current folder.
    pub(super) fn path(&self, path: &Path) -> String {
        let path = self.home.join(path.strip_prefix(".").unwrap_or(path));
        // A bare name would be looked up in the search path.
        let is_bare = path.parent() == Some(Path::new(""));
        if is_bare { format!("./{}", path.display()) } else { path.display().to_string() }
    }

    /// Takes a list of paths of theirs.
    pub(super) fn take_paths(&mut self, key: &str) -> Vec<Toml> {
        let paths = self.take_list(key);
        paths.iter().filter_map(Value::as_str).map(|path| self.path(Path::new(path)).into()).collect()
    }

    pub(super) fn leave(&mut self, key: &str, why: &str) {
        self.left.push(format!("{} ({why})", self.shown(key)));
    }

    /// Reports the keys that were not converted.
    pub(super) fn leave_rest(&mut self) {
        // Taking keys changes their order.
        self.theirs.sort_all_objects();
        match mem::take(&mut self.theirs) {
            Value::Object(theirs) => self.leave_keys("", &theirs),
            other if has_leaves(&other) => self.leave("", "expected a table of keys"),
            _ => {}
        }
    }

    fn leave_keys(&mut self, table: &str, keys: &Map<String, Value>) {
        for (key, value) in keys {
            let key = clean(key);
            let path = if table.is_empty() { key } else { format!("{table}.{key}") };
            let known = self.known(&path);
            match value {
                Value::Object(keys) if !self.source.whole.contains(&&*known) => self.leave_keys(&path, keys),
                value if !has_leaves(value) || self.is_alike(&path, value) => {}
                _ => self.leave(&path, self.source.reason(&known).unwrap_or("there is no such key here")),
            }
        }
    }

    fn is_alike(&self, path: &str, value: &Value) -> bool {
        self.source.is_alike(&self.known(path), &word(value))
    }
}

/// Whether a value contains more than empty tables and lists.
pub(super) fn has_leaves(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Array(list) => !list.is_empty(),
        Value::String(text) => !text.is_empty(),
        Value::Object(keys) => keys.values().any(has_leaves),
        Value::Bool(_) | Value::Number(_) => true,
    }
}

/// A value as a short text in one line.
fn word(value: &Value) -> String {
    clean(&value.as_str().map_or_else(|| value.to_string(), str::to_owned))
}

pub(super) fn clean(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(60).collect()
}

/// A name as our tables of names have it.
pub(super) fn table_name(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' }).collect()
}
