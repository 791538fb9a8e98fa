//! HTTP/1.1 connections of the API.

use axum::{
    Router,
    body::Body,
    http::{Request, StatusCode, Uri, uri::PathAndQuery},
};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use std::{sync::Arc, time::Duration};
use tokio::{net::TcpStream, pin, select, time::timeout};
use tokio_util::sync::CancellationToken;
use tower::Service;

use super::callers::Caller;

/// Time that the last answers may take at a stop.
const LINGER: Duration = Duration::from_millis(500);
const MAX_HEADERS: usize = 64 * 1024;

/// Serves one connection to its end, to `stop`, or until no request has come for `idle`. It runs one request at a time,
/// so that the limit of connections is that of concurrent requests, too.
pub(super) async fn serve(
    stream: TcpStream,
    router: Router,
    caller: Arc<Caller>,
    idle: Duration,
    stop: CancellationToken,
) {
    // A move is one small packet, which must not wait for others.
    let _ = stream.set_nodelay(true);
    let service = service_fn(move |request| {
        let (mut router, caller) = (router.clone(), caller.clone());
        async move {
            let _permit = caller.admit().await;
            let request = normalize(request);
            let is_move = request.uri().path().contains("/move/");
            let answer = router.call(request).await;
            if is_move && answer.as_ref().is_ok_and(|answer| answer.status() == StatusCode::OK) {
                caller.refund();
            }
            answer
        }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(idle)
        .max_buf_size(MAX_HEADERS)
        .serve_connection(TokioIo::new(stream), service);
    pin!(connection);
    let ended = select! {
        ended = connection.as_mut() => Ok(ended),
        () = stop.cancelled() => {
            connection.as_mut().graceful_shutdown();
            timeout(LINGER, connection).await
        }
    };
    if let Ok(Err(error)) = ended {
        tracing::debug!(%error, "a connection to the Lichess API has ended");
    }
}

/// Drops empty segments of the path: some clients write `//api/account/`.
fn normalize(request: Request<Incoming>) -> Request<Body> {
    let (mut parts, body) = request.into_parts();
    let path = parts.uri.path();
    if path.contains("//") || path.ends_with('/') {
        let segments: Vec<&str> = path.split('/').filter(|segment| !segment.is_empty()).collect();
        let query = parts.uri.query().map(|query| format!("?{query}")).unwrap_or_default();
        if let Ok(path) = format!("/{}{query}", segments.join("/")).parse::<PathAndQuery>() {
            parts.uri = Uri::from(path);
        }
    }
    Request::from_parts(parts, Body::new(body))
}
