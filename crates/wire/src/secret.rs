//! Text in messages that no log and no error shows.

use std::{cmp::Ordering, fmt};

use secrecy::{ExposeSecret, SecretString};
use subtle::ConstantTimeEq;

/// Password, key or token. `Debug` does not show it; it is compared in a time that depends on the lengths only.
#[derive(Clone)]
pub struct Secret(SecretString);

impl Secret {
    /// Hides a text.
    pub fn new(text: impl Into<SecretString>) -> Secret {
        Secret(text.into())
    }

    /// Returns the text, which must not reach a log.
    pub fn expose(&self) -> &str {
        self.0.expose_secret()
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

impl PartialEq for Secret {
    fn eq(&self, other: &Secret) -> bool {
        self.expose().as_bytes().ct_eq(other.expose().as_bytes()).into()
    }
}

impl Eq for Secret {}

impl PartialOrd for Secret {
    fn partial_cmp(&self, other: &Secret) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// By length, then by text: a look-up in a map tells nobody how much of a secret was right.
impl Ord for Secret {
    fn cmp(&self, other: &Secret) -> Ordering {
        let ours = self.expose().as_bytes();
        let theirs = other.expose().as_bytes();
        let first_difference = ours
            .iter()
            .zip(theirs)
            .fold(0, |before: i16, (a, b)| before + (i16::from(*a) - i16::from(*b)) * i16::from(before == 0));
        ours.len().cmp(&theirs.len()).then(first_difference.cmp(&0))
    }
}
