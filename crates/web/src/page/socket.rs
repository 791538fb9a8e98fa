//! WebSockets: a request of hyper's that becomes a socket of tungstenite's.

use std::io;

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
use hyper::upgrade::{OnUpgrade, Parts as Upgraded};
use hyper_util::rt::TokioIo;
use tokio::{net::TcpStream, runtime};
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
pub(crate) type Socket = WebSocketStream<TcpStream>;

/// Runtime that serves sockets, and their tasks, which outlive the requests.
#[derive(Clone, Debug)]
pub(crate) struct SocketTasks {
    pub(crate) runtime: runtime::Handle,
    pub(crate) tasks: TaskTracker,
}

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
    /// Answers the request, and serves the socket in a task of its own, in that runtime.
    pub(crate) fn serve<F>(
        self,
        sockets: &SocketTasks,
        serve: impl FnOnce(Socket) -> F + Send + 'static,
    ) -> Response
    where
        F: Future<Output = ()> + Send,
    {
        let (Upgrade { accept, pending }, SocketTasks { runtime, tasks }) = (self, sockets.clone());
        sockets.tasks.spawn(async move {
            match take(pending).await {
                Ok((stream, read)) => {
                    let serving = async move {
                        match open(stream, read).await {
                            Ok(socket) => serve(socket).await,
                            Err(error) => not_opened(&error),
                        }
                    };
                    tasks.spawn_on(serving, &runtime);
                }
                Err(error) => not_opened(&error),
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

/// Takes the connection out of the runtime that has read the request, with what has been read beyond it.
async fn take(pending: OnUpgrade) -> io::Result<(std::net::TcpStream, Vec<u8>)> {
    let upgraded = pending.await.map_err(io::Error::other)?;
    let parts = upgraded.downcast::<TokioIo<TcpStream>>().map_err(|_| io::ErrorKind::Unsupported)?;
    let Upgraded { io, read_buf, .. } = parts;
    Ok((io.into_inner().into_std()?, read_buf.into()))
}

/// Makes a socket of it in the present runtime.
async fn open(stream: std::net::TcpStream, read: Vec<u8>) -> io::Result<Socket> {
    let config = WebSocketConfig::default()
        .max_message_size(Some(MAX_MESSAGE))
        .max_frame_size(Some(MAX_MESSAGE))
        .read_buffer_size(4 * 1024)
        .write_buffer_size(0);
    let stream = TcpStream::from_std(stream)?;
    Ok(WebSocketStream::from_partially_read(stream, read, Role::Server, Some(config)).await)
}

fn not_opened(error: &io::Error) {
    tracing::debug!(%error, "a WebSocket was not opened");
}

/// Returns whether a header's list has this word.
fn has(headers: &HeaderMap, name: HeaderName, word: &str) -> bool {
    let words = headers.get_all(name).into_iter().filter_map(|value| value.to_str().ok());
    words.flat_map(|words| words.split(',')).any(|found| found.trim().eq_ignore_ascii_case(word))
}
