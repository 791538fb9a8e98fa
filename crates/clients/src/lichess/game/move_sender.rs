//! Sends a move: again and again while it may still count, and never after that.
//!
//! An attempt without a reply gets a second one beside it, on a new connection, if the site refuses whichever arrives
//! second.

use std::{
    mem,
    time::{Duration, Instant},
};

use tokio::{select, task::JoinSet, time::Instant as TokioInstant};
use tokio_util::sync::CancellationToken;
use tracing::debug;

use crate::{
    backoff::{Backoff, Reconnect},
    lichess::{Http, HttpError, MAX_PAUSE, Pool, wait_in_game},
    wait::until,
};

/// An attempt takes at most this part of the time that is left …
const PART: u32 = 4;
/// … but not less than this, as the network may be slow.
const MIN_ATTEMPT: Duration = Duration::from_secs(1);
/// Before a second attempt beside the first …
const HEDGE_DELAY: Duration = Duration::from_millis(1500);
/// … which is sooner where little time is left.
const HEDGE_PART: u32 = 8;
const MIN_HEDGE_DELAY: Duration = Duration::from_millis(250);
/// Attempts at the same time.
const MAX_ATTEMPTS: usize = 2;
/// Wait for the reply to the other attempt, once one was refused.
const REFUSAL_TIMEOUT: Duration = Duration::from_secs(1);
/// Delays after a failure. During the first of them the stream may tell the move as played.
const DELAYS: Reconnect = Reconnect {
    min_delay: Duration::from_millis(200),
    max_delay: Duration::from_secs(1),
    stable_after: Duration::MAX,
};

#[derive(Debug)]
pub(crate) enum SendOutcome {
    /// The server took it; the request was sent then.
    Played { at: Instant },
    /// The server refused it; or it has it already, by an attempt whose reply was lost.
    Refused(String),
}

/// Sends a move until the server takes or refuses it. Returns `None` if it became `moot` before.
pub(crate) async fn send(
    http: &Http,
    path: &str,
    due: Option<Instant>,
    moot: &CancellationToken,
) -> Option<SendOutcome> {
    MoveSender::new(http, path, due).run(moot).await
}

/// One attempt: its connections, when it was sent, and the reply.
type Attempt = (Pool, Instant, Result<(), HttpError>);

struct MoveSender<'a> {
    http: &'a Http,
    path: &'a str,
    /// Our clock runs out then.
    due: Option<Instant>,
    attempts: JoinSet<Attempt>,
    /// The next attempt after the first starts then.
    next: Option<TokioInstant>,
    backoff: Backoff,
    has_failed: bool,
    /// A refusal, and how long to wait for the reply to the other attempt.
    refused: Option<(String, TokioInstant)>,
}

