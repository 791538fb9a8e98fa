//! Answers of the API: JSON, errors too.

use axum::{
    Json,
    body::{Body, to_bytes},
    extract::{FromRequest, FromRequestParts, Path, Request, rejection::JsonRejection},
    http::{HeaderValue, StatusCode, header, request::Parts},
    middleware::Next,
    response::{IntoResponse, Response},
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use utoipa::ToSchema;
use zeitnot_wire::printable;

/// Bytes or characters of an error's text.
const MAX_ERROR: usize = 4096;
/// Beginning of what axum says of JSON that does not fit; what follows names the field.
const WRONG_TYPE: &str = "Failed to deserialize the JSON body into the target type: ";

/// Error, as all of the API tells it.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ErrorBody {
    /// One line: what is wrong, and what to do.
    pub error: String,
}

/// Answer that is an error.
#[derive(Debug)]
pub struct ApiError {
    /// Status of the answer.
    pub status: StatusCode,
    error: String,
}

impl ApiError {
    /// Creates an error with this line.
    pub fn new(status: StatusCode, error: impl Into<String>) -> ApiError {
        ApiError { status, error: error.into() }
    }

    /// The request is wrong: 400.
    pub fn bad(error: impl Into<String>) -> ApiError {
        ApiError::new(StatusCode::BAD_REQUEST, error)
    }

    /// There is no such thing: 404.
    pub fn missing(error: impl Into<String>) -> ApiError {
        ApiError::new(StatusCode::NOT_FOUND, error)
    }

    /// The task that would know the answer is gone: 503.
    pub fn stopping() -> ApiError {
        ApiError::new(StatusCode::SERVICE_UNAVAILABLE, "the arena is shutting down")
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        // It may repeat what a stranger has sent.
        (self.status, Json(ErrorBody { error: printable(&self.error, MAX_ERROR) })).into_response()
    }
}

/// Parameter of a path.
pub struct Param<T = String>(pub T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for Param<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Param<T>, ApiError> {
        let path = Path::<T>::from_request_parts(parts, state).await;
        path.map(|Path(it)| Param(it)).map_err(|error| ApiError::new(error.status(), error.body_text()))
    }
}

/// JSON of a request.
pub struct ApiJson<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for ApiJson<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<ApiJson<T>, ApiError> {
        let refuse = |error: JsonRejection| {
            let text = error.body_text();
            let why = text.strip_prefix(WRONG_TYPE).map_or(&*text, without_place);
            ApiError::new(error.status(), why)
        };
        Json::from_request(request, state).await.map(|Json(body)| ApiJson(body)).map_err(refuse)
    }
}

/// Removes line and column, which say nothing to the user of a form.
fn without_place(why: &str) -> &str {
    let is_place = |place: &str| {
        let numbers = place.split_once(" column ");
        numbers.is_some_and(|(line, column)| [line, column].iter().all(|it| it.parse::<usize>().is_ok()))
    };
    why.rsplit_once(" at line ").filter(|(_, place)| is_place(place)).map_or(why, |(why, _)| why)
}

/// Turns errors of the layers below into JSON, and forbids to keep answers.
pub(super) async fn as_json(request: Request, next: Next) -> Response {
    let answer = next.run(request).await;
    let (status, kind) = (answer.status(), answer.headers().get(header::CONTENT_TYPE));
    let is_error = status.is_client_error() || status.is_server_error();
    let is_json = kind.is_some_and(|kind| kind.as_bytes().starts_with(b"application/json"));
    let mut answer = if is_error && !is_json { retell(answer).await } else { answer };
    answer.headers_mut().entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    answer
}

async fn retell(answer: Response) -> Response {
    let (mut parts, body) = answer.into_parts();
    let text = to_bytes(body, MAX_ERROR).await.unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let error = match text.trim() {
        "" => parts.status.canonical_reason().unwrap_or("the request failed").to_lowercase(),
        text => text.replace('\n', " "),
    };
    let body = serde_json::to_vec(&ErrorBody { error }).unwrap_or_default();
    parts.headers.remove(header::CONTENT_LENGTH);
    parts.headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    Response::from_parts(parts, Body::from(body))
}
