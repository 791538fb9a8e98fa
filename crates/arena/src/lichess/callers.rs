//! Callers and how many requests each may make: an account, or the address of those without a token.
//!
//! Requests beyond that are not refused: they wait, and with them their connection.

use std::{
    collections::BTreeMap,
    fmt,
    net::IpAddr,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio::{
    sync::{Semaphore, SemaphorePermit},
    time::{Instant, sleep_until},
};
use zeitnot_wire::lichess::UserId;

/// Requests that a caller may make at once.
const BURST: u32 = 100;
/// Callers that are remembered without a connection.
const MAX_IDLE: usize = 1000;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum CallerKey {
    Administrator,
    Account(UserId),
    Address(IpAddr),
}

impl fmt::Display for CallerKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CallerKey::Administrator => f.write_str("the administrator"),
            CallerKey::Account(account) => account.fmt(f),
            CallerKey::Address(address) => address.fmt(f),
        }
    }
}

impl CallerKey {
    /// The pause between requests in the long run, and the requests in flight.
    fn limits(&self) -> (Duration, usize) {
        match self {
            CallerKey::Administrator | CallerKey::Account(_) => (Duration::from_millis(10), 64),
            CallerKey::Address(_) => (Duration::from_millis(2), 8),
        }
    }
}

/// One caller; all of its connections share this.
#[derive(Debug)]
pub(super) struct Caller {
    interval: Duration,
    /// The time that the requests so far take at the pace of the long run.
    spent_until: Mutex<Instant>,
    in_flight: Semaphore,
}

impl Caller {
    fn new(key: &CallerKey) -> Caller {
        let (interval, in_flight) = key.limits();
        Caller { interval, spent_until: Mutex::new(Instant::now()), in_flight: Semaphore::new(in_flight) }
    }

    /// Waits until the caller may make a request.
    pub(super) async fn admit(&self) -> Option<SemaphorePermit<'_>> {
        let permit = self.in_flight.acquire().await.ok();
        let now = Instant::now();
        let at = self.spend(now) - BURST * self.interval;
        if at > now {
            sleep_until(at).await;
        }
        permit
    }

    fn spend(&self, now: Instant) -> Instant {
        let mut until = self.spent_until.lock().unwrap_or_else(PoisonError::into_inner);
        *until = now.max(*until) + self.interval;
        *until
    }

    /// Takes a request back from the account: a move that was played.
    pub(super) fn refund(&self) {
        let mut until = self.spent_until.lock().unwrap_or_else(PoisonError::into_inner);
        *until = until.checked_sub(self.interval).unwrap_or(*until);
    }

    /// Connections of a caller that [`Callers`] knows.
    pub(super) fn connections(self: &Arc<Self>) -> usize {
        Arc::strong_count(self) - 1
    }
}

/// All callers with a connection, and those of late.
#[derive(Clone, Debug, Default)]
pub(super) struct Callers(Arc<Mutex<BTreeMap<CallerKey, Arc<Caller>>>>);

impl Callers {
    pub(super) fn get(&self, key: CallerKey) -> Arc<Caller> {
        let mut callers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if callers.len() >= MAX_IDLE {
            callers.retain(|_, caller| Arc::strong_count(caller) > 1);
        }
        callers.entry(key).or_insert_with_key(|key| Arc::new(Caller::new(key))).clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn beyond_the_burst_requests_wait_and_played_moves_are_free() {
        let (callers, key) = (Callers::default(), CallerKey::Account("mallory".parse().unwrap()));
        let (caller, since) = (callers.get(key.clone()), Instant::now());
        for _ in 0..10 * BURST {
            caller.admit().await;
            caller.refund();
        }
        for _ in 0..BURST {
            caller.admit().await;
        }
        assert_eq!(since.elapsed(), Duration::ZERO);
        // Another connection of the same account has no allowance of its own.
        let other = callers.get(key);
        for _ in 0..BURST {
            other.admit().await;
        }
        assert_eq!(since.elapsed().as_secs(), 1);
        assert_eq!(caller.connections(), 2);
        let bob = callers.get(CallerKey::Account("bob".parse().unwrap()));
        bob.admit().await;
        assert_eq!(since.elapsed().as_secs(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn an_address_has_a_few_requests_in_flight() {
        let caller = Callers::default().get(CallerKey::Address([127, 0, 0, 1].into()));
        let mut permits = Vec::new();
        for _ in 0..8 {
            permits.push(caller.admit().await);
        }
        assert!(tokio::time::timeout(Duration::from_secs(1), caller.admit()).await.is_err());
        drop(permits);
        caller.admit().await;
    }
}