impl MoveSender<'_> {
    fn new<'a>(http: &'a Http, path: &'a str, due: Option<Instant>) -> MoveSender<'a> {
        MoveSender {
            http,
            path,
            due,
            attempts: JoinSet::new(),
            next: None,
            backoff: Backoff::new(&DELAYS),
            has_failed: false,
            refused: None,
        }
    }

    async fn run(&mut self, moot: &CancellationToken) -> Option<SendOutcome> {
        let mut is_moot = moot.is_cancelled();
        if !is_moot {
            // Not by the timer of the further attempts: tokio rounds that up to a whole millisecond.
            self.attempt();
        }
        loop {
            // Even a moot request is completed: cancelling it would close a warm connection.
            if is_moot && self.attempts.is_empty() {
                return None;
            }
            let timeout = self.refused.as_ref().map(|(_, until)| *until);
            select! {
                biased;
                Some(joined) = self.attempts.join_next() => {
                    match joined.map(|attempt| self.replied(attempt)) {
                        Ok(Some(outcome)) => return Some(outcome),
                        Ok(None) => {}
                        Err(_) => self.next = Some(TokioInstant::now() + HEDGE_DELAY),
                    }
                }
                () = moot.cancelled(), if !is_moot => (is_moot, self.next) = (true, None),
                () = until(timeout) => return self.refused.take().map(|(why, _)| SendOutcome::Refused(why)),
                () = until(self.next) => self.attempt(),
            }
            if is_moot {
                self.next = None;
            }
        }
    }

    fn left(&self) -> Option<Duration> {
        self.due.map(|due| due.saturating_duration_since(Instant::now()))
    }

    /// Starts an attempt; where one is under way, on a new connection.
    fn attempt(&mut self) {
        let is_first = self.attempts.is_empty();
        if !is_first {
            debug!("{}: no reply; sending it a second time on a new connection", self.path);
        }
        let left = self.left();
        let max = self.http.timeouts().reply;
        let limit = left.map_or(max, |left| (left / PART).clamp(MIN_ATTEMPT.min(max), max));
        let http = self.http.clone();
        let path = self.path.to_owned();
        self.attempts.spawn(async move {
            let pool = if is_first { http.requests().current() } else { http.requests().fresh() };
            let at = Instant::now();
            let reply = http.post_move(&pool, &path, limit).await;
            (pool, at, reply)
        });
        let part = left.map_or(HEDGE_DELAY, |left| left / HEDGE_PART);
        let delay = part.clamp(MIN_HEDGE_DELAY, HEDGE_DELAY);
        let max = if self.http.site().refuses_repeated_moves() { MAX_ATTEMPTS } else { 1 };
        self.next = (self.attempts.len() < max).then(|| TokioInstant::now() + delay);
    }

    fn replied(&mut self, (pool, at, reply): Attempt) -> Option<SendOutcome> {
        let now = TokioInstant::now();
        match reply {
            Ok(()) => {
                // The older connections are dead, or slow.
                self.http.requests().share(&pool);
                return Some(SendOutcome::Played { at });
            }
            // Only the server itself refuses a move, and with this status.
            Err(error @ HttpError::Refused { status: 400, .. }) => {
                // The other attempt may be the one that was played.
                self.refused = Some((error.to_string(), now + REFUSAL_TIMEOUT));
                self.next = None;
            }
            Err(error) if self.refused.is_none() => {
                let due = now + self.delay(&error);
                self.next =
                    Some(self.next.filter(|_| !self.attempts.is_empty()).map_or(due, |next| next.min(due)));
            }
            Err(_) => {}
        }
        let (why, _) = self.refused.take_if(|_| self.attempts.is_empty())?;
        Some(SendOutcome::Refused(why))
    }

    /// Reports a failure. Returns the delay before the next attempt.
    fn delay(&mut self, error: &HttpError) -> Duration {
        let left = self.left();
        let delay = match (error, left) {
            (HttpError::Limited { wait, is_told, .. }, Some(left)) => {
                wait_in_game(*wait, *is_told, left).max(self.backoff.next(Some(left)))
            }
            (HttpError::Limited { wait, .. }, None) => MAX_PAUSE.min(*wait),
            _ => self.backoff.next(left),
        };
        let message =
            format_args!("{}: {error}; sending it again in {:.1} s", self.path, delay.as_secs_f64());
        // The first attempt may have been played, which the stream tells.
        if !mem::replace(&mut self.has_failed, true) && error.is_inconclusive() {
            debug!("{message} unless it was played");
        } else {
            self.http.warn_failure(error, message);
        }
        delay
    }
}

#[cfg(test)]
mod tests {
    use std::{
        pin::pin,
        task::{Context, Waker},
    };

    use zeitnot_net::http::BaseUrl;

    use super::*;
    use crate::lichess::Config;

    #[test(start_paused = true)]
    async fn the_first_attempt_waits_for_no_timer() {
        let base = BaseUrl::known("http://127.0.0.1:1");
        let token = "lip_hush".parse().unwrap();
        let http = Http::new(&Config { url: base, ..Config::default() }, &token, None).unwrap();
        // Between two ticks of the timers, as nearly always.
        tokio::time::advance(Duration::from_micros(500)).await;
        let mut sender = MoveSender::new(&http, "move", None);
        let moot = CancellationToken::new();
        assert!(pin!(sender.run(&moot)).poll(&mut Context::from_waker(Waker::noop())).is_pending());
        assert_eq!(sender.attempts.len(), 1);
    }
}
