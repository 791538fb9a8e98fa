//! One server that is asked: one question at a time, each within its limit, and none for a while after trouble.

use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

use reqwest::{
    Client, StatusCode,
    header::{AUTHORIZATION, HeaderMap, HeaderValue},
};
use tokio::{
    sync::Semaphore,
    time::{Instant, timeout_at},
};

use zeitnot_net::http::{self, BaseUrl, ReadUntil, root_cause};
use zeitnot_wire::{WireError, lichess::Token};

use super::{
    Cloud, Explorer, OnlineError, Question, Source, Suggestion, Tablebase, cloud, explorer, tablebase,
};

/// No answer of use is longer; a tablebase has some 200 bytes for each legal move.
const LONGEST_ANSWER: usize = 256 << 10;
/// As the API wants it after a 429.
const LIMITED: Duration = Duration::from_secs(60);
/// After an answer that cannot get better by itself.
const REFUSED: Duration = Duration::from_secs(600);
/// After trouble, at first; then twice as long each time …
const FIRST_PAUSE: Duration = Duration::from_secs(2);
/// … up to this.
const LONGEST_PAUSE: Duration = Duration::from_secs(120);

/// What it is asked, with its settings.
#[derive(Clone, Debug)]
pub(super) enum Kind {
    Tablebase(Tablebase),
    Cloud(Cloud),
    Explorer(Explorer),
}

#[derive(Debug)]
pub(super) struct Service {
    kind: Kind,
    client: Client,
    /// One question at a time.
    turn: Semaphore,
    trouble: Mutex<Trouble>,
}

/// How it has been of late.
#[derive(Debug, Default)]
struct Trouble {
    /// Questions in a row that were not answered as they should be.
    failures: u32,
    silent_until: Option<Instant>,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error("too many requests")]
    Limited,
    #[error("the server answers HTTP {0}")]
    Refused(StatusCode),
    #[error("the server is in trouble (HTTP {0})")]
    Trouble(StatusCode),
    #[error("network: {0}")]
    Network(String),
    #[error("no answer within {0:?}")]
    Late(Duration),
    #[error(transparent)]
    Answer(#[from] WireError),
}

impl Service {
    pub fn new(kind: Kind, token: Option<Token>) -> Result<Service, OnlineError> {
        let mut headers = HeaderMap::new();
        if let Some(token) = token
            && let Ok(mut show) = HeaderValue::from_str(&format!("Bearer {}", token.expose()))
        {
            show.set_sensitive(true);
            headers.insert(AUTHORIZATION, show);
        }
        let name = concat!("zeitnot/", env!("CARGO_PKG_VERSION"));
        let client = http::client(kind.url().is_loopback(), name)
            .default_headers(headers)
            .connect_timeout(kind.limit());
        let client =
            client.build().map_err(|error| OnlineError::NoClient(kind.source(), root_cause(error)))?;
        Ok(Service { kind, client, turn: Semaphore::new(1), trouble: Mutex::default() })
    }

    pub fn source(&self) -> Source {
        self.kind.source()
    }

    /// The address that answers the question; `None` if it is not to be asked.
    pub fn request(&self, question: &Question) -> Option<String> {
        let on_the_edge = question.left.is_some_and(|left| left < self.kind.min_clock());
        if on_the_edge || self.kind.limit() > question.time || self.is_silent() {
            return None;
        }
        let (path, query) = self.kind.query(question)?;
        // Only what is no list of pairs of texts cannot be written.
        let query = serde_urlencoded::to_string(query).unwrap_or_default();
        Some(format!("{}?{query}", self.kind.url().join(path)))
    }

    /// Nothing after the limit, however many others ask and whatever the network does.
    pub async fn ask(&self, address: &str, question: &Question) -> Vec<Suggestion> {
        let until = Instant::now() + self.kind.limit();
        let Ok(Ok(_turn)) = timeout_at(until, self.turn.acquire()).await else { return Vec::new() };
        // Somebody may have had trouble while we waited.
        if self.is_silent() {
            return Vec::new();
        }
        let late = Failure::Late(self.kind.limit());
        match timeout_at(until, self.fetch(address, question)).await.unwrap_or(Err(late)) {
            Ok(suggestions) => {
                *self.trouble() = Trouble::default();
                tracing::debug!(source = %self.source(), moves = suggestions.len(), "answered");
                suggestions
            }
            Err(failure) => {
                let pause = self.trouble().note(&failure);
                tracing::warn!("{}: {failure}; not asked for {:.0} s", self.source(), pause.as_secs_f64());
                Vec::new()
            }
        }
    }

