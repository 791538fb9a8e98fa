//! The names of players and tournaments, checked once at the door.

use std::{fmt, sync::Arc};

/// The longest name, in characters.
const LONGEST: usize = 49;

/// A name that can stand as one field of a message and in a table: no spaces, nothing unprintable.
///
/// ```
/// use zeitnot_arena::Name;
/// assert!(Name::try_from("class-7b").is_ok());
/// assert!(Name::try_from("class 7b").is_err());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Deserialize)]
#[serde(try_from = "String")]
pub struct Name(Arc<str>);

/// Text that is no name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is no name: a name has 1 to {LONGEST} characters and no spaces among them")]
pub struct BadName(String);

impl Name {
    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<&str> for Name {
    type Error = BadName;

    fn try_from(text: &str) -> Result<Self, BadName> {
        let length = text.chars().take(LONGEST + 1).count();
        let plain = text.chars().all(|c| !c.is_whitespace() && !c.is_control());
        match (1..=LONGEST).contains(&length) && plain {
            true => Ok(Name(text.into())),
            false => Err(BadName(printable(text, LONGEST + 1))),
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

/// Text from outside as it may be shown to others: nothing that moves a cursor, at most `longest` characters.
pub(super) fn printable(text: &str, longest: usize) -> String {
    text.chars().filter(|c| !c.is_control()).take(longest).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_a_name() {
        let long = "é".repeat(LONGEST);
        for good in ["a", "Élise", "bot-1_x", &long] {
            assert_eq!(Name::try_from(good).unwrap().as_str(), good);
        }
        for bad in ["", "a b", "a\tb", "a\u{1b}[2J", &format!("{long}x")] {
            assert!(Name::try_from(bad).is_err(), "{bad:?}");
        }
    }
}
