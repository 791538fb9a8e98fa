//! HTTP client of one account: authentication, errors, bounded replies.
//!
//! Streams use connections of their own, so that a move never waits behind one.

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use reqwest::{
    Method, RequestBuilder, Response, StatusCode,
    header::{CONTENT_TYPE, HeaderValue, RETRY_AFTER},
};
use tokio::{sync::Notify, time::timeout};
use tracing::debug;
use zeitnot_net::{
    LogThrottle,
    http::{self, BaseUrl, ReadUntil},
};
use zeitnot_wire::{
    Message,
    lichess::{Failure, GameEvent, Playing, Token},
};

use super::{
    Config,
    connections::{ClientSettings, Connections, Pool},
    dialect::Dialect,
    game_clocks::GameClocks,
    http_error::HttpError,
    keep_alive::KeepAlive,
    playing::{MAX_LISTED, PlayingList},
    rate_limits::{Permit, RateLimits, RequestKind},
    shared_backoff::is_small,
    site::Site,
    timeouts::Timeouts,
};
use crate::{backoff, connection_log::ConnectionLog, wait::now};

const FORM: &str = "application/x-www-form-urlencoded";
const MAX_REPLY_BYTES: usize = 1 << 20;
/// Longest time without requests of a kind, whatever the server asks for. Its own windows are not longer.
pub(crate) const MAX_PAUSE: Duration = Duration::from_secs(600);
/// Log subject of most failures.
const FAILURES: &str = "failures of the network or the server";

/// Client of one account on one server. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Http(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    requests: Connections,
    streams: Connections,
    base: BaseUrl,
    dialect: Dialect,
    token: Token,
    timeouts: Timeouts,
    limits: RateLimits,
    log: LogThrottle,
    connection: Mutex<ConnectionLog>,
    keep_alive: KeepAlive,
    playing: PlayingList,
    /// Notified of each 401.
    unauthorized: Notify,
}

impl Http {
    /// Creates a client with this token; `account` appears in its user agent.
    pub(crate) fn new(config: &Config, token: &Token, account: Option<&str>) -> Result<Http, HttpError> {
        let (base, timeouts) = (&config.url, &config.timeouts);
        let mut bearer = HeaderValue::from_str(&format!("Bearer {}", token.expose()))
            .map_err(|_| HttpError::Network("the token does not fit into a header".to_owned()))?;
        bearer.set_sensitive(true);
        let agent = format!("zeitnot/{} (user: {})", env!("CARGO_PKG_VERSION"), account.unwrap_or("unknown"));
        let is_loopback = base.is_loopback();
        let connect_timeout = timeouts.connect;
        let settings = ClientSettings { agent, bearer, is_loopback, connect_timeout };
        Ok(Http(Arc::new(Inner {
            requests: Connections::new(settings.clone())?,
            streams: Connections::new(settings)?,
            base: base.clone(),
            dialect: Dialect::new(config),
            token: token.clone(),
            timeouts: timeouts.clone(),
            limits: RateLimits::new(&timeouts.reconnect),
            log: LogThrottle::default(),
            connection: Mutex::default(),
            keep_alive: KeepAlive::default(),
            playing: PlayingList::default(),
            unauthorized: Notify::new(),
        })))
    }

    pub(crate) fn base(&self) -> &BaseUrl {
        &self.0.base
    }

    pub(crate) fn dialect(&self) -> &Dialect {
        &self.0.dialect
    }

    pub(crate) fn site(&self) -> Site {
        self.0.dialect.site
    }

    pub(crate) fn timeouts(&self) -> &Timeouts {
        &self.0.timeouts
    }

    pub(crate) fn log(&self) -> &LogThrottle {
        &self.0.log
    }

    pub(crate) fn limits(&self) -> &RateLimits {
        &self.0.limits
    }

    pub(crate) fn clocks(&self) -> &GameClocks {
        &self.0.limits.clocks
    }

