//! Answers to requests.

use std::{collections::BTreeMap, fmt, time::Duration};

use serde::{Deserialize, Serialize};

use super::{Challenge, ChallengeEnd, Message, WireError, codec::seconds, read, shorten, write};
use crate::printable;

/// Longest refusal that is shown, in characters.
const MAX_SHOWN: usize = 500;

/// `{"ok":true}`.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Done {
    pub ok: bool,
}

impl Done {
    /// Success.
    pub const OK: Done = Done { ok: true };
}

/// Error of a request. Any text can be parsed as one, because proxies answer in HTML.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    pub error: FailureText,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ratelimit: Option<RateLimit>,
}

impl Failure {
    /// Creates an error with this text.
    pub fn new(text: impl Into<String>) -> Failure {
        Failure { error: FailureText::Text(text.into()), ratelimit: None }
    }
}

/// Text of an error.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum FailureText {
    Text(String),
    /// Texts for each field of a form.
    Fields(BTreeMap<String, Vec<String>>),
}

/// Rate limit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RateLimit {
    pub key: String,
    /// Remaining time.
    #[serde(rename = "seconds", default, with = "seconds")]
    pub wait: Duration,
}

impl RateLimit {
    /// Key of the limit of 100 games per day between bots.
    pub const BOT_VS_BOT: &str = "bot.vsBot.day";
}

impl fmt::Display for Failure {
    /// Whole unless it is very long, without control characters.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.error {
            FailureText::Text(text) => f.write_str(&printable(text, MAX_SHOWN)),
            FailureText::Fields(fields) => {
                let one = |(field, texts): (&String, &Vec<String>)| format!("{field}: {}", texts.join(", "));
                f.write_str(&printable(&fields.iter().map(one).collect::<Vec<_>>().join("; "), MAX_SHOWN))
            }
        }
    }
}

impl Message for Failure {
    /// Never fails: any other body becomes the error's text, shortened.
    fn parse(body: &str) -> Result<Self, WireError> {
        let bare = || read("refusal", body).map(|error| Failure { error, ratelimit: None });
        Ok(read("refusal", body).or_else(|_| bare()).unwrap_or_else(|_| Failure::new(shorten(body))))
    }

    fn to_line(&self) -> String {
        write(self)
    }
}

/// Line of the answer to a challenge with `keepAliveStream`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Keepalive {
    /// Last line: the fate of the challenge.
    Done { done: ChallengeEnd },
    /// First line of older servers.
    Wrapped { challenge: Box<Challenge> },
    /// First line, and the only one of a challenge without `keepAliveStream`.
    Created(Box<Challenge>),
}
