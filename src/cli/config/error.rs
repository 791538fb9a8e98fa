//! Mistakes in a configuration, each in one line: place, key, what was expected and what was found.

use std::{collections::BTreeMap, fmt};

use toml::Table;
use zeitnot_settings::hint;

/// One mistake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    pub(super) place: Place,
    /// With the tables it is in: `engine.hash_mib`, `server[0].player`. May be empty.
    pub(super) key: String,
    pub(super) what: String,
}

/// Where a mistake is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// In the file; `None` if it concerns the whole file, and the first line is 1.
    File { name: String, line: Option<usize> },
    /// In this option of the command line.
    Option(&'static str),
}

impl Place {
    /// Lines in their order, then options.
    fn rank(&self) -> (bool, Option<usize>) {
        match self {
            Place::File { line, .. } => (false, *line),
            Place::Option(_) => (true, None),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::File { name, line: Some(line) } => write!(f, "{name}:{line}:"),
            Place::File { name, line: None } => write!(f, "{name}:"),
            Place::Option(option) => f.write_str(option),
        }
    }
}

impl ConfigError {
    pub(in crate::cli) fn key_and_what(&self) -> (&str, &str) {
        (&self.key, &self.what)
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.place.fmt(f)?;
        if !self.key.is_empty() {
            write!(f, " {}:", without_tokens(&self.key))?;
        }
        write!(f, " {}", without_tokens(&self.what))
    }
}

/// The keys of a file and of the command line.
#[derive(Clone, Debug, Default)]
pub(in crate::cli) struct Keys {
    pub(in crate::cli) file: String,
    /// By their paths.
    pub(super) places: BTreeMap<String, Place>,
    pub(in crate::cli) values: Table,
}

impl Keys {
    /// Returns whether a key such as `server[0].concurrency` is set.
    pub(super) fn has(&self, path: &str) -> bool {
        self.places.contains_key(path)
    }

    /// Returns a mistake in a key, or in the file that it names, at the place of the key or of its table.
    pub(in crate::cli) fn mistake(&self, key: impl Into<String>, what: impl Into<String>) -> ConfigError {
        let key = key.into();
        let ends = key.match_indices(['.', '[']).map(|(at, _)| at).chain([key.len()]);
        let place = ends.rev().find_map(|end| self.places.get(&key[..end])).cloned();
        let place = place.unwrap_or_else(|| Place::File { name: self.file.clone(), line: None });
        ConfigError { place, key, what: what.into() }
    }
}

/// All mistakes of one file in the order of its lines, then those of the command line; at least one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct ConfigErrors {
    file: String,
    errors: Vec<ConfigError>,
}

impl ConfigErrors {
    /// One mistake that concerns the whole file.
    pub(super) fn whole(file: &str, what: impl Into<String>) -> ConfigErrors {
        let keys = Keys { file: file.to_owned(), ..Keys::default() };
        ConfigErrors { file: file.to_owned(), errors: vec![keys.mistake("", what)] }
    }

    /// Fails if there are mistakes.
    pub(in crate::cli) fn check(file: &str, mut errors: Vec<ConfigError>) -> Result<(), ConfigErrors> {
        errors.sort_by_key(|error| error.place.rank());
        if errors.is_empty() { Ok(()) } else { Err(ConfigErrors { file: file.to_owned(), errors }) }
    }

    /// Each mistake.
    pub fn iter(&self) -> impl Iterator<Item = &ConfigError> {
        self.errors.iter()
    }
}

impl fmt::Display for ConfigErrors {
    /// The first mistake, in one line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [first, rest @ ..] = self.errors.as_slice() else { return Ok(()) };
        first.fmt(f)?;
        match rest.len() {
            0 => Ok(()),
            more => write!(f, " (and {more} more: zeitnot check --config {})", self.file),
        }
    }
}

/// Rewrites a message of the parser of a table, in one line.
pub(super) fn plain(message: &str) -> String {
    let message = message.split_whitespace().collect::<Vec<_>>().join(" ");
    let invalid = message.strip_prefix("invalid value: ").and_then(|rest| rest.split_once(", expected "));
    if let Some((got, expected)) = invalid {
        format!("expected {expected}, got {got}")
    } else if let Some((wrong, known)) = message.split_once("; known: ")
        && let Some(word) = wrong.split('\'').nth(1)
    {
        format!("{wrong}{}; known: {known}", hint(word, known.split(", ")))
    } else if message == "invalid socket address syntax" {
        "expected an address to listen on, such as \"127.0.0.1:8000\"".to_owned()
    } else {
        message
    }
}

/// Rewrites a message about text that is not TOML. `at` is the text that it is about.
pub(super) fn syntax(message: &str, at: &str) -> String {
    match message {
        "duplicate key" => format!("`{at}` is there a second time: remove one"),
        "string values must be quoted, expected literal string" if at.trim().is_empty() => {
            "there is no value after `=`".to_owned()
        }
        // A word that begins as `nan` or `inf` does.
        "string values must be quoted, expected literal string" | "invalid float, expected `nan`" => {
            "text needs quotes".to_owned()
        }
        _ if message.starts_with("invalid basic string") => {
            "the closing quote of a text is missing".to_owned()
        }
        _ if message.starts_with("invalid boolean") => "expected true or false; text needs quotes".to_owned(),
        _ if message.starts_with("cannot extend value") => {
            "is set to a value above, and cannot be a table as well: remove one".to_owned()
        }
        _ if message.starts_with("missing escaped value") => {
            "unknown escape: write \\ twice, or the text in 'single quotes'".to_owned()
        }
        _ => plain(message),
    }
}

/// Hides tokens of Lichess: a user may have pasted one into any key.
fn without_tokens(text: &str) -> String {
    const START: &str = "lip_";
    let is_in = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut parts = text.split(START);
    let mut shown = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let is_word = !shown.ends_with(is_in) && part.starts_with(is_in);
        shown += START;
        shown += if is_word { "…" } else { "" };
        shown += if is_word { part.trim_start_matches(is_in) } else { part };
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::without_tokens;

    #[test]
    fn tokens_of_lichess_are_hidden() {
        for (text, shown) in [
            ("cannot read token_file lip_Abc_1: no", "cannot read token_file lip_…: no"),
            ("lip_a lip_b", "lip_… lip_…"),
            ("flip_board, lip_", "flip_board, lip_"),
            ("none", "none"),
        ] {
            assert_eq!(without_tokens(text), shown);
        }
    }
}
