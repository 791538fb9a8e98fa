//! Secrets, which no log, error or screen shows, and which are compared in constant time.

use std::{
    env, fmt,
    hash::{Hash, Hasher},
    path::Path,
};

use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Deserializer, de::Error};
use subtle::ConstantTimeEq;
use utoipa::ToSchema;

use crate::secret_file;

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

    /// Reads any text from a configuration, such as the password of somebody else's server. The error does not repeat
    /// it.
    ///
    /// # Errors
    /// It is no text.
    pub fn any<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Secret>, D::Error> {
        text(deserializer).map(|text| Some(Secret::of(text)))
    }

    /// Hides any text.
    pub fn of(text: String) -> Secret {
        Secret(SecretString::from(text))
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

    /// Returns the secret, still hidden from `Debug`.
    pub fn hidden(&self) -> &SecretString {
        &self.0
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
    String::deserialize(deserializer).map_err(|_| D::Error::custom("expected text in quotes"))
}

/// Key of a table for a secret, which a file or the environment may hold instead.
#[derive(Copy, Clone, Debug)]
pub struct SecretKey {
    /// Name of the key.
    pub key: &'static str,
    /// Environment variable that takes precedence.
    pub variable: &'static str,
    /// In bytes.
    pub max_length: usize,
}

impl SecretKey {
    /// Reads the text of the table.
    ///
    /// # Errors
    /// It is not fit for a [`Secret`].
    pub fn read<'de, D: Deserializer<'de>>(self, table: D) -> Result<Option<Secret>, D::Error> {
        Secret::new(text(table)?, self.max_length).map(Some).ok_or_else(|| D::Error::custom(self.expected()))
    }

    /// Finds the secret: in the environment first, then in the file, then in the table.
    ///
    /// # Errors
    /// The file cannot be read, or what is found is not fit for a [`Secret`].
    pub fn find(self, written: Option<Secret>, file: Option<&Path>) -> Result<Option<Secret>, String> {
        let SecretKey { key, variable, max_length } = self;
        if let Ok(text) = env::var(variable) {
            let secret = Secret::new(text, max_length);
            return secret.map(Some).ok_or_else(|| format!("in {variable}: {}", self.expected()));
        }
        let Some(file) = file else { return Ok(written) };
        let shown = file.display();
        let text =
            secret_file::read(file).map_err(|error| format!("cannot use {key}_file {shown}: {error}"))?;
        let secret = Secret::new(text, max_length);
        secret.map(Some).ok_or_else(|| format!("in {key}_file {shown}: {}", self.expected()))
    }

    fn expected(self) -> String {
        format!("expected a {} of letters, digits and punctuation, without a space", self.key)
    }
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
