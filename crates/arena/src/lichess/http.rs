//! HTTP/1.1 connections of the API.

use axum::{
    Router,
    body::Body,
    http::{Request, StatusCode, Uri, uri::PathAndQuery},
};
use hyper::body::Incoming;
use std::{sync::Arc, time::Duration};
use tokio::net::TcpStream;
use tokio_util::sync::CancellationToken;
use tower::Service;
use zeitnot_web::http;

use super::callers::Caller;

/// Serves one connection to its end, to `stop`, or until no request has come for `idle`.
pub(super) async fn serve(
    stream: TcpStream,
    router: Router,
    caller: Arc<Caller>,
    idle: Duration,
    stop: CancellationToken,
) {
    let answer = |request| {
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
    };
    http::serve(stream, answer, idle, &stop).await;
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
