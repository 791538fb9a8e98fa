//! HTTP/1.1 on one connection: requests read to bounds, answers and endless streams written.

use std::{
    collections::VecDeque,
    convert::Infallible,
    future::pending,
    num::NonZeroU32,
    sync::atomic::{AtomicU32, Ordering},
    time::Duration,
};

use futures_util::stream;
use http_body_util::{BodyExt, Full, Limited, StreamBody, combinators::UnsyncBoxBody};
use hyper::{
    HeaderMap, Response, StatusCode,
    body::{Bytes, Frame, Incoming},
    header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, USER_AGENT},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{
    net::TcpStream,
    pin, select,
    sync::broadcast::{self, error::RecvError},
    time::{Instant, Interval, MissedTickBehavior, interval, sleep, sleep_until, timeout},
};
use tokio_util::sync::CancellationToken;

use super::{
    answer::{Answer, Body, Lines},
    desk::{Ask, Bearer, Desk},
    faults::{FaultSwitch, StreamFaults},
    route::{Call, Deed, Request},
};

/// The longest body of a request.
const LONGEST_BODY: usize = 64 * 1024;
/// How long a body may take.
const BODY_PATIENCE: Duration = Duration::from_secs(10);
/// How long a connection may wait for its next request.
const IDLE: Duration = Duration::from_secs(120);
/// How long the last answers may take when we stop.
const LINGER: Duration = Duration::from_millis(500);
/// Room for a request's line and headers.
const HEADERS: usize = 64 * 1024;
/// The longest `User-Agent` that is told apart from others.
const LONGEST_AGENT: usize = 200;
/// Where faults are asked for.
const SWITCH: &str = "/api/zeitnot/faults";
const SLOWLY: &str = "Too many requests. Try again later.";
/// A line that nobody can read.
const GARBAGE: &[u8] = b"<html>{\"type\": \xff\xfe\n";

type Written = UnsyncBoxBody<Bytes, Infallible>;

/// What all connections share.
#[derive(Debug)]
pub(super) struct Door {
    pub(super) desk: Desk,
    pub(super) faults: FaultSwitch,
    pub(super) requests: AtomicU32,
    pub(super) moves: AtomicU32,
}

/// Serves one connection to its end, or to the stop.
pub(super) async fn serve(stream: TcpStream, door: &Door, stop: CancellationToken) {
    // A move is one small packet: it must not wait for company.
    let _ = stream.set_nodelay(true);
    let service = service_fn(|request| async { Ok::<_, Infallible>(door.respond(request).await) });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(IDLE)
        .max_buf_size(HEADERS)
        .serve_connection(TokioIo::new(stream), service);
    pin!(connection);
    select! {
        ended = connection.as_mut() => return trace(ended),
        () = stop.cancelled() => connection.as_mut().graceful_shutdown(),
    }
    if let Ok(ended) = timeout(LINGER, connection).await {
        trace(ended);
    }
}

fn trace(ended: hyper::Result<()>) {
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection to the Lichess API has ended");
    }
}

impl Door {
    async fn respond(&self, request: hyper::Request<Incoming>) -> Response<Written> {
        let answer = self.answer(request).await.unwrap_or_else(|refusal| refusal);
        let delay = self.faults.now().delay;
        if !delay.is_zero() {
            sleep(delay).await;
        }
        write(answer, &self.faults)
    }

    async fn answer(&self, request: hyper::Request<Incoming>) -> Result<Answer, Answer> {
        let faults = self.faults.now();
        let at = self.requests.fetch_add(1, Ordering::Relaxed) + 1;
        let strikes = |every: Option<NonZeroU32>| every.is_some_and(|every| at.is_multiple_of(every.get()));
        // Whoever turns the switch is to reach it.
        let is_plain = request.uri().path().trim_end_matches('/') != SWITCH;
        if is_plain && strikes(faults.too_many) {
            return Err(Answer::too_many(SLOWLY));
        } else if is_plain && strikes(faults.failed) {
            return Err(Answer::refused(StatusCode::SERVICE_UNAVAILABLE, "Service unavailable"));
        }
        let (parts, body) = request.into_parts();
        let (bearer, agent) = (bearer(&parts.headers), agent(&parts.headers));
        let body = read(body).await?;
        let call = Call::read(&Request {
            method: parts.method,
            path: parts.uri.path().to_owned(),
            query: parts.uri.query().unwrap_or_default().to_owned(),
            body,
            accept: header(&parts.headers, ACCEPT.as_str()).to_owned(),
            is_json: header(&parts.headers, CONTENT_TYPE.as_str()).contains("json"),
        })?;
        let is_move = matches!(call, Call::Play(_, _, Deed::Move { .. }));
        let at = if is_move { self.moves.fetch_add(1, Ordering::Relaxed) + 1 } else { 0 };
        let strikes = |every: Option<NonZeroU32>| is_move && every.is_some_and(|every| at % every == 0);
        if strikes(faults.refused_moves) {
            return Err(Answer::refused(StatusCode::BAD_GATEWAY, "Bad gateway"));
        } else if strikes(faults.limited_moves) {
            return Err(Answer::too_many(SLOWLY));
        }
        let answer = self.desk.ask(Ask { bearer, agent, call }).await;
        match strikes(faults.lost_answers) {
            true => Err(Answer::refused(StatusCode::GATEWAY_TIMEOUT, "Gateway timeout")),
            false => Ok(answer),
        }
    }
}

