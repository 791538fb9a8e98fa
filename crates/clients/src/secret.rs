//! Secrets, which no log, error or screen shows.

use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Deserializer, de::Error};

/// One printable ASCII word, fit for a header or a line.
#[derive(Clone, Debug)]
pub struct Secret(SecretString);

impl Secret {
    /// Returns `None` if the text is empty, longer than `max_length`, or not such a word.
    pub fn new(text: String, max_length: usize) -> Option<Secret> {
        let fits = (1..=max_length).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_graphic());
        fits.then(|| Secret(SecretString::from(text)))
    }

    /// Returns the secret, still hidden from `Debug`.
    pub(crate) fn hidden(&self) -> &SecretString {
        &self.0
    }

    /// Returns the text, which must not reach a log.
    pub fn expose(&self) -> &str {
        self.0.expose_secret()
    }
}

/// Reads text that may be a secret from a configuration. The error does not repeat it.
pub(crate) fn text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    String::deserialize(deserializer).map_err(|_| D::Error::custom("expected text in quotes"))
}
