//! Secrets, which no log, error or screen shows.

use std::{env, path::Path};

use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Deserializer, de::Error};

use crate::secret_file;

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
    pub fn hidden(&self) -> &SecretString {
        &self.0
    }

    /// Returns the text, which must not reach a log.
    pub fn expose(&self) -> &str {
        self.0.expose_secret()
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
