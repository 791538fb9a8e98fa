//! Secrets that clients show: compared in constant time, and never printed.

use std::fmt;

use serde::Deserialize;
use subtle::ConstantTimeEq;
use utoipa::ToSchema;

/// Longest secret in bytes.
const MAX_LENGTH: usize = 100;
/// Length of a secret made here: 80 bits.
const LENGTH: usize = 16;
/// Characters of a secret made here, without those that look alike.
const ALPHABET: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";

/// Password or key: one printable ASCII word.
#[derive(Clone, PartialEq, Eq, Hash, Deserialize, ToSchema)]
#[serde(try_from = "String")]
#[schema(value_type = String, min_length = 1, max_length = 100, pattern = "^[!-~]+$")]
pub struct Secret(Box<str>);

/// Text that is not a [`Secret`]. It does not repeat the text.
#[derive(Copy, Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected 1 to {MAX_LENGTH} letters, digits and signs without spaces")]
pub struct BadSecret;

impl Secret {
    /// Draws a secret from the system's random numbers; `None` if it has none.
    pub fn random() -> Option<Secret> {
        let mut bytes = [0; LENGTH];
        getrandom::fill(&mut bytes).ok()?;
        Some(Secret(bytes.map(|byte| char::from(ALPHABET[usize::from(byte % 32)])).iter().collect()))
    }

    /// Returns whether this is the secret, in a time that does not depend on where they differ.
    pub fn is(&self, shown: &str) -> bool {
        is_same(&self.0, shown)
    }

    /// Returns the text, which must not reach a log.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

/// Compares secrets in a time that depends on their lengths only.
pub fn is_same(ours: &str, shown: &str) -> bool {
    ours.as_bytes().ct_eq(shown.as_bytes()).into()
}

impl TryFrom<&str> for Secret {
    type Error = BadSecret;

    fn try_from(text: &str) -> Result<Secret, BadSecret> {
        let fits = (1..=MAX_LENGTH).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_graphic());
        if fits { Ok(Secret(text.into())) } else { Err(BadSecret) }
    }
}

impl TryFrom<String> for Secret {
    type Error = BadSecret;
    fn try_from(text: String) -> Result<Secret, BadSecret> {
        Secret::try_from(text.as_str())
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
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
