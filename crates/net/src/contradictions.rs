//! Contradictions between the keys of a configuration: each names its keys, and says what to do.

use std::time::Duration;

/// Keys that cannot stand together, or one that leaves nothing to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contradiction {
    /// Paths of the keys that make it, such as `server[0].concurrency`. Where none of them is set, it is none.
    pub keys: Vec<String>,
    /// Facts, and what to do.
    pub what: String,
}

/// A value of a key, in messages.
pub trait Shown: PartialOrd {
    /// Returns the value as the file has it.
    fn shown(&self) -> String;
}

impl Shown for Duration {
    fn shown(&self) -> String {
        humantime::format_duration(*self).to_string()
    }
}

macro_rules! shown {
    ($($number:ty)*) => {
        $(impl Shown for $number {
            fn shown(&self) -> String {
                self.to_string()
            }
        })*
    };
}

shown!(u16 u32 usize i32);

/// Contradictions of a configuration, which is checked table by table.
#[derive(Debug, Default)]
pub struct Contradictions {
    /// Path of the table, with a dot at its end.
    table: String,
    found: Vec<Contradiction>,
}

impl Contradictions {
    /// Returns what was found.
    pub fn into_found(self) -> Vec<Contradiction> {
        self.found
    }

    /// Checks a table of this table.
    pub fn within(&mut self, table: &str, check: impl FnOnce(&mut Contradictions)) {
        let length = self.table.len();
        self.table += &format!("{table}.");
        check(self);
        self.table.truncate(length);
    }

    /// Adds a contradiction of these keys.
    pub fn add(&mut self, keys: &[&str], what: impl Into<String>) {
        let keys = keys.iter().map(|key| format!("{}{key}", self.table)).collect();
        self.found.push(Contradiction { keys, what: what.into() });
    }

    /// Checks that a minimum is not above its maximum; either may be missing.
    pub fn ordered<T: Shown>(&mut self, min: (&str, Option<T>), max: (&str, Option<T>)) {
        let keys = [min.0, max.0];
        if let (Some(low), Some(high)) = (min.1, max.1) {
            self.not_above(&keys, (min.0, low), (max.0, high));
        }
    }

    /// Checks that a value is not above the limit that another key sets. Where the value is a default, it is not.
    pub fn at_most<T: Shown>(&mut self, value: (&str, T), limit: (&str, T)) {
        self.not_above(&[value.0], value, limit);
    }

    fn not_above<T: Shown>(&mut self, keys: &[&str], (key, value): (&str, T), (limit_key, limit): (&str, T)) {
        if value > limit {
            let (value, limit) = (value.shown(), limit.shown());
            let above = format!("{key} ({value}) is above {limit_key} ({limit})");
            self.add(keys, format!("{above}: lower {key}, or raise {limit_key}"));
        }
    }

    /// Checks that a list has items. `effect` tells what an empty one causes, and what to do.
    pub fn not_empty(&mut self, key: &str, is_empty: bool, effect: &str) {
        if is_empty {
            self.add(&[key], format!("is empty, so {effect}"));
        }
    }

    /// Checks that these times leave some time.
    pub fn above_zero(&mut self, times: &[(&str, Duration)]) {
        for (key, _) in times.iter().filter(|(_, time)| time.is_zero()) {
            self.add(&[key], "must be above 0s");
        }
    }

    /// Checks that no item of one list is in the other.
    pub fn disjoint<T: PartialEq + ToString>(&mut self, one: (&str, &[T]), other: (&str, &[T])) {
        if let Some(both) = one.1.iter().find(|item| other.1.contains(item)) {
            let both = both.to_string();
            self.add(
                &[one.0, other.0],
                format!("{both} is in {} and in {}: remove it from one", one.0, other.0),
            );
        }
    }

    /// Checks that each table of a list has another value of this key.
    pub fn distinct<T: PartialEq + ToString>(&mut self, list: &str, key: &str, values: &[T]) {
        for (at, value) in values.iter().enumerate() {
            if let Some(before) = values[..at].iter().position(|other| other == value) {
                let what = format!("{} is in {list}[{before}] already: remove one", value.to_string());
                self.add(&[&format!("{list}[{at}].{key}")], what);
            }
        }
    }
}
