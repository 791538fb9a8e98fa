//! What the server says to a request: done, refused, or what was made.

use std::{collections::BTreeMap, fmt, time::Duration};

use serde::{Deserialize, Serialize};

use super::{Challenge, ChallengeEnd, Message, WireError, codec::seconds, read, shorten, write};

/// `{"ok":true}`.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Done {
    /// It is.
    pub ok: bool,
}

impl Done {
    /// Done.
    pub const OK: Done = Done { ok: true };
}

/// Why a request was refused. Any text can be read as one: proxies answer in HTML.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// What is wrong.
    pub error: FailureText,
    /// Which limit was reached.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ratelimit: Option<RateLimit>,
}

impl Failure {
    /// With such words.
    pub fn new(text: impl Into<String>) -> Failure {
        Failure { error: FailureText::Text(text.into()), ratelimit: None }
    }
}

/// What is wrong with a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum FailureText {
    /// Words.
    Text(String),
    /// Words about each field of a form.
    Fields(BTreeMap<String, Vec<String>>),
}

/// A limit, and when it ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RateLimit {
    /// Which.
    pub key: String,
    /// For how long.
    #[serde(rename = "seconds", default, with = "seconds")]
    pub wait: Duration,
}

impl RateLimit {
    /// A hundred games a day of bots against bots.
    pub const BOT_VS_BOT: &str = "bot.vsBot.day";
}

impl fmt::Display for Failure {
    /// Short, and with nothing in it that moves a cursor.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.error {
            FailureText::Text(text) => f.write_str(&shorten(text)),
            FailureText::Fields(fields) => {
                let one = |(field, texts): (&String, &Vec<String>)| format!("{field}: {}", texts.join(", "));
                f.write_str(&shorten(&fields.iter().map(one).collect::<Vec<_>>().join("; ")))
            }
        }
    }
}

impl Message for Failure {
    /// Never fails: a body that is none of the server's own is told as it is, shortened.
    fn parse(body: &str) -> Result<Self, WireError> {
        let bare = || read("refusal", body).map(|error| Failure { error, ratelimit: None });
        Ok(read("refusal", body).or_else(|_| bare()).unwrap_or_else(|_| Failure::new(shorten(body))))
    }

    fn print(&self, out: &mut String) {
        write(out, self);
    }
}

/// A line of the answer to a challenge that is kept alive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Keepalive {
    /// The last line: what became of it.
    Done {
        /// This.
        done: ChallengeEnd,
    },
    /// The first line, from older servers in a wrapping.
    Wrapped {
        /// The challenge.
        challenge: Box<Challenge>,
    },
    /// The first line, and the only one of a challenge that is not kept alive.
    Created(Box<Challenge>),
}
