//! Secrets, which no log, error or screen shows, and which are compared in constant time.

use std::{
    cmp::Ordering,
    fmt,
    hash::{Hash, Hasher},
};

use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Deserializer, de::Error};
use subtle::ConstantTimeEq;
use utoipa::ToSchema;

/// Longest secret in bytes, where nothing else is said.
const MAX_LENGTH: usize = 100;
/// Length of a secret made here: 80 bits.
const LENGTH: usize = 16;
/// Characters of a secret made here, without those that look alike.
const ALPHABET: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";

/// Password, key or token: one printable ASCII word, fit for a header or a line, unless it is [any](Secret::any) text.
#[derive(Clone, Deserialize, ToSchema)]
#[serde(try_from = "String")]
#[schema(value_type = String, min_length = 1, max_length = 100, pattern = "^[!-~]+$")]
pub struct Secret(SecretString);

/// Text that is not a [`Secret`]. It does not repeat the text.
#[derive(Copy, Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected 1 to {MAX_LENGTH} letters, digits and signs without spaces")]
pub struct BadSecret;

impl Secret {
    /// Returns `None` if the text is empty, longer than `max_length`, or not such a word.
    pub fn new(text: String, max_length: usize) -> Option<Secret> {
        let fits = (1..=max_length).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_graphic());
        fits.then(|| Secret(SecretString::from(text)))
    }

    /// Reads any text, such as the password of somebody else's server, or nothing. The error does not repeat it.
    ///
    /// # Errors
    /// It is not text.
    pub fn any<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Secret>, D::Error> {
        Option::deserialize(deserializer).map(|text| text.map(Secret::of::<String>)).map_err(not_text)
    }

    /// Hides any text.
    pub fn of<T: Into<SecretString>>(text: T) -> Secret {
        Secret(text.into())
    }

    /// Draws a secret from the system's random numbers; `None` if it has none.
    pub fn random() -> Option<Secret> {
        let mut bytes = [0; LENGTH];
        getrandom::fill(&mut bytes).ok()?;
        let text: String = bytes.map(|byte| char::from(ALPHABET[usize::from(byte % 32)])).iter().collect();
        Some(Secret::of(text))
    }

    /// Returns whether this is the secret, in a time that does not depend on where they differ.
    pub fn is(&self, shown: &str) -> bool {
        is_same(self.expose(), shown)
    }

    /// Returns the text, which must not reach a log.
    pub fn expose(&self) -> &str {
        self.0.expose_secret()
    }
}

/// Compares secrets in a time that depends on their lengths only.
pub fn is_same(ours: &str, shown: &str) -> bool {
    ours.as_bytes().ct_eq(shown.as_bytes()).into()
}

impl PartialEq for Secret {
    fn eq(&self, other: &Secret) -> bool {
        self.is(other.expose())
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

impl Hash for Secret {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.expose().hash(state);
    }
}

impl TryFrom<&str> for Secret {
    type Error = BadSecret;

    fn try_from(text: &str) -> Result<Secret, BadSecret> {
        Secret::try_from(text.to_owned())
    }
}

impl TryFrom<String> for Secret {
    type Error = BadSecret;

    fn try_from(text: String) -> Result<Secret, BadSecret> {
        Secret::new(text, MAX_LENGTH).ok_or(BadSecret)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// Reads text that may be a secret from a configuration. The error does not repeat it.
pub fn text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    String::deserialize(deserializer).map_err(not_text)
}

fn not_text<E: Error>(_: E) -> E {
    E::custom("expected text in quotes")
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    #[test]
    fn secrets_are_compared_and_hidden() {
        let secret = Secret::try_from("sesame").unwrap();
        assert!(secret.is("sesame"));
        for wrong in ["", "sesam", "sesame2", "Sesame"] {
            assert!(!secret.is(wrong), "{wrong}");
        }
        assert_eq!(format!("{secret:?}"), "Secret(…)");
        for bad in ["", "open sesame", "é", &"x".repeat(MAX_LENGTH + 1)] {
            assert_eq!(Secret::try_from(bad), Err(BadSecret));
        }
        let [one, other] = [Secret::random(), Secret::random()].map(Option::unwrap);
        assert!(one != other && one.expose().len() == LENGTH);
    }

    #[test]
    fn a_comparison_takes_as_long_wherever_the_secrets_differ() {
        let ours = "x".repeat(1 << 16);
        let (early, late) = (format!("y{}", &ours[1..]), format!("{}y", &ours[1..]));
        // The machine may be busy now and then, but never makes it quicker.
        let quickest = |shown: &str| -> Duration {
            let time = |_| {
                let began = Instant::now();
                assert!(!is_same(&ours, shown));
                began.elapsed()
            };
            (0..20).map(time).min().unwrap()
        };
        assert!(quickest(&early) > quickest(&late) / 4);
    }
}