async fn read(body: Incoming) -> Result<String, Answer> {
    match timeout(BODY_PATIENCE, Limited::new(body, LONGEST_BODY).collect()).await {
        Ok(Ok(body)) => Ok(String::from_utf8_lossy(&body.to_bytes()).into_owned()),
        Ok(Err(_)) => Err(Answer::refused(StatusCode::PAYLOAD_TOO_LARGE, "Request body too large")),
        Err(_) => Err(Answer::refused(StatusCode::REQUEST_TIMEOUT, "Request timeout")),
    }
}

fn header<'h>(headers: &'h HeaderMap, name: &str) -> &'h str {
    headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
}

fn bearer(headers: &HeaderMap) -> Bearer {
    if !headers.contains_key(AUTHORIZATION) {
        return Bearer::Nobody;
    }
    let token = header(headers, AUTHORIZATION.as_str()).trim();
    let (scheme, token) = token.split_once(' ').unwrap_or_default();
    match token.trim().parse() {
        Ok(token) if scheme.eq_ignore_ascii_case("bearer") => Bearer::Token(token),
        _ => Bearer::Stranger,
    }
}

fn agent(headers: &HeaderMap) -> String {
    header(headers, USER_AGENT.as_str()).chars().take(LONGEST_AGENT).collect()
}

fn write(answer: Answer, faults: &FaultSwitch) -> Response<Written> {
    let full = |text: String| Full::new(Bytes::from(text)).boxed_unsync();
    let (kind, body) = match answer.body {
        Body::Nothing => ("", full(String::new())),
        Body::Json(text) => ("application/json", full(text)),
        Body::Lines(text) => ("application/x-ndjson", full(text)),
        Body::Pgn(text) => ("application/x-chess-pgn", full(text)),
        Body::Stream { kind, lines, keep_alive } => {
            ("application/x-ndjson", endless(lines, keep_alive, faults.of_stream(kind)))
        }
    };
    let mut response = Response::new(body);
    *response.status_mut() = answer.status;
    if !kind.is_empty() {
        response.headers_mut().insert(CONTENT_TYPE, hyper::header::HeaderValue::from_static(kind));
    }
    response
}

/// A stream that is being written.
struct Writing {
    first: VecDeque<String>,
    rest: broadcast::Receiver<std::sync::Arc<str>>,
    alive: Interval,
    faults: StreamFaults,
    /// A line was cut: nothing comes after it.
    is_cut: bool,
}

fn endless(lines: Lines, keep_alive: Duration, faults: StreamFaults) -> Written {
    let mut alive = interval(keep_alive);
    alive.set_missed_tick_behavior(MissedTickBehavior::Delay);
    // The first tick comes at once.
    alive.reset();
    let Lines { first, rest } = lines;
    let writing = Writing { first: first.into(), rest, alive, faults, is_cut: false };
    let frames = stream::unfold(writing, |mut writing| async move {
        let bytes = writing.next().await?;
        Some((Ok::<_, Infallible>(Frame::data(bytes)), writing))
    });
    StreamBody::new(frames).boxed_unsync()
}

impl Writing {
    /// What is written next; `None`: the stream ends.
    async fn next(&mut self) -> Option<Bytes> {
        if self.is_cut {
            return None;
        } else if let Some(line) = self.first.pop_front() {
            return Some(self.line(&line));
        }
        loop {
            let (is_silent, until) = self.faults.silence(Instant::now());
            let turn = async {
                match until {
                    Some(until) => sleep_until(until).await,
                    None => pending().await,
                }
            };
            select! {
                line = self.rest.recv(), if !is_silent => match line {
                    Ok(line) => return Some(self.line(&line)),
                    // A slow reader loses the oldest lines, as it does there.
                    Err(RecvError::Lagged(_)) => {}
                    Err(RecvError::Closed) => return None,
                },
                _ = self.alive.tick(), if !is_silent => return Some(Bytes::from_static(b"\n")),
                () = turn => {}
                () = self.faults.changed() => {}
            }
        }
    }

    fn line(&mut self, line: &str) -> Bytes {
        let (is_cut, has_garbage) = self.faults.of_line();
        let garbage = if has_garbage { GARBAGE } else { b"" };
        let line = line.as_bytes();
        if is_cut {
            self.is_cut = true;
            return [garbage, &line[..line.len() / 2]].concat().into();
        }
        [garbage, line, b"\n"].concat().into()
    }
}
