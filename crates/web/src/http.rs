//! Connections of HTTP/1.1, each served by one task.

use std::{convert::Infallible, time::Duration};

use axum::{
    Json,
    body::Body,
    http::Request,
    response::{IntoResponse, Response},
};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use serde_json::json;
use tokio::{net::TcpStream, pin, select, time::timeout};
use tokio_util::sync::CancellationToken;

use crate::hosts;

/// Time that the last answers may take at a stop.
const LINGER: Duration = Duration::from_millis(500);
const MAX_HEADERS: usize = 64 * 1024;

/// Serves one connection to its end, to `stop`, or until no request has come for `idle`. It runs one request at a time,
/// so that the limit of connections is that of concurrent requests, too. A request may turn it into a WebSocket.
pub async fn serve<F>(
    stream: TcpStream,
    answer: impl Fn(Request<Incoming>) -> F,
    idle: Duration,
    stop: &CancellationToken,
) where
    F: Future<Output = Result<Response<Body>, Infallible>>,
{
    // A move is one small packet, which must not wait for others.
    let _ = stream.set_nodelay(true);
    let answer = |request: Request<Incoming>| {
        let answer = hosts::check_single(request.headers()).map(|()| answer(request));
        async {
            match answer {
                Ok(answer) => answer.await,
                Err(bad) => Ok((bad.status(), Json(json!({ "error": bad.to_string() }))).into_response()),
            }
        }
    };
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(idle)
        .max_buf_size(MAX_HEADERS)
        .serve_connection(TokioIo::new(stream), service_fn(answer))
        .with_upgrades();
    pin!(connection);
    let ended = select! {
        ended = connection.as_mut() => Ok(ended),
        () = stop.cancelled() => {
            connection.as_mut().graceful_shutdown();
            timeout(LINGER, connection).await
        }
    };
    if let Ok(Err(error)) = ended {
        tracing::debug!(%error, "a connection over HTTP has ended");
    }
}
