//! Words that no log, error or screen may show.

use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Deserializer, de::Error};

/// One word of signs that can be printed: what a header or a line can carry. It is never shown.
#[derive(Clone, Debug)]
pub struct Secret(SecretString);

impl Secret {
    /// `None`: it is empty, longer than this, or no such word.
    pub fn new(text: String, longest: usize) -> Option<Secret> {
        let fits = (1..=longest).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_graphic());
        fits.then(|| Secret(SecretString::from(text)))
    }

    /// To be handed on, still hidden.
    pub(super) fn hidden(&self) -> &SecretString {
        &self.0
    }

    /// The word itself; it must not reach a log.
    pub fn expose(&self) -> &str {
        self.0.expose_secret()
    }
}

/// Text that may be a secret, from a configuration: the error does not say what was found there.
pub(super) fn text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    String::deserialize(deserializer).map_err(|_| D::Error::custom("expected text in quotes"))
}