    async fn fetch(&self, address: &str, question: &Question) -> Result<Vec<Suggestion>, Failure> {
        let network = |error| Failure::Network(root_cause(error));
        let response = self.client.get(address).send().await.map_err(network)?;
        let status = response.status();
        let body = http::body(response, LONGEST_ANSWER, self.kind.end()).await;
        match status {
            // Read to its end, the connection stays open for the next question.
            StatusCode::NOT_FOUND => Ok(Vec::new()),
            StatusCode::TOO_MANY_REQUESTS => Err(Failure::Limited),
            status if status.is_success() => {
                self.kind.read(&body.map_err(Failure::Network)?, question).map_err(Failure::from)
            }
            status if status.is_client_error() || status.is_redirection() => Err(Failure::Refused(status)),
            status => Err(Failure::Trouble(status)),
        }
    }

    fn is_silent(&self) -> bool {
        self.trouble().silent_until.is_some_and(|until| Instant::now() < until)
    }

    fn trouble(&self) -> std::sync::MutexGuard<'_, Trouble> {
        self.trouble.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Trouble {
    /// How long it is left alone now.
    fn note(&mut self, failure: &Failure) -> Duration {
        let doubled = FIRST_PAUSE.saturating_mul(1 << self.failures.min(16)).min(LONGEST_PAUSE);
        self.failures = self.failures.saturating_add(1);
        let pause = match failure {
            Failure::Limited => LIMITED,
            Failure::Refused(_) => REFUSED,
            _ => doubled,
        };
        self.silent_until = Some(Instant::now() + pause);
        pause
    }
}

impl Kind {
    fn source(&self) -> Source {
        match self {
            Kind::Tablebase(_) => Source::Tablebase,
            Kind::Cloud(_) => Source::Cloud,
            Kind::Explorer(_) => Source::Explorer,
        }
    }

    fn url(&self) -> &BaseUrl {
        match self {
            Kind::Tablebase(config) => &config.url,
            Kind::Cloud(config) => &config.url,
            Kind::Explorer(config) => &config.url,
        }
    }

    fn limit(&self) -> Duration {
        match self {
            Kind::Tablebase(config) => config.limit,
            Kind::Cloud(config) => config.limit,
            Kind::Explorer(config) => config.limit,
        }
    }

    fn min_clock(&self) -> Duration {
        match self {
            Kind::Tablebase(config) => config.min_clock,
            Kind::Cloud(config) => config.min_clock,
            Kind::Explorer(config) => config.min_clock,
        }
    }

    /// Where in the answer it is said.
    fn end(&self) -> ReadUntil {
        match self {
            Kind::Explorer(config) => explorer::end(config),
            Kind::Tablebase(_) | Kind::Cloud(_) => ReadUntil::End,
        }
    }

    /// The path and what is asked there; `None` where the answer would be of no use.
    fn query(&self, question: &Question) -> Option<(&'static str, Vec<(&'static str, String)>)> {
        match self {
            Kind::Tablebase(config) => tablebase::query(config, question),
            Kind::Cloud(config) => cloud::query(config, question),
            Kind::Explorer(config) => explorer::query(config, question),
        }
    }

    fn read(&self, body: &str, question: &Question) -> Result<Vec<Suggestion>, WireError> {
        match self {
            Kind::Tablebase(_) => tablebase::read(body, question),
            Kind::Cloud(config) => cloud::read(config, body, question),
            Kind::Explorer(config) => explorer::read(config, body, question),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn trouble_is_waited_out_longer_each_time() {
        let mut trouble = Trouble::default();
        for seconds in [2, 4, 8, 16, 32, 64, 120, 120] {
            assert_eq!(trouble.note(&Failure::Late(Duration::ZERO)).as_secs(), seconds);
        }
        assert_eq!(trouble.note(&Failure::Limited), LIMITED);
        assert_eq!(trouble.note(&Failure::Refused(StatusCode::UNAUTHORIZED)), REFUSED);
    }
}
