//! Names of players and tournaments.

use std::{borrow::Borrow, fmt, sync::Arc};

use serde::{Deserialize, Serialize};
use unicode_security::{GeneralSecurityProfile, RestrictionLevel, RestrictionLevelDetection, skeleton};
use utoipa::ToSchema;
use zeitnot_settings::{JsonSchema, schemars};
use zeitnot_wire::printable;

/// Longest name, in characters.
const MAX_LENGTH: usize = 49;

/// Name that fits into one field of a message, one segment of a URL and into a table, and that shows what it is: no spaces,
/// nothing invisible, and no letters of several scripts that look alike.
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema, ToSchema,
)]
#[serde(try_from = "String", into = "String")]
#[schema(value_type = String, min_length = 1, max_length = 49, pattern = "^\\S+$")]
pub struct Name(Arc<str>);

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadName {
    #[error("'{0}' is not a name: a name has 1 to {MAX_LENGTH} characters and no spaces among them")]
    Form(String),
    #[error("'{0}' is not a name: it has a character that is invisible or no letter, digit or ASCII sign")]
    Character(String),
    #[error("'{0}' is not a name: in the address of a page it stands for a folder; add a letter or a digit")]
    Path(String),
    #[error("'{0}' is not a name: it mixes letters of several scripts, which can look alike")]
    Mixed(String),
}

impl Name {
    /// Returns the name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns what names that cannot be told apart by eye have in common.
    pub fn look(&self) -> String {
        skeleton(&self.0).collect()
    }
}

impl From<Name> for String {
    fn from(name: Name) -> String {
        name.as_str().to_owned()
    }
}

impl Borrow<str> for Name {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl TryFrom<&str> for Name {
    type Error = BadName;

    fn try_from(text: &str) -> Result<Self, BadName> {
        let length = text.chars().take(MAX_LENGTH + 1).count();
        let shown = || printable(text, MAX_LENGTH + 1);
        if !(1..=MAX_LENGTH).contains(&length) || text.chars().any(|c| c.is_whitespace() || c.is_control()) {
            return Err(BadName::Form(shown()));
        }
        // Clients resolve these segments of a URL, also percent-encoded, before they send it.
        if matches!(text, "." | "..") {
            return Err(BadName::Path(shown()));
        }
        let is_letter = |c: char| !c.is_ascii() || c.is_ascii_alphanumeric();
        let letters: String = text.chars().filter(|c| is_letter(*c)).collect();
        if !letters.chars().all(GeneralSecurityProfile::identifier_allowed) {
            return Err(BadName::Character(shown()));
        }
        if !letters.check_restriction_level(RestrictionLevel::HighlyRestrictive) {
            return Err(BadName::Mixed(shown()));
        }
        Ok(Name(text.into()))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn valid_and_invalid_names() {
        let long = "é".repeat(MAX_LENGTH);
        for good in ["a", "Élise", "bot-1_x", "Müller+Co.", "Иван", "小明", "bot小明", &long] {
            assert_eq!(Name::try_from(good).map(|name| name.to_string()), Ok(good.to_owned()));
        }
        for bad in ["", "a b", "a\tb", "a\u{1b}[2J", &format!("{long}x")] {
            assert!(matches!(Name::try_from(bad), Err(BadName::Form(_))), "{bad:?}");
        }
    }

    #[test]
    fn a_name_can_stand_in_a_url() {
        for bad in [".", ".."] {
            assert_eq!(Name::try_from(bad), Err(BadName::Path(bad.to_owned())));
        }
        // Clients encode the others.
        for good in ["...", ".a", "%2e", "a/b", "a?b#c"] {
            assert!(Name::try_from(good).is_ok(), "{good}");
        }
    }

    #[test]
    fn names_that_deceive_the_eye_are_refused() {
        // Zero-width space, joiner and no-break; right-to-left override and mark; soft hyphen; filler; tag; selector.
        for hidden in "\u{200b}\u{200d}\u{feff}\u{202e}\u{200f}\u{ad}\u{3164}\u{e0041}\u{fe0f}".chars() {
            let bad = Name::try_from(format!("ali{hidden}ce"));
            assert_eq!(bad, Err(BadName::Character("alice".into())), "{hidden:?}");
        }
        // A Cyrillic and a Greek letter in a Latin word, and letters for mathematics.
        for bad in ["\u{430}lice", "alic\u{3b5}"] {
            assert!(matches!(Name::try_from(bad), Err(BadName::Mixed(_))), "{bad}");
        }
        assert!(matches!(Name::try_from("\u{1d44e}lice"), Err(BadName::Character(_))));
    }

    #[test]
    fn names_that_look_alike_have_one_look() {
        let look = |name: &str| Name::try_from(name).unwrap().look();
        for (one, other) in [("coco", "\u{441}\u{43e}\u{441}\u{43e}"), ("Al1ce", "AlIce"), ("é", "e\u{301}")]
        {
            assert_eq!(look(one), look(other), "{one} {other}");
        }
        for (one, other) in [("alice", "alise"), ("bot-1", "bot-2"), ("alice", "Alice")] {
            assert_ne!(look(one), look(other));
        }
    }
}
