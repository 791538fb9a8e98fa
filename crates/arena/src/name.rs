//! Names of players and tournaments.

use std::{fmt, sync::Arc};

/// Longest name, in characters.
const MAX_LENGTH: usize = 49;

/// Name that fits into one field of a message and into a table: no spaces, nothing unprintable.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Deserialize)]
#[serde(try_from = "String")]
pub struct Name(Arc<str>);

/// Invalid name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is no name: a name has 1 to {MAX_LENGTH} characters and no spaces among them")]
pub struct BadName(String);

impl Name {
    /// Returns the name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<&str> for Name {
    type Error = BadName;

    fn try_from(text: &str) -> Result<Self, BadName> {
        let length = text.chars().take(MAX_LENGTH + 1).count();
        let plain = text.chars().all(|c| !c.is_whitespace() && !c.is_control());
        match (1..=MAX_LENGTH).contains(&length) && plain {
            true => Ok(Name(text.into())),
            false => Err(BadName(printable(text, MAX_LENGTH + 1))),
        }
    }
}

impl TryFrom<String> for Name {
    type Error = BadName;
    fn try_from(text: String) -> Result<Self, BadName> {
        Name::try_from(text.as_str())
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// Makes text from outside safe to show: no control characters, at most `max` characters.
pub(crate) fn printable(text: &str, max: usize) -> String {
    text.chars().filter(|c| !c.is_control()).take(max).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn valid_and_invalid_names() {
        let long = "é".repeat(MAX_LENGTH);
        for good in ["a", "Élise", "bot-1_x", &long] {
            assert_eq!(Name::try_from(good).unwrap().as_str(), good);
        }
        for bad in ["", "a b", "a\tb", "a\u{1b}[2J", &format!("{long}x")] {
            assert!(Name::try_from(bad).is_err(), "{bad:?}");
        }
    }
}