    /// Looks up our running games, as far as the server lists them.
    pub(crate) async fn running_games(&self) -> Result<Arc<Vec<GameEvent>>, HttpError> {
        let path = format!("api/account/playing?nb={MAX_LISTED}");
        let request = async { Ok(self.get::<Playing>(RequestKind::Playing, &path).await?.now_playing) };
        self.0.playing.get(request).await
    }

    /// Waits for a 401. Cancel safe.
    pub(crate) async fn unauthorized(&self) {
        self.0.unauthorized.notified().await;
    }

    /// Logs a transient failure, throttled, unless it belongs to an outage that is reported. The account reports a token
    /// that is refused.
    pub(crate) fn warn_failure(&self, error: &HttpError, message: fmt::Arguments<'_>) {
        let subject = match error {
            HttpError::Unauthorized => return debug!("{message}"),
            HttpError::Limited { .. } => "requests beyond the server's limits",
            _ => FAILURES,
        };
        let mut connection = self.connection();
        if !connection.is_request_news(now()) {
            return debug!("{message}");
        }
        if self.log().warn(subject, message) && subject == FAILURES {
            connection.request_reported(now());
        }
    }

    /// Log of the account's connection, which is its event stream.
    pub(crate) fn connection(&self) -> MutexGuard<'_, ConnectionLog> {
        self.0.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) async fn get<M: Message>(&self, kind: RequestKind, path: &str) -> Result<M, HttpError> {
        let request = self.build(&self.0.requests.current(), Method::GET, path, None);
        Ok(M::parse(&self.exchange(kind, request, self.timeouts().reply).await?)?)
    }

    /// Posts a form; without a form, the body is empty.
    pub(crate) async fn post(
        &self,
        kind: RequestKind,
        path: &str,
        form: Option<String>,
    ) -> Result<(), HttpError> {
        let request = self.build(&self.0.requests.current(), Method::POST, path, form);
        self.exchange(kind, request, self.timeouts().reply).await.map(drop)
    }

    /// Posts text and parses the reply.
    pub(crate) async fn post_for<M: Message>(
        &self,
        kind: RequestKind,
        path: &str,
        text: String,
    ) -> Result<M, HttpError> {
        let request = self.build(&self.0.requests.current(), Method::POST, path, Some(text));
        Ok(M::parse(&self.exchange(kind, request, self.timeouts().reply).await?)?)
    }

    /// Posts a move, with a time limit of its own.
    pub(crate) async fn post_move(&self, pool: &Pool, path: &str, limit: Duration) -> Result<(), HttpError> {
        let request = self.build(pool, Method::POST, path, None);
        self.exchange(RequestKind::Move, request, limit).await.map(drop)
    }

    /// Connections of all requests but streams.
    pub(crate) fn requests(&self) -> &Connections {
        &self.0.requests
    }

    /// Opens a stream: by GET, or by posting a form. `is_first`: that of a game, for the first time. Returns when the
    /// request was sent as well.
    pub(crate) async fn open_stream(
        &self,
        kind: RequestKind,
        path: &str,
        form: Option<String>,
        is_first: bool,
    ) -> Result<(Response, Pool, Instant), HttpError> {
        let mut permit = self.0.limits.acquire(kind, is_first).await;
        let sent = Instant::now();
        let method = if form.is_some() { Method::POST } else { Method::GET };
        let pool = self.0.streams.current();
        let mut request = self.build(&pool, method, path, form);
        if let Some((name, value)) = self.0.dialect.header(kind) {
            request = request.header(name, value);
        }
        // An open stream may not be silent for longer either.
        let limit = self.max_silence(kind);
        let opening = async { self.check(kind, request.send().await?).await };
        let opened = match timeout(limit, opening).await {
            Ok(opened) => opened,
            Err(_) => {
                self.silent(kind, limit, &pool);
                Err(timed_out())
            }
        };
        if opened.as_ref().is_err_and(HttpError::is_inconclusive) {
            // It did not count for the server.
            permit.refund();
        }
        self.settle(permit, opened.as_ref().err());
        Ok((opened?, pool, sent))
    }

    /// Returns how long a stream of this kind may be silent.
    pub(crate) fn max_silence(&self, kind: RequestKind) -> Duration {
        let max = self.timeouts().silence;
        if kind.is_followed() { self.0.keep_alive.limit(max) } else { max }
    }

    /// Notes the interval of empty lines on a stream where nothing happens.
    pub(crate) fn heard(&self, kind: RequestKind, interval: Duration) {
        if kind.is_followed() {
            self.0.keep_alive.measured(interval);
        }
    }

    /// Notes a stream that was silent for too long. The next one gets a new connection.
    pub(crate) fn silent(&self, kind: RequestKind, limit: Duration, pool: &Pool) {
        if kind.is_followed() {
            self.0.keep_alive.silent(limit, self.timeouts().silence);
        }
        self.0.streams.renew(pool);
    }

    fn build(&self, pool: &Pool, method: Method, path: &str, form: Option<String>) -> RequestBuilder {
        let request = pool.client.request(method, self.0.base.join(path));
        match form {
            Some(form) => request.header(CONTENT_TYPE, FORM).body(form),
            None => request,
        }
    }

    /// Sends a request as soon as the limits of its kind allow, and returns the body of the reply.
    async fn exchange(
        &self,
        kind: RequestKind,
        request: RequestBuilder,
        limit: Duration,
    ) -> Result<String, HttpError> {
        let permit = self.0.limits.acquire(kind, false).await;
        let exchange = async { body(self.check(kind, request.send().await?).await?).await };
        let reply = timeout(limit, exchange).await.unwrap_or_else(|_| Err(timed_out()));
        self.settle(permit, reply.as_ref().err());
        reply
    }

    /// Notes the outcome of a request. A refusal is an answer, except a 401, which concerns the whole account. The daily
    /// limit of games against bots concerns only some requests of a kind, and is left to the caller.
    fn settle(&self, permit: Permit<'_>, error: Option<&HttpError>) {
        match error.filter(|error| error.bot_limit().is_none()) {
            Some(HttpError::Limited { wait, is_told, .. }) => permit.limited(MAX_PAUSE.min(*wait), *is_told),
            Some(error) if error.is_transient() => permit.failed(),
            _ => permit.succeeded(),
        }
    }

    async fn check(&self, kind: RequestKind, response: Response) -> Result<Response, HttpError> {
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        let is_unauthorized = self.site().refuses_token(kind, status);
        if is_unauthorized {
            self.0.unauthorized.notify_one();
        }
        let told = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse().ok());
        let told = told.map(Duration::from_secs);
        // Reading the body keeps the connection open for the next request. Proxies may repeat our headers there.
        let failure = Failure::parse(&body(response).await?.replace(self.0.token.expose(), "…"))?;
        let limit = failure.ratelimit.as_ref();
        Err(match status {
            _ if is_unauthorized => HttpError::Unauthorized,
            StatusCode::NOT_FOUND => HttpError::NotFound,
            StatusCode::TOO_MANY_REQUESTS => HttpError::Limited {
                wait: limit.map(|limit| limit.wait).or(told).unwrap_or(self.timeouts().rate_limited),
                is_told: limit.is_some() || told.is_some(),
                what: limit.map_or_else(|| failure.to_string(), |limit| limit.key.clone()),
            },
            status if status.is_server_error() => HttpError::Server(status.as_u16()),
            status => HttpError::Refused {
                status: status.as_u16(),
                what: failure.to_string(),
                limit: failure.ratelimit,
            },
        })
    }
}

/// Returns how long to wait after a 429 while a game runs that leaves us this much time: as told, if that is a small
/// part of it.
pub(crate) fn wait_in_game(wait: Duration, is_told: bool, time_left: Duration) -> Duration {
    if is_told && is_small(wait, time_left) { wait } else { backoff::long_in_game(time_left).min(wait) }
}

fn timed_out() -> HttpError {
    HttpError::Network("no reply in time".to_owned())
}

async fn body(response: Response) -> Result<String, HttpError> {
    http::body(response, MAX_REPLY_BYTES, ReadUntil::End).await.map_err(HttpError::Network)
}
