//! HTTP client of one account: authentication, errors, bounded replies.
//!
//! Streams use connections of their own, so that a move never waits behind one.

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use reqwest::{
    Method, Response, StatusCode,
    header::{CONTENT_TYPE, HeaderValue, RETRY_AFTER},
};
use tokio::{sync::Notify, time::timeout};
use tracing::debug;
use zeitnot_net::{
    LogThrottle,
    http::{self, BaseUrl, ReadUntil, root_cause},
};
use zeitnot_wire::{
    Message, WireError,
    lichess::{Failure, GameEvent, Playing, RateLimit, Token},
};

use super::{
    advice,
    connections::{ClientSettings, Connections, Pool},
    game_clocks::GameClocks,
    keep_alive::KeepAlive,
    playing::{MAX_LISTED, PlayingList},
    rate_limits::{Permit, RateLimits, RequestKind},
    shared_backoff::is_small,
    timeouts::Timeouts,
};
use crate::{backoff, connection_log::ConnectionLog, wait::now};

const FORM: &str = "application/x-www-form-urlencoded";
const MAX_REPLY_BYTES: usize = 1 << 20;
/// Longest time without requests of a kind, whatever the server asks for. Its own windows are not longer.
pub(crate) const MAX_PAUSE: Duration = Duration::from_secs(600);
/// Log subject of most failures.
const FAILURES: &str = "failures of the network or the server";

/// A request without the expected reply.
#[derive(Debug, thiserror::Error)]
pub enum HttpError {
    /// Status 401.
    #[error("the token is not accepted")]
    Unauthorized,
    /// Status 404.
    #[error("not found")]
    NotFound,
    /// Status 429.
    #[error("too many requests ({what})")]
    Limited {
        /// The key of the limit, or the server's message.
        what: String,
        /// Time until the next request of this kind.
        wait: Duration,
        /// The server has told the waiting time.
        is_told: bool,
    },
    /// Any other status that is neither success nor a server error.
    #[error("{what} ({status}){}", advice::of_refusal(what))]
    Refused {
        /// The other status.
        status: u16,
        /// The server's message.
        what: String,
        /// The limit that was reached, ours or the opponent's.
        limit: Option<RateLimit>,
    },
    /// Status 5xx.
    #[error("server error ({0})")]
    Server(u16),
    /// No complete reply; the request may have been carried out.
    #[error("network: {0}")]
    Network(String),
    /// A reply that cannot be parsed.
    #[error(transparent)]
    Reply(#[from] WireError),
}

/// The server's daily limit of games between bots.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum BotLimit {
    /// We have reached it.
    Ours(Duration),
    /// The opponent has reached it.
    Theirs(Duration),
}

impl HttpError {
    /// Returns the error of a request whose task crashed. It may have been carried out.
    pub(crate) fn crashed() -> HttpError {
        HttpError::Network("the request crashed".to_owned())
    }

    /// Returns whether the same request may succeed later. The account finds out whether the token is still good.
    pub(crate) fn is_transient(&self) -> bool {
        matches!(self, HttpError::Limited { .. } | HttpError::Unauthorized) || self.is_inconclusive()
    }

    /// Returns whether the request may have been carried out nevertheless.
    pub(crate) fn is_inconclusive(&self) -> bool {
        matches!(self, HttpError::Server(_) | HttpError::Network(_))
    }

    /// Returns the limit of games between bots, if that is the reason.
    pub(crate) fn bot_limit(&self) -> Option<BotLimit> {
        match self {
            HttpError::Limited { what, wait, .. } if what == RateLimit::BOT_VS_BOT => {
                Some(BotLimit::Ours(*wait))
            }
            HttpError::Refused { limit: Some(limit), .. } if limit.key == RateLimit::BOT_VS_BOT => {
                Some(BotLimit::Theirs(limit.wait))
            }
            _ => None,
        }
    }
}

impl From<reqwest::Error> for HttpError {
    fn from(error: reqwest::Error) -> HttpError {
        HttpError::Network(root_cause(error))
    }
}

/// Client of one account on one server. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Http(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    requests: Connections,
    streams: Connections,
    base: BaseUrl,
    token: Token,
    timeouts: Timeouts,
    limits: RateLimits,
    log: LogThrottle,
    connection: Mutex<ConnectionLog>,
    clocks: GameClocks,
    keep_alive: KeepAlive,
    playing: PlayingList,
    /// Notified of each 401.
    unauthorized: Notify,
}

