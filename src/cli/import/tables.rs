//! Both configurations during a conversion: theirs, from which keys are taken, and ours, in which they are set.

use std::path::Path;

use serde_json::Value;
use toml::{Table, Value as Toml};

use super::{
    rows::{ALIKE, UNLIMITED},
    values,
};

pub(super) struct Import<'h> {
    /// The keys that are not converted yet.
    pub(super) theirs: Value,
    pub(super) home: &'h Path,
    pub(super) ours: Table,
    pub(super) left: Vec<String>,
}

impl Import<'_> {
    pub(super) fn copy(&mut self, theirs: &str, ours: &[&str], read: values::Read) {
        let Some(value) = self.take(theirs) else { return };
        let name = theirs.rsplit('.').next().unwrap_or(theirs);
        let unlimited = UNLIMITED.iter().find(|(maximum, _)| *maximum == name);
        if let Some((_, none)) = unlimited.filter(|_| values::is_unlimited(&value)) {
            return ours.iter().for_each(|ours| match none {
                Some(none) => self.set(ours, *none),
                None => drop(self.unset(ours)),
            });
        }
        match read(&value) {
            Some(value) => ours.iter().for_each(|ours| self.set(ours, value.clone())),
            None if is_alike(theirs, &value) || value.is_null() => {}
            None => self.leave(theirs, "this value is not supported"),
        }
    }

    pub(super) fn look(&self, path: &str) -> Option<&Value> {
        path.split('.').try_fold(&self.theirs, |value, key| value.get(key))
    }

    pub(super) fn look_mut(&mut self, path: &str) -> Option<&mut Value> {
        path.split('.').try_fold(&mut self.theirs, |value, key| value.get_mut(key))
    }

    pub(super) fn take(&mut self, path: &str) -> Option<Value> {
        let (table, key) = path.rsplit_once('.').unwrap_or(("", path));
        let table = if table.is_empty() { &mut self.theirs } else { self.look_mut(table)? };
        table.as_object_mut()?.remove(key)
    }

    pub(super) fn take_text(&mut self, path: &str) -> Option<String> {
        self.take(path)?.as_str().map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned)
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

    pub(super) fn leave(&mut self, key: &str, why: &str) {
        self.left.push(format!("{key} ({why})"));
    }
}

/// Whether the value is what happens here in any case.
pub(super) fn is_alike(path: &str, value: &Value) -> bool {
    ALIKE.iter().any(|&(key, same)| key == path && word(value) == same)
}

/// A value as a short text in one line.
pub(super) fn word(value: &Value) -> String {
    clean(&value.as_str().map_or_else(|| value.to_string(), str::to_owned))
}

pub(super) fn clean(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(60).collect()
}
