//! One client for one account: who we are, which errors there are, how long an answer may be.
//!
//! Streams have connections of their own, so that a move never waits behind one; those for requests are kept
//! open longer than any pause between two moves of a fast game.

use std::{sync::Arc, time::Duration};

use reqwest::{
    Client, Method, Response, StatusCode,
    header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue},
};
use tokio::time::timeout;

use zeitnot_net::http::{self, Base, End, told};
use zeitnot_wire::{
    Message, WireError,
    lichess::{Failure, RateLimit, Token},
};

use super::{
    config::Patience,
    limits::{Kind, Limits, Pass},
    tally::Tally,
};

/// How forms are sent.
const FORM: &str = "application/x-www-form-urlencoded";
/// No answer of use is longer.
const LONGEST_ANSWER: usize = 1 << 20;

/// Why a request was not answered as it should be.
#[derive(Debug, thiserror::Error)]
pub enum HttpError {
    /// 401.
    #[error("the token is not accepted")]
    Unauthorized,
    /// 404.
    #[error("there is no such thing")]
    NotFound,
    /// 429.
    #[error("too many requests ({what}); waiting {:.0} s", .wait.as_secs_f64())]
    Limited {
        /// Which limit, or the server's words.
        what: String,
        /// For how long.
        wait: Duration,
    },
    /// Any other answer that is neither success nor the server's own trouble.
    #[error("{what} ({status})")]
    Refused {
        /// The number.
        status: u16,
        /// The server's words.
        what: String,
        /// A limit that was reached, on whichever side.
        limit: Option<RateLimit>,
    },
    /// 5xx.
    #[error("the server is in trouble ({0})")]
    Trouble(u16),
    /// No answer came, or none that ends. What was asked may have been done.
    #[error("network: {0}")]
    Network(String),
    /// An answer that cannot be read.
    #[error(transparent)]
    Answer(#[from] WireError),
}

impl HttpError {
    /// Is it nobody's word on what was asked, so that asking again may help?
    pub(super) fn is_passing(&self) -> bool {
        matches!(self, HttpError::Limited { .. } | HttpError::Trouble(_) | HttpError::Network(_))
    }

    /// For how long no game against a bot is to be had, and is it us who have played enough of them?
    pub fn bots_rest(&self) -> Option<(Duration, bool)> {
        match self {
            HttpError::Limited { what, wait } if what == RateLimit::BOT_VS_BOT => Some((*wait, true)),
            HttpError::Refused { limit: Some(limit), .. } if limit.key == RateLimit::BOT_VS_BOT => {
                Some((limit.wait, false))
            }
            _ => None,
        }
    }

    /// May it have been done all the same?
    pub fn is_doubtful(&self) -> bool {
        matches!(self, HttpError::Trouble(_) | HttpError::Network(_))
    }
}

impl From<reqwest::Error> for HttpError {
    fn from(error: reqwest::Error) -> HttpError {
        HttpError::Network(told(error))
    }
}

/// One account on one server. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Http {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    requests: Client,
    streams: Client,
    base: Base,
    patience: Patience,
    limits: Limits,
    tally: Tally,
}

impl Http {
    /// A client that shows this token, and says whose it is once that is known.
    ///
    /// # Errors
    /// [`HttpError::Network`] if there is nothing to encrypt with.
    pub fn new(
        base: &Base,
        token: &Token,
        account: Option<&str>,
        patience: &Patience,
    ) -> Result<Http, HttpError> {
        let mut show = HeaderValue::from_str(&format!("Bearer {}", token.expose()))
            .map_err(|_| HttpError::Network("the token does not fit into a header".to_owned()))?;
        show.set_sensitive(true);
        let name = format!("zeitnot/{} (user: {})", env!("CARGO_PKG_VERSION"), account.unwrap_or("unknown"));
        let client = || {
            http::client(base.is_here(), &name)
                .default_headers(HeaderMap::from_iter([(AUTHORIZATION, show.clone())]))
                .connect_timeout(patience.connect)
                .build()
        };
        let inner = Inner {
            requests: client()?,
            streams: client()?,
            base: base.clone(),
            patience: patience.clone(),
            limits: Limits::default(),
            tally: Tally::default(),
        };
        Ok(Http { inner: Arc::new(inner) })
    }

    /// Which server.
    pub fn base(&self) -> &Base {
        &self.inner.base
    }

    /// How long to wait for what.
    pub fn patience(&self) -> &Patience {
        &self.inner.patience
    }

    /// Tells what goes wrong for many at once.
    pub(super) fn tally(&self) -> &Tally {
        &self.inner.tally
    }

