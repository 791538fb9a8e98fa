//! Responses of the API: JSON, records, streams, or a refusal.

use std::time::Duration;

use axum::{
    body::Body,
    http::{StatusCode, header::CONTENT_TYPE},
    response::{IntoResponse, Response},
};
use serde::Serialize;
use serde_json::json;
use zeitnot_wire::{
    Message,
    lichess::{Done, Failure, FailureText, RateLimit, UserId},
};

const JSON: &str = "application/json";
const NDJSON: &str = "application/x-ndjson";
const PGN: &str = "application/x-chess-pgn";
const TOO_MANY_REQUESTS: &str = "Too many requests. Try again later.";

#[derive(Debug)]
pub(super) enum Answer {
    NoContent,
    Json(String),
    /// Complete NDJSON.
    Lines(String),
    Pgn(String),
    /// NDJSON without an end.
    Stream(Body),
}

#[derive(Debug)]
pub(super) struct Refusal {
    status: StatusCode,
    body: String,
}

pub(super) type Outcome = Result<Answer, Refusal>;

impl Answer {
    pub(super) fn value(value: &impl Serialize) -> Answer {
        Answer::Json(to_json(value))
    }

    pub(super) fn done() -> Answer {
        Answer::value(&Done::OK)
    }
}

impl IntoResponse for Answer {
    fn into_response(self) -> Response {
        let (content_type, body) = match self {
            Answer::NoContent => return StatusCode::NO_CONTENT.into_response(),
            Answer::Json(text) => (JSON, text.into()),
            Answer::Lines(text) => (NDJSON, text.into()),
            Answer::Pgn(text) => (PGN, text.into()),
            Answer::Stream(body) => (NDJSON, body),
        };
        ([(CONTENT_TYPE, content_type)], body).into_response()
    }
}

impl Refusal {
    pub(super) fn new(status: StatusCode, why: &str) -> Refusal {
        Refusal { status, body: Failure::new(why).to_line() }
    }

    pub(super) fn bad(why: &str) -> Refusal {
        Refusal::new(StatusCode::BAD_REQUEST, why)
    }

    pub(super) fn missing(why: &str) -> Refusal {
        Refusal::new(StatusCode::NOT_FOUND, why)
    }

    /// The server has failed, and has logged it.
    pub(super) fn broken() -> Refusal {
        Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, "Something went wrong on our side")
    }

    pub(super) fn too_many(why: &str) -> Refusal {
        Refusal::new(StatusCode::TOO_MANY_REQUESTS, why)
    }

    pub(super) fn rate_limited() -> Refusal {
        Refusal::too_many(TOO_MANY_REQUESTS)
    }

    /// 400 for one field of a form. As on Lichess the text is there twice: clients look at either place.
    pub(super) fn field(field: &str, why: &str) -> Refusal {
        let body = to_json(&json!({ field: [why], "error": { field: [why] } }));
        Refusal { status: StatusCode::BAD_REQUEST, body }
    }

    /// The daily limit of bot games is reached: 429 for the caller's own, 400 for the opponent's.
    pub(super) fn bot_games(status: StatusCode, who: &UserId, games: u32, wait: Duration) -> Refusal {
        let text = format!(
            "{who} played {games} games against other bots today, please wait before challenging another bot."
        );
        let limit = RateLimit { key: RateLimit::BOT_VS_BOT.to_owned(), wait };
        let failure = Failure { error: FailureText::Text(text), ratelimit: Some(limit) };
        Refusal { status, body: failure.to_line() }
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        (self.status, [(CONTENT_TYPE, JSON)], self.body).into_response()
    }
}

pub(super) fn to_json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}
