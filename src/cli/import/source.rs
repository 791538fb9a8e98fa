//! The keys of another bot's configuration, and what becomes of each.

use super::values::Read;

/// A bot whose configurations are converted: tables of its keys.
#[derive(Debug)]
pub struct Source {
    /// Name of the bot.
    pub name: &'static str,
    /// Keys by which its configurations are recognised.
    pub(super) marks: &'static [&'static str],
    /// Keys of earlier releases, each with its path today.
    pub(super) moved: &'static [(&'static str, &'static str)],
    /// Keys that are converted one by one.
    pub rows: &'static [Row],
    /// Rules that have a switch: their keys, each with its default.
    pub(super) rules: &'static [(&'static str, &'static [(Row, i64)])],
    /// Maxima that may be `.inf`, by their names without their tables, each with our value for no limit; without one the
    /// key is left out.
    pub(super) unlimited: &'static [(&'static str, Option<i64>)],
    /// Switches whose whole table is dropped unless they are `true`.
    pub(super) switches: &'static [&'static str],
    /// Values that describe what happens here in any case.
    pub(super) alike: &'static [(&'static str, &'static str)],
    /// Tables that are reported as a whole.
    pub(super) whole: &'static [&'static str],
    /// Reasons why there is no equivalent; a table includes its keys.
    pub reasons: &'static [(&'static str, &'static str)],
}

/// A key of theirs, its equivalents, and the conversion of its value.
#[derive(Debug)]
pub struct Row {
    /// With the tables it is in: `challenge.max_base`.
    pub theirs: &'static str,
    /// The same for ours; `server` stands for `[[server]]`.
    pub ours: &'static [&'static str],
    pub(super) read: Read,
    /// The value is a list, whose entries are converted one by one.
    pub(super) is_list: bool,
}

pub(super) const fn one(theirs: &'static str, ours: &'static [&'static str], read: Read) -> Row {
    Row { theirs, ours, read, is_list: false }
}

pub(super) const fn each(theirs: &'static str, ours: &'static [&'static str], read: Read) -> Row {
    Row { theirs, ours, read, is_list: true }
}

/// Our keys for humans and for bots.
macro_rules! filter {
    ($key:literal) => {
        &[concat!("server.challenge.human.", $key), concat!("server.challenge.bot.", $key)]
    };
}
pub(super) use filter;

/// Rating above all on Lichess: stands for no limit where the key's default is one.
pub(super) const ANY_RATING: i64 = 4000;

/// Whether a path is this key, or in this table.
pub(super) fn is_in(path: &str, table: &str) -> bool {
    path.strip_prefix(table).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

impl Source {
    /// Whether the value is what happens here in any case.
    pub(super) fn is_alike(&self, path: &str, word: &str) -> bool {
        self.alike.contains(&(path, word))
    }

    /// Known reason why a key cannot be converted.
    pub(super) fn reason(&self, path: &str) -> Option<&'static str> {
        self.reasons.iter().find(|(known, _)| is_in(path, known)).map(|(_, why)| *why)
    }
}
