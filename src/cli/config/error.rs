//! Mistakes in a configuration, each in one line: file, line, key, what was expected and what was found.

use std::fmt;

/// One mistake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    pub(super) file: String,
    /// `None` if it concerns the whole file; the first line is 1.
    pub(super) line: Option<usize>,
    /// With the tables it is in: `engine.hash_mib`, `server[0].player`. May be empty.
    pub(super) key: String,
    pub(super) what: String,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        if !self.key.is_empty() {
            write!(f, ": {}", self.key)?;
        }
        write!(f, ": {}", self.what)
    }
}

/// All mistakes of one file in the order of its lines, at least one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct ConfigErrors(pub(super) Vec<ConfigError>);

impl ConfigErrors {
    pub(super) fn check(mut errors: Vec<ConfigError>) -> Result<(), ConfigErrors> {
        errors.sort_by_key(|error| error.line);
        if errors.is_empty() { Ok(()) } else { Err(ConfigErrors(errors)) }
    }

    /// Each mistake.
    pub fn iter(&self) -> impl Iterator<Item = &ConfigError> {
        self.0.iter()
    }
}

impl fmt::Display for ConfigErrors {
    /// The first mistake, in one line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [first, rest @ ..] = self.0.as_slice() else { return Ok(()) };
        first.fmt(f)?;
        match rest.len() {
            0 => Ok(()),
            more => write!(f, " (and {more} more: zeitnot check --config {})", first.file),
        }
    }
}

/// Rewrites a message of serde as `expected …, got …`, in one line.
pub(super) fn plain(message: &str) -> String {
    let message = message.split_whitespace().collect::<Vec<_>>().join(" ");
    let split = |prefix: &str| message.strip_prefix(prefix)?.split_once(", expected ");
    if let Some((got, expected)) = split("invalid type: ").or_else(|| split("invalid value: ")) {
        format!("expected {}, got {got}", type_name(expected))
    } else if let Some((key, known)) = split("unknown field ") {
        format!("unknown key {key}; known here: {}", known.trim_start_matches("one of "))
    } else if let Some((got, known)) = split("unknown variant ") {
        format!("expected {}, got {got}", known.trim_start_matches("one of "))
    } else {
        message
    }
}

/// Rewrites serde's name of a type.
fn type_name(expected: &str) -> &str {
    match expected {
        "usize" | "u8" | "u16" | "u32" | "u64" => "a whole number, not below zero",
        "a nonzero usize" | "a nonzero u16" => "a whole number above zero",
        "i8" | "i16" | "i32" | "i64" => "a whole number",
        "f32" | "f64" => "a number",
        "a string" => "text in quotes",
        "a boolean" => "true or false",
        "a duration" => "a duration such as \"50ms\" or \"2s\"",
        "a sequence" => "a list in [brackets]",
        "a map" => "a table",
        _ if expected.starts_with("struct ") => "a table",
        _ => expected,
    }
}
