//! HTTP client of one account: authentication, errors, bounded replies.
//!
//! Streams use connections of their own, so that a move never waits behind one.

use std::{fmt, sync::Arc, time::Duration};

use reqwest::{
    Client, Method, Response, StatusCode,
    header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue},
};
use tokio::time::timeout;
use zeitnot_net::http::{self, BaseUrl, ReadUntil, root_cause};
use zeitnot_wire::{
    Message, WireError,
    lichess::{Failure, RateLimit, Token},
};

use super::{
    log_throttle::LogThrottle,
    rate_limits::{Permit, RateLimits, RequestKind},
    timeouts::Timeouts,
};

const FORM: &str = "application/x-www-form-urlencoded";
const MAX_REPLY_BYTES: usize = 1 << 20;
/// Log subject of most failures.
pub(crate) const FAILURES: &str = "failures of the network or the server";

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
    #[error("too many requests ({what}); waiting {:.0} s", .wait.as_secs_f64())]
    Limited {
        /// The key of the limit, or the server's message.
        what: String,
        /// The server's waiting time.
        wait: Duration,
    },
    /// Any other status that is neither success nor a server error.
    #[error("{what} ({status})")]
    Refused {
        /// The status.
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
    /// Returns whether the same request may succeed later.
    pub(crate) fn is_transient(&self) -> bool {
        matches!(self, HttpError::Limited { .. }) || self.is_inconclusive()
    }

    /// Returns whether the request may have been carried out nevertheless.
    pub(crate) fn is_inconclusive(&self) -> bool {
        matches!(self, HttpError::Server(_) | HttpError::Network(_))
    }

    /// Returns the limit of games between bots, if that is the reason.
    pub(crate) fn bot_limit(&self) -> Option<BotLimit> {
        match self {
            HttpError::Limited { what, wait } if what == RateLimit::BOT_VS_BOT => Some(BotLimit::Ours(*wait)),
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
    requests: Client,
    streams: Client,
    base: BaseUrl,
    timeouts: Timeouts,
    limits: RateLimits,
    log: LogThrottle,
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
        let client = || {
            http::client(base.is_loopback(), &agent)
                .default_headers(HeaderMap::from_iter([(AUTHORIZATION, bearer.clone())]))
                .connect_timeout(timeouts.connect)
                .build()
        };
        Ok(Http(Arc::new(Inner {
            requests: client()?,
            streams: client()?,
            base: base.clone(),
            timeouts: timeouts.clone(),
            limits: RateLimits::default(),
            log: LogThrottle::default(),
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

    /// Logs a transient failure, throttled.
    pub(crate) fn warn_failure(&self, error: &HttpError, message: fmt::Arguments<'_>) {
        let subject = match error {
            HttpError::Limited { .. } => "requests beyond the server's limits",
            _ => FAILURES,
        };
        self.log().warn(subject, message);
    }

    pub(crate) async fn get<M: Message>(&self, kind: RequestKind, path: &str) -> Result<M, HttpError> {
        let body = self.request(kind, Method::GET, path, None, self.timeouts().reply).await?;
        Ok(M::parse(&body)?)
    }

    /// Posts a form; without one, the path says it all.
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
    pub(crate) async fn post_move(&self, path: &str, limit: Duration) -> Result<(), HttpError> {
        self.request(RequestKind::Move, Method::POST, path, None, limit).await.map(drop)
    }

    /// Opens a stream: by GET, or by posting a form.
    pub(crate) async fn open_stream(
        &self,
        kind: RequestKind,
        path: &str,
        form: Option<String>,
    ) -> Result<Response, HttpError> {
        let permit = self.0.limits.acquire(kind).await;
        let method = if form.is_some() { Method::POST } else { Method::GET };
        let request = with_form(self.0.streams.request(method, self.0.base.join(path)), form);
        // An open stream may not be silent for longer either.
        let response = timeout(self.timeouts().silence, request.send()).await.map_err(|_| timed_out())??;
        let opened = self.check(response).await;
        self.apply_limit(&permit, opened.as_ref().err());
        opened
    }

    async fn request(
        &self,
        kind: RequestKind,
        method: Method,
        path: &str,
        form: Option<String>,
        limit: Duration,
    ) -> Result<String, HttpError> {
        let permit = self.0.limits.acquire(kind).await;
        let request = with_form(self.0.requests.request(method, self.0.base.join(path)), form);
        let exchange = async { body(self.check(request.send().await?).await?).await };
        let reply = timeout(limit, exchange).await.unwrap_or_else(|_| Err(timed_out()));
        self.apply_limit(&permit, reply.as_ref().err());
        reply
    }

    /// Holds back further requests of this kind after a 429. The daily limit of games against bots concerns only
    /// some requests of a kind, and is left to the caller.
    fn apply_limit(&self, permit: &Permit<'_>, error: Option<&HttpError>) {
        if let Some(error @ HttpError::Limited { wait, .. }) = error
            && error.bot_limit().is_none()
        {
            permit.close(self.timeouts().rate_limited.min(*wait));
        }
    }

    async fn check(&self, response: Response) -> Result<Response, HttpError> {
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        // Reading the body keeps the connection open for the next request.
        let failure = Failure::parse(&body(response).await?)?;
        let limit = failure.ratelimit.as_ref();
        Err(match status {
            StatusCode::UNAUTHORIZED => HttpError::Unauthorized,
            StatusCode::NOT_FOUND => HttpError::NotFound,
            StatusCode::TOO_MANY_REQUESTS => HttpError::Limited {
                wait: limit.map_or(self.timeouts().rate_limited, |limit| limit.wait),
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