    /// Asks for something.
    ///
    /// # Errors
    /// [`HttpError`].
    pub async fn get<M: Message>(&self, kind: Kind, path: &str) -> Result<M, HttpError> {
        let body = self.request(kind, Method::GET, path, None, self.inner.patience.answer).await?;
        Ok(M::parse(&body)?)
    }

    /// Has something done; the form is empty where the path says it all.
    ///
    /// # Errors
    /// [`HttpError`].
    pub async fn post(&self, kind: Kind, path: &str, form: Option<String>) -> Result<(), HttpError> {
        self.request(kind, Method::POST, path, form, self.inner.patience.answer).await.map(drop)
    }

    /// Asks for something that a text is sent for.
    pub(super) async fn exchange<M: Message>(
        &self,
        kind: Kind,
        path: &str,
        text: String,
    ) -> Result<M, HttpError> {
        let body = self.request(kind, Method::POST, path, Some(text), self.inner.patience.answer).await?;
        Ok(M::parse(&body)?)
    }

    /// Sends a move, and waits so long for the answer.
    pub(super) async fn post_move(&self, path: &str, limit: Duration) -> Result<(), HttpError> {
        self.request(Kind::Move, Method::POST, path, None, limit).await.map(drop)
    }

    /// Opens a stream: what comes has no end.
    pub(super) async fn open(&self, kind: Kind, path: &str) -> Result<Response, HttpError> {
        self.begin(kind, Method::GET, path, String::new()).await
    }

    /// Has something done that is answered by a stream.
    pub(super) async fn follow(&self, kind: Kind, path: &str, form: String) -> Result<Response, HttpError> {
        self.begin(kind, Method::POST, path, form).await
    }

    async fn begin(
        &self,
        kind: Kind,
        method: Method,
        path: &str,
        form: String,
    ) -> Result<Response, HttpError> {
        let pass = self.inner.limits.enter(kind).await;
        let request = self.inner.streams.request(method, self.inner.base.join(path));
        let request = if form.is_empty() { request } else { request.header(CONTENT_TYPE, FORM).body(form) };
        // Not longer than silence is borne on an open stream.
        let response = timeout(self.inner.patience.silence, request.send()).await.map_err(|_| late())??;
        let opened = self.judge(response).await;
        self.note(&pass, opened.as_ref().err());
        opened
    }

    /// Where a kind of request was too much, the next one waits.
    fn note(&self, pass: &Pass<'_>, error: Option<&HttpError>) {
        if let Some(error @ HttpError::Limited { wait, .. }) = error
            && error.bots_rest().is_none()
        {
            // A limit that holds for a day is about one thing of a kind: whoever asked knows which.
            pass.close(self.inner.patience.limited.min(*wait));
        }
    }

    async fn request(
        &self,
        kind: Kind,
        method: Method,
        path: &str,
        form: Option<String>,
        limit: Duration,
    ) -> Result<String, HttpError> {
        let pass = self.inner.limits.enter(kind).await;
        let request = self.inner.requests.request(method, self.inner.base.join(path));
        let request = match form {
            Some(form) => request.header(CONTENT_TYPE, FORM).body(form),
            None => request,
        };
        let exchange = async { body(self.judge(request.send().await?).await?).await };
        let answer = timeout(limit, exchange).await.unwrap_or_else(|_| Err(late()));
        self.note(&pass, answer.as_ref().err());
        answer
    }

    /// Is it what we asked for?
    async fn judge(&self, response: Response) -> Result<Response, HttpError> {
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        // Read to its end, the connection stays open for the next request.
        let failure = Failure::parse(&body(response).await?)?;
        Err(match status {
            StatusCode::UNAUTHORIZED => HttpError::Unauthorized,
            StatusCode::NOT_FOUND => HttpError::NotFound,
            StatusCode::TOO_MANY_REQUESTS => HttpError::Limited {
                wait: failure.ratelimit.as_ref().map_or(self.inner.patience.limited, |limit| limit.wait),
                what: failure
                    .ratelimit
                    .as_ref()
                    .map_or_else(|| failure.to_string(), |limit| limit.key.clone()),
            },
            status if status.is_server_error() => HttpError::Trouble(status.as_u16()),
            status => HttpError::Refused {
                status: status.as_u16(),
                what: failure.to_string(),
                limit: failure.ratelimit,
            },
        })
    }
}

fn late() -> HttpError {
    HttpError::Network("no answer in time".to_owned())
}

/// All of an answer, if it is of a length that an answer may have.
async fn body(response: Response) -> Result<String, HttpError> {
    http::body(response, LONGEST_ANSWER, End::Whole).await.map_err(HttpError::Network)
}
