//! One server that is asked for moves: one query at a time, each within the timeout, and none for a while after a
//! failure.

use std::{
    fmt,
    sync::{Mutex, MutexGuard, PoisonError},
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

use zeitnot_net::http::{self, ReadUntil, root_cause};
use zeitnot_seat::{LookupSource, PositionQuery, Suggestion};
use zeitnot_wire::{WireError, lichess::Token};

use super::{LookupError, config::ServerKeys};

/// Longest answer that is read; a tablebase sends about 200 bytes for each legal move.
const MAX_ANSWER_BYTES: usize = 256 << 10;
/// Pause after HTTP 429, as the API asks for.
const PAUSE_LIMITED: Duration = Duration::from_secs(60);
/// Pause after an answer that a retry will not improve.
const PAUSE_REFUSED: Duration = Duration::from_secs(600);
/// Pause after the first other failure; it doubles with each …
const MIN_PAUSE: Duration = Duration::from_secs(2);
/// … up to this.
const MAX_PAUSE: Duration = Duration::from_secs(120);

/// Path and parameters of a request.
pub(super) type Request = (&'static str, Vec<(&'static str, String)>);

/// API of a kind of server.
pub(super) trait Api: fmt::Debug + Send + Sync {
    /// Returns the request for a position; `None` where the answer would be of no use.
    fn request(&self, query: &PositionQuery) -> Option<Request>;

    /// Parses an answer: moves, the best first.
    ///
    /// # Errors
    /// [`WireError`] if the answer is malformed.
    fn parse(&self, body: &str, query: &PositionQuery) -> Result<Vec<Suggestion>, WireError>;

    /// Returns whether the search is to choose among the moves; otherwise the first is played.
    fn is_choice(&self) -> bool {
        false
    }

    /// Returns where the answer ends.
    fn read_until(&self) -> ReadUntil {
        ReadUntil::End
    }
}

#[derive(Debug)]
pub(super) struct Service {
    pub(super) source: LookupSource,
    keys: ServerKeys,
    api: Box<dyn Api>,
    client: Client,
    /// One query at a time.
    turn: Semaphore,
    failures: Mutex<Failures>,
}

#[derive(Debug, Default)]
struct Failures {
    in_a_row: u32,
    paused_until: Option<Instant>,
}

#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error("too many requests")]
    Limited,
    #[error("the server answered HTTP {0}")]
    Refused(StatusCode),
    #[error("the server failed (HTTP {0})")]
    Server(StatusCode),
    #[error("network: {0}")]
    Network(String),
    #[error("no answer within {0:?}")]
    TimedOut(Duration),
    #[error(transparent)]
    Answer(#[from] WireError),
}

impl Service {
    pub(super) fn new(
        source: LookupSource,
        keys: ServerKeys,
        api: Box<dyn Api>,
        token: Option<&Token>,
    ) -> Result<Service, LookupError> {
        let mut headers = HeaderMap::new();
        if let Some(token) = token
            && let Ok(mut value) = HeaderValue::from_str(&format!("Bearer {}", token.expose()))
        {
            value.set_sensitive(true);
            headers.insert(AUTHORIZATION, value);
        }
        let name = concat!("zeitnot/", env!("CARGO_PKG_VERSION"));
        let client = http::client(keys.url.is_loopback(), name)
            .default_headers(headers)
            .connect_timeout(keys.timeout)
            .build()
            .map_err(|error| LookupError::NoClient(source, root_cause(error)))?;
        let turn = Semaphore::new(1);
        let failures = Mutex::default();
        Ok(Service { source, keys, api, client, turn, failures })
    }

    /// Returns the URL that answers a query; `None` if the server is not to be asked.
    pub(super) fn url(&self, query: &PositionQuery) -> Option<String> {
        let ServerKeys { max_ply, timeout, min_time, .. } = self.keys;
        let little_time = query.left.is_some_and(|left| left < min_time) || timeout > query.time;
        if little_time || query.plies >= max_ply || self.is_paused() {
            return None;
        }
        let (path, parameters) = self.api.request(query)?;
        // Pairs of strings can always be encoded.
        let parameters = serde_urlencoded::to_string(parameters).unwrap_or_default();
        Some(format!("{}?{parameters}", self.keys.url.join(path)))
    }

