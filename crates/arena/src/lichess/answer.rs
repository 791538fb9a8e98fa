//! What a request is answered with: JSON, a refusal, a game's record, or lines without an end.

use std::{sync::Arc, time::Duration};

use hyper::StatusCode;
use serde::Serialize;
use serde_json::json;
use tokio::sync::broadcast;

use zeitnot_wire::{
    Message,
    lichess::{Done, Failure, FailureText, RateLimit, UserId},
};

/// Lines that may wait for a slow reader; then the oldest are dropped.
const QUEUE: usize = 32;

/// Where the lines of a stream are put; the stream ends when this is dropped.
pub(super) type Feed = broadcast::Sender<Arc<str>>;

/// Lines that are ready, and those to come.
#[derive(Debug)]
pub(super) struct Lines {
    pub(super) first: Vec<String>,
    pub(super) rest: broadcast::Receiver<Arc<str>>,
}

/// A stream that begins with these lines.
pub(super) fn feed(first: Vec<String>) -> (Feed, Lines) {
    let (feed, rest) = broadcast::channel(QUEUE);
    (feed, Lines { first, rest })
}

/// See the module's comment.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: StatusCode,
    pub(super) body: Body,
}

/// What a stream is about.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum StreamKind {
    Events,
    Game,
    Challenge,
}

#[derive(Debug)]
pub(super) enum Body {
    Nothing,
    Json(String),
    Lines(String),
    Pgn(String),
    Stream { kind: StreamKind, lines: Lines, keep_alive: Duration },
}

/// An answer, or a refusal.
pub(super) type Outcome = Result<Answer, Answer>;

impl Answer {
    pub(super) fn json(message: &impl Message) -> Answer {
        Answer::of(Body::Json(message.to_line()))
    }

    /// JSON that no protocol file knows.
    pub(super) fn value(value: &impl Serialize) -> Answer {
        Answer::of(Body::Json(serde_json::to_string(value).unwrap_or_default()))
    }

    pub(super) fn done() -> Answer {
        Answer::json(&Done::OK)
    }

    pub(super) fn of(body: Body) -> Answer {
        Answer { status: StatusCode::OK, body }
    }

    fn failed(status: StatusCode, failure: &Failure) -> Answer {
        Answer { status, ..Answer::json(failure) }
    }

    pub(super) fn refused(status: StatusCode, why: &str) -> Answer {
        Answer::failed(status, &Failure::new(why))
    }

    /// 400.
    pub(super) fn bad(why: &str) -> Answer {
        Answer::refused(StatusCode::BAD_REQUEST, why)
    }

    /// 404.
    pub(super) fn missing(why: &str) -> Answer {
        Answer::refused(StatusCode::NOT_FOUND, why)
    }

    /// 429.
    pub(super) fn too_many(why: &str) -> Answer {
        Answer::refused(StatusCode::TOO_MANY_REQUESTS, why)
    }

    /// A field of a form that cannot be meant. It is said twice, as there: clients look at either place.
    pub(super) fn field(field: &str, why: &str) -> Answer {
        let said = json!({ field: [why], "error": { field: [why] } });
        Answer { status: StatusCode::BAD_REQUEST, ..Answer::value(&said) }
    }

    /// The account has played its games against bots for today: its own fault, or its opponent's.
    pub(super) fn capped(status: StatusCode, who: &UserId, games: u32, wait: Duration) -> Answer {
        let text = format!(
            "{who} played {games} games against other bots today, please wait before challenging another bot."
        );
        let limit = RateLimit { key: RateLimit::BOT_VS_BOT.to_owned(), wait };
        Answer::failed(status, &Failure { error: FailureText::Text(text), ratelimit: Some(limit) })
    }
}
