//! Failures of requests.

use std::time::Duration;

use zeitnot_net::http::root_cause;
use zeitnot_wire::{WireError, lichess::RateLimit};

use super::advice;

/// A request without the expected reply.
#[derive(Debug, thiserror::Error)]
pub enum HttpError {
    /// Status 401.
    #[error("the token is not accepted")]
    Unauthorized,
    /// Status 404.
    #[error("not found")]
    NotFound,
    /// Status 429.
    #[error("too many requests ({what})")]
    Limited {
        /// The key of the limit, or the server's message.
        what: String,
        /// Time until the next request of this kind.
        wait: Duration,
        /// The server has told the waiting time.
        is_told: bool,
    },
    /// Any other status that is neither success nor a server error.
    #[error("{what} ({status}){}", advice::of_refusal(what))]
    Refused {
        /// The other status.
        status: u16,
        /// The server's message.
        what: String,
        /// The limit that was reached, ours or the opponent's.
        limit: Option<RateLimit>,
    },
    /// Status 5xx.
    #[error("server error ({0})")]
    Server(u16),
    /// No complete reply; the request may have been carried out.
    #[error("network: {0}")]
    Network(String),
    /// A reply that cannot be parsed.
    #[error(transparent)]
    Reply(#[from] WireError),
}

/// The server's daily limit of games between bots.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum BotLimit {
    /// We have reached it.
    Ours(Duration),
    /// The opponent has reached it.
    Theirs(Duration),
}

impl HttpError {
    /// Returns the error of a request whose task crashed. It may have been carried out.
    pub(crate) fn crashed() -> HttpError {
        HttpError::Network("the request crashed".to_owned())
    }

    /// Returns whether the same request may succeed later. The account finds out whether the token is still good.
    pub(crate) fn is_transient(&self) -> bool {
        matches!(self, HttpError::Limited { .. } | HttpError::Unauthorized) || self.is_inconclusive()
    }

    /// Returns whether the request may have been carried out nevertheless.
    pub(crate) fn is_inconclusive(&self) -> bool {
        matches!(self, HttpError::Server(_) | HttpError::Network(_))
    }

    /// Returns the limit of games between bots, if that is the reason.
    pub(crate) fn bot_limit(&self) -> Option<BotLimit> {
        match self {
            HttpError::Limited { what, wait, .. } if what == RateLimit::BOT_VS_BOT => {
                Some(BotLimit::Ours(*wait))
            }
            HttpError::Refused { limit: Some(limit), .. } if limit.key == RateLimit::BOT_VS_BOT => {
                Some(BotLimit::Theirs(limit.wait))
            }
            _ => None,
        }
    }
}

impl From<reqwest::Error> for HttpError {
    fn from(error: reqwest::Error) -> HttpError {
        HttpError::Network(root_cause(error))
    }
}