    /// Returns whether the search is to choose among the moves.
    pub(super) fn is_choice(&self) -> bool {
        self.api.is_choice()
    }

    /// Asks the server. Ends within the timeout, however many others ask and whatever the network does.
    pub(super) async fn ask(&self, url: &str, query: &PositionQuery) -> Vec<Suggestion> {
        let until = Instant::now() + self.keys.timeout;
        let Ok(Ok(_turn)) = timeout_at(until, self.turn.acquire()).await else { return Vec::new() };
        // A query before this one may have failed.
        if self.is_paused() {
            return Vec::new();
        }
        let timed_out = Failure::TimedOut(self.keys.timeout);
        match timeout_at(until, self.fetch(url, query)).await.unwrap_or(Err(timed_out)) {
            Ok(suggestions) => {
                *self.failures() = Failures::default();
                tracing::debug!(source = %self.source, moves = suggestions.len(), "answered");
                suggestions
            }
            Err(failure) => {
                let pause = self.failures().add(&failure);
                tracing::warn!("{}: {failure}; not asked for {:.0} s", self.source, pause.as_secs_f64());
                Vec::new()
            }
        }
    }

    async fn fetch(&self, url: &str, query: &PositionQuery) -> Result<Vec<Suggestion>, Failure> {
        let network = |error| Failure::Network(root_cause(error));
        let response = self.client.get(url).send().await.map_err(network)?;
        let status = response.status();
        let body = http::body(response, MAX_ANSWER_BYTES, self.api.read_until()).await;
        match status {
            // Read to its end, the connection stays open for the next query.
            StatusCode::NOT_FOUND => Ok(Vec::new()),
            StatusCode::TOO_MANY_REQUESTS => Err(Failure::Limited),
            status if status.is_success() => Ok(self.api.parse(&body.map_err(Failure::Network)?, query)?),
            status if status.is_client_error() || status.is_redirection() => Err(Failure::Refused(status)),
            status => Err(Failure::Server(status)),
        }
    }

    fn is_paused(&self) -> bool {
        self.failures().paused_until.is_some_and(|until| Instant::now() < until)
    }

    fn failures(&self) -> MutexGuard<'_, Failures> {
        self.failures.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Failures {
    /// Returns how long the server is not asked now.
    fn add(&mut self, failure: &Failure) -> Duration {
        let doubled = MIN_PAUSE.saturating_mul(1 << self.in_a_row.min(16)).min(MAX_PAUSE);
        self.in_a_row = self.in_a_row.saturating_add(1);
        let pause = match failure {
            Failure::Limited => PAUSE_LIMITED,
            Failure::Refused(_) => PAUSE_REFUSED,
            _ => doubled,
        };
        self.paused_until = Some(Instant::now() + pause);
        pause
    }
}

#[cfg(test)]
mod tests {
    use zeitnot_rules::{Color, GameKind};

    use super::{super::Config, *};

    #[test]
    fn only_openings_are_asked_for_and_only_with_enough_time() {
        let [_, _, (source, keys), _] = Config::default().servers();
        let max_ply = keys.max_ply;
        let service = Service::new(source, keys, Box::new(super::super::Cloud::default()), None).unwrap();
        let fen = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
        let asked = |plies, left, time| {
            let (game, side, fen) = (GameKind::Chess, Color::White, fen.to_owned());
            let (left, time) = (Some(Duration::from_secs(left)), Duration::from_secs(time));
            let query = PositionQuery { game, fen, side, piece_count: 32, plies, left, time };
            service.url(&query).is_some()
        };
        assert!(asked(max_ply - 1, 20, 1));
        assert!(!asked(max_ply, 20, 1) && !asked(0, 19, 1) && !asked(0, 20, 0));
    }

    #[test(start_paused = true)]
    async fn pauses_double_with_each_failure() {
        let mut failures = Failures::default();
        for seconds in [2, 4, 8, 16, 32, 64, 120, 120] {
            assert_eq!(failures.add(&Failure::TimedOut(Duration::ZERO)).as_secs(), seconds);
        }
        assert_eq!(failures.add(&Failure::Limited), PAUSE_LIMITED);
        assert_eq!(failures.add(&Failure::Refused(StatusCode::UNAUTHORIZED)), PAUSE_REFUSED);
    }
}
