//! WebSockets: a request of hyper's that becomes a socket of tungstenite's.

use axum::{
    body::Body,
    extract::FromRequestParts,
    http::{
        HeaderMap, HeaderName, HeaderValue, StatusCode,
        header::{CONNECTION, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_VERSION, UPGRADE},
        request::Parts,
    },
    response::{IntoResponse, Response},
};
use hyper::upgrade::{OnUpgrade, Upgraded};
use hyper_util::rt::TokioIo;
use tokio_tungstenite::{
    WebSocketStream,
    tungstenite::{
        handshake::derive_accept_key,
        protocol::{Role, WebSocketConfig},
    },
};
use tokio_util::task::TaskTracker;

use super::answer::ApiError;

/// A WebSocket.
pub(crate) type Socket = WebSocketStream<TokioIo<Upgraded>>;

/// Bytes of a message at which the connection is closed; what is too long for the API is answered below that.
const MAX_MESSAGE: usize = 64 * 1024;

/// Request to become a WebSocket.
pub(crate) struct Upgrade {
    accept: HeaderValue,
    pending: OnUpgrade,
}

impl<S: Send + Sync> FromRequestParts<S> for Upgrade {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Upgrade, ApiError> {
        let headers = &parts.headers;
        let is_asked = has(headers, UPGRADE, "websocket") && has(headers, CONNECTION, "upgrade");
        let key =
            headers.get(SEC_WEBSOCKET_KEY).filter(|_| is_asked && has(headers, SEC_WEBSOCKET_VERSION, "13"));
        let accept = key.and_then(|key| HeaderValue::try_from(derive_accept_key(key.as_bytes())).ok());
        match accept.zip(parts.extensions.remove::<OnUpgrade>()) {
            Some((accept, pending)) => Ok(Upgrade { accept, pending }),
            None => Err(ApiError::new(
                StatusCode::UPGRADE_REQUIRED,
                "this endpoint speaks WebSocket, version 13: connect to it with ws://",
            )),
        }
    }
}

impl Upgrade {
    /// Answers the request, and serves the socket in a task of its own.
    pub(crate) fn serve<F>(
        self,
        tasks: &TaskTracker,
        serve: impl FnOnce(Socket) -> F + Send + 'static,
    ) -> Response
    where
        F: Future<Output = ()> + Send,
    {
        let Upgrade { accept, pending } = self;
        tasks.spawn(async move {
            let config = WebSocketConfig::default()
                .max_message_size(Some(MAX_MESSAGE))
                .max_frame_size(Some(MAX_MESSAGE))
                .read_buffer_size(4 * 1024)
                .write_buffer_size(0);
            match pending.await {
                Ok(upgraded) => {
                    let io = TokioIo::new(upgraded);
                    serve(WebSocketStream::from_raw_socket(io, Role::Server, Some(config)).await).await;
                }
                Err(error) => tracing::debug!(%error, "a WebSocket was not opened"),
            }
        });
        let headers = [
            (UPGRADE, HeaderValue::from_static("websocket")),
            (CONNECTION, HeaderValue::from_static("Upgrade")),
            (SEC_WEBSOCKET_ACCEPT, accept),
        ];
        (StatusCode::SWITCHING_PROTOCOLS, headers, Body::empty()).into_response()
    }
}

/// Returns whether a header's list has this word.
fn has(headers: &HeaderMap, name: HeaderName, word: &str) -> bool {
    let words = headers.get_all(name).into_iter().filter_map(|value| value.to_str().ok());
    words.flat_map(|words| words.split(',')).any(|found| found.trim().eq_ignore_ascii_case(word))
}
