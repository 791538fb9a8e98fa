//! Rate limits: most kinds of requests are sent one at a time, none of a kind that the server limits at present. Moves
//! never wait.

use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

use tokio::{
    sync::{Mutex as AsyncMutex, MutexGuard},
    time::{Instant, sleep_until},
};

use super::recent::RecentTimes;

/// The server's limit for opening the event stream and for joining tournaments: so many requests …
const MAX_REQUESTS: usize = 30;
/// … within this time.
const WINDOW: Duration = Duration::from_secs(600);

/// Kind of a request, with a limit of its own.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum RequestKind {
    Move,
    /// Resigning, claiming, aborting.
    Game,
    /// Aborting games that nobody plays.
    Abort,
    /// Accepting challenges and cancelling our own.
    Challenge,
    /// Declining challenges; apart, so that a flood of them delays no acceptance.
    Decline,
    /// Challenging others.
    Propose,
    /// Joining tournaments and teams.
    Join,
    Chat,
    Lookup,
    EventStream,
    GameStream,
}

impl RequestKind {
    const COUNT: usize = RequestKind::GameStream as usize + 1;

    /// Returns whether one request at a time is enough. Requests of different games must not wait for each other.
    fn is_serial(self) -> bool {
        use RequestKind::{EventStream, Game, GameStream, Move};
        !matches!(self, Move | Game | EventStream | GameStream)
    }

    /// Returns whether a stream of this kind is kept open as long as it lasts.
    pub(crate) fn is_followed(self) -> bool {
        matches!(self, RequestKind::EventStream | RequestKind::GameStream)
    }

    fn has_window(self) -> bool {
        matches!(self, RequestKind::EventStream | RequestKind::Join)
    }
}

#[derive(Debug, Default)]
pub(crate) struct RateLimits {
    serial: [AsyncMutex<()>; RequestKind::COUNT],
    states: Mutex<[State; RequestKind::COUNT]>,
}

#[derive(Debug, Default)]
struct State {
    closed_until: Option<Instant>,
    sent: RecentTimes,
}

impl State {
    /// Counts one request, or returns when to try again.
    fn try_acquire(&mut self, kind: RequestKind) -> Result<(), Instant> {
        let now = Instant::now();
        if kind == RequestKind::Move {
            return Ok(());
        }
        if let Some(until) = self.closed_until.filter(|until| *until > now) {
            return Err(until);
        }
        if kind.has_window() {
            let is_full = self.sent.count(WINDOW, now.into_std()) >= MAX_REQUESTS;
            if let Some(oldest) = self.sent.oldest().filter(|_| is_full) {
                return Err(Instant::from_std(oldest) + WINDOW);
            }
            self.sent.push(now.into_std());
        }
        Ok(())
    }
}

/// Permission for one request. Serial kinds wait until it is dropped.
#[derive(Debug)]
pub(crate) struct Permit<'l> {
    limits: &'l RateLimits,
    kind: RequestKind,
    _serial: Option<MutexGuard<'l, ()>>,
}

impl RateLimits {
    /// Waits until a request of this kind may be sent. Cancel safe.
    pub(crate) async fn acquire(&self, kind: RequestKind) -> Permit<'_> {
        let serial = match kind.is_serial() {
            true => Some(self.serial[kind as usize].lock().await),
            false => None,
        };
        while let Err(until) = self.try_acquire(kind) {
            sleep_until(until).await;
        }
        Permit { limits: self, kind, _serial: serial }
    }

    fn try_acquire(&self, kind: RequestKind) -> Result<(), Instant> {
        self.states()[kind as usize].try_acquire(kind)
    }

    /// Returns for how long the server takes no requests of a kind.
    pub(crate) fn closed_for(&self, kind: RequestKind) -> Duration {
        let until = self.states()[kind as usize].closed_until;
        until.map_or(Duration::ZERO, |until| until.saturating_duration_since(Instant::now()))
    }

    /// Returns whether most requests of a kind that the server limits are used up.
    pub(crate) fn is_scarce(&self, kind: RequestKind) -> bool {
        let used = self.states()[kind as usize].sent.count(WINDOW, Instant::now().into_std());
        kind.has_window() && used >= MAX_REQUESTS / 2
    }

    fn states(&self) -> std::sync::MutexGuard<'_, [State; RequestKind::COUNT]> {
        self.states.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Permit<'_> {
    pub(crate) fn kind(&self) -> RequestKind {
        self.kind
    }

    /// The request never arrived, and is not counted.
    pub(crate) fn refund(&mut self) {
        if self.kind.has_window() {
            self.limits.states()[self.kind as usize].sent.pop();
        }
    }

    /// Holds back further requests of this kind after a 429. A longer wait that was told before stands.
    pub(crate) fn close(&self, wait: Duration) {
        let state = &mut self.limits.states()[self.kind as usize];
        state.closed_until = state.closed_until.max(Some(Instant::now() + wait));
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::timeout;

    use super::*;

    const MINUTE: Duration = Duration::from_secs(60);

    #[test(start_paused = true)]
    async fn only_the_limited_kind_waits_and_moves_never_do() {
        let limits = RateLimits::default();
        limits.acquire(RequestKind::Chat).await.close(MINUTE);
        let began = Instant::now();
        limits.acquire(RequestKind::Game).await;
        limits.acquire(RequestKind::Move).await.close(MINUTE);
        limits.acquire(RequestKind::Move).await;
        assert!(began.elapsed() < Duration::from_secs(1));
        limits.acquire(RequestKind::Chat).await;
        assert!(began.elapsed() >= MINUTE);
    }

    #[test(start_paused = true)]
    async fn a_longer_wait_is_not_overwritten_by_a_shorter_one() {
        let limits = RateLimits::default();
        let first = limits.acquire(RequestKind::Game).await;
        let second = limits.acquire(RequestKind::Game).await;
        let began = Instant::now();
        first.close(MINUTE);
        second.close(MINUTE / 10);
        assert_eq!(limits.closed_for(RequestKind::Game), MINUTE);
        limits.acquire(RequestKind::Game).await;
        assert!(began.elapsed() >= MINUTE);
    }

    #[test(start_paused = true)]
    async fn serial_kinds_are_sent_one_at_a_time() {
        let limits = RateLimits::default();
        let first = limits.acquire(RequestKind::Lookup).await;
        assert!(timeout(MINUTE, limits.acquire(RequestKind::Lookup)).await.is_err());
        drop(first);
        assert!(timeout(MINUTE, limits.acquire(RequestKind::Lookup)).await.is_ok());
        // A request that hangs in one game delays no other game.
        let _claim = limits.acquire(RequestKind::Game).await;
        assert!(timeout(MINUTE, limits.acquire(RequestKind::Game)).await.is_ok());
    }

    #[test(start_paused = true)]
    async fn the_event_stream_is_opened_thirty_times_in_ten_minutes() {
        // Openings that never arrived do not count.
        let limits = RateLimits::default();
        let began = Instant::now();
        for _ in 0..MAX_REQUESTS {
            limits.acquire(RequestKind::EventStream).await.refund();
            limits.acquire(RequestKind::EventStream).await;
        }
        assert!(began.elapsed() < Duration::from_secs(1));
        assert!(limits.is_scarce(RequestKind::EventStream));
        assert!(!limits.is_scarce(RequestKind::Join));
        limits.acquire(RequestKind::EventStream).await;
        assert!(began.elapsed() >= WINDOW);
    }
}