impl Http {
    /// Creates a client with this token; `account` appears in its user agent.
    pub(crate) fn new(
        base: &BaseUrl,
        token: &Token,
        account: Option<&str>,
        timeouts: &Timeouts,
    ) -> Result<Http, HttpError> {
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
            token: token.clone(),
            timeouts: timeouts.clone(),
            limits: RateLimits::new(&timeouts.reconnect),
            log: LogThrottle::default(),
            connection: Mutex::default(),
            clocks: GameClocks::default(),
            keep_alive: KeepAlive::default(),
            playing: PlayingList::default(),
            unauthorized: Notify::new(),
        })))
    }

    pub(crate) fn base(&self) -> &BaseUrl {
        &self.0.base
    }

    pub(crate) fn timeouts(&self) -> &Timeouts {
        &self.0.timeouts
    }

    pub(crate) fn log(&self) -> &LogThrottle {
        &self.0.log
    }

    pub(crate) fn clocks(&self) -> &GameClocks {
        &self.0.clocks
    }

    /// Returns our shortest time left in a game that needs requests of this kind.
    pub(crate) fn time_left_for(&self, kind: RequestKind) -> Option<Duration> {
        self.0.limits.time_left(kind, self.clocks())
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

    /// Returns for how long no request of this kind is sent, after a failure or as the server limits them.
    pub(crate) fn limited_for(&self, kind: RequestKind) -> Duration {
        self.0.limits.closed_for(kind, self.clocks())
    }

    /// Notes that a game's stream, which was opened again, has a message.
    pub(crate) fn stream_told(&self) {
        self.0.limits.stream_told();
    }

    pub(crate) async fn get<M: Message>(&self, kind: RequestKind, path: &str) -> Result<M, HttpError> {
        let body = self.request(kind, Method::GET, path, None, self.timeouts().reply).await?;
        Ok(M::parse(&body)?)
    }

    /// Posts a form; without a form, the body is empty.
    pub(crate) async fn post(
        &self,
        kind: RequestKind,
        path: &str,
        form: Option<String>,
    ) -> Result<(), HttpError> {
        self.request(kind, Method::POST, path, form, self.timeouts().reply).await.map(drop)
    }

    /// Posts text and parses the reply.
    pub(crate) async fn post_for<M: Message>(
        &self,
        kind: RequestKind,
        path: &str,
        text: String,
    ) -> Result<M, HttpError> {
        let body = self.request(kind, Method::POST, path, Some(text), self.timeouts().reply).await?;
        Ok(M::parse(&body)?)
    }

    /// Posts a move, with a time limit of its own.
    pub(crate) async fn post_move(&self, pool: &Pool, path: &str, limit: Duration) -> Result<(), HttpError> {
        self.request_by(pool, RequestKind::Move, Method::POST, path, None, limit).await.map(drop)
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
        let mut permit = self.0.limits.acquire(kind, is_first, self.clocks()).await;
        let sent = Instant::now();
        let method = if form.is_some() { Method::POST } else { Method::GET };
        let pool = self.0.streams.current();
        let request = with_form(pool.client.request(method, self.0.base.join(path)), form);
        // An open stream may not be silent for longer either.
        let limit = self.max_silence(kind);
        let opening = async { self.check(request.send().await?).await };
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

    async fn request(
        &self,
        kind: RequestKind,
        method: Method,
        path: &str,
        form: Option<String>,
        limit: Duration,
    ) -> Result<String, HttpError> {
        self.request_by(&self.0.requests.current(), kind, method, path, form, limit).await
    }

    async fn request_by(
        &self,
        pool: &Pool,
        kind: RequestKind,
        method: Method,
        path: &str,
        form: Option<String>,
        limit: Duration,
    ) -> Result<String, HttpError> {
        let permit = self.0.limits.acquire(kind, false, self.clocks()).await;
        let request = with_form(pool.client.request(method, self.0.base.join(path)), form);
        let exchange = async { body(self.check(request.send().await?).await?).await };
        let reply = timeout(limit, exchange).await.unwrap_or_else(|_| Err(timed_out()));
        self.settle(permit, reply.as_ref().err());
        reply
    }

    /// Notes the outcome of a request. A refusal is an answer, except a 401, which concerns the whole account. The daily limit of games against bots concerns only some
    /// requests of a kind, and is left to the caller.
    fn settle(&self, permit: Permit<'_>, error: Option<&HttpError>) {
        match error.filter(|error| error.bot_limit().is_none()) {
            Some(HttpError::Limited { wait, is_told, .. }) => permit.limited(MAX_PAUSE.min(*wait), *is_told),
            Some(error) if error.is_transient() => permit.failed(),
            _ => permit.succeeded(),
        }
    }

    async fn check(&self, response: Response) -> Result<Response, HttpError> {
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        if status == StatusCode::UNAUTHORIZED {
            self.0.unauthorized.notify_one();
        }
        let told = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse().ok());
        let told = told.map(Duration::from_secs);
        // Reading the body keeps the connection open for the next request. Proxies may repeat our headers there.
        let failure = Failure::parse(&body(response).await?.replace(self.0.token.expose(), "…"))?;
        let limit = failure.ratelimit.as_ref();
        Err(match status {
            StatusCode::UNAUTHORIZED => HttpError::Unauthorized,
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

fn with_form(request: reqwest::RequestBuilder, form: Option<String>) -> reqwest::RequestBuilder {
    match form {
        Some(form) => request.header(CONTENT_TYPE, FORM).body(form),
        None => request,
    }
}

fn timed_out() -> HttpError {
    HttpError::Network("no reply in time".to_owned())
}

async fn body(response: Response) -> Result<String, HttpError> {
    http::body(response, MAX_REPLY_BYTES, ReadUntil::End).await.map_err(HttpError::Network)
}
