//! Mistakes in a configuration, each in one line: place, key, what was expected and what was found.

use std::fmt;

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
    /// A mistake that concerns the whole file, or a key of it that no line is known of.
    pub(in crate::cli) fn of_file(file: &str, key: impl Into<String>, what: impl Into<String>) -> Self {
        let place = Place::File { name: file.to_owned(), line: None };
        ConfigError { place, key: key.into(), what: what.into() }
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.place.fmt(f)?;
        if !self.key.is_empty() {
            write!(f, " {}:", self.key)?;
        }
        write!(f, " {}", self.what)
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
        ConfigErrors { file: file.to_owned(), errors: vec![ConfigError::of_file(file, "", what)] }
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

/// Shortest part of a word that stands for the whole.
const MIN_PART: usize = 3;

/// Rewrites a message of serde as `expected …, got …`, in one line.
pub(super) fn plain(message: &str) -> String {
    let message = message.split_whitespace().collect::<Vec<_>>().join(" ");
    let split = |prefix: &str| message.strip_prefix(prefix)?.split_once(", expected ");
    if let Some((got, expected)) = split("invalid type: ").or_else(|| split("invalid value: ")) {
        format!("expected {}, got {got}{}", type_name(expected), hint(got, quoted(expected)))
    } else if let Some((key, known)) = split("unknown field ") {
        let hint = hint(key, quoted(known));
        format!("unknown key {key}{hint}; known here: {}", known.trim_start_matches("one of "))
    } else if let Some((got, known)) = split("unknown variant ") {
        format!("expected {}, got {got}{}", known.trim_start_matches("one of "), hint(got, quoted(known)))
    } else if let Some((wrong, known)) = message.split_once("; known: ")
        && let Some(word) = wrong.split('\'').nth(1)
    {
        format!("{wrong}{}; known: {known}", hint(word, known.split(", ")))
    } else if message == "invalid socket address syntax" {
        format!("expected {}", type_name("socket address"))
    } else {
        message
    }
}

/// Words between backticks.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// Asks whether one of these words was meant; empty if none is like it. The word may stand in quotes.
pub(super) fn hint<'w>(word: &str, known: impl IntoIterator<Item = &'w str>) -> String {
    let word = word.trim_start_matches("string ").trim_matches(['`', '"']);
    let distance = |known: &str| match known.starts_with(word) && word.len() >= MIN_PART {
        true => 1,
        false => strsim::osa_distance(&word.to_lowercase(), &known.to_lowercase()),
    };
    let known = known.into_iter().map(|known| (distance(known), known));
    let is_like = |(distance, known): &(usize, &str)| *distance <= known.len().max(word.len()) / 3;
    let nearest = known.filter(is_like).min_by_key(|(distance, _)| *distance);
    nearest.map_or_else(String::new, |(_, known)| format!(" (did you mean `{known}`?)"))
}

/// Rewrites serde's name of a type.
fn type_name(expected: &str) -> &str {
    match expected {
        "u8" => "a whole number from 0 to 255",
        "u16" => "a whole number from 0 to 65535",
        "u32" => "a whole number from 0 to 4294967295",
        "a nonzero u16" => "a whole number from 1 to 65535",
        "a nonzero u32" => "a whole number from 1 to 4294967295",
        "usize" | "u64" => "a whole number, not below zero",
        "a nonzero usize" | "a nonzero u64" => "a whole number above zero",
        "i8" | "i16" | "i32" | "i64" => "a whole number",
        "f32" | "f64" => "a number",
        "socket address" => "an address to listen on, such as \"127.0.0.1:8000\"",
        "a string" => "text in quotes",
        "a boolean" => "true or false",
        "a duration" => "a duration such as \"50ms\" or \"2s\"",
        "a sequence" => "a list in [brackets]",
        "a map" => "a table",
        _ if expected.starts_with("struct ") => "a table",
        _ => expected,
    }
}
