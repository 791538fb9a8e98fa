//! Secrets of a configuration: in its table, in a file of their own, or in the environment.

use std::{env, path::Path};

use serde::{Deserializer, de::Error};
pub use zeitnot_wire::secret::{BadSecret, Secret, is_same, text};

use crate::secret_file;

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
