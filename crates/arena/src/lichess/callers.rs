//! Callers and how many requests each may make: an account, or the address of those without a token.
//!
//! Requests beyond that are not refused: they wait, and with them their connection.

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::{
    sync::{Semaphore, SemaphorePermit},
    time::sleep_until,
};
use zeitnot_host::origin::Origin;
use zeitnot_net::{Rate, Ration};
use zeitnot_web::keyed::Keyed;
use zeitnot_wire::lichess::UserId;

/// Requests that a caller may make at once.
const BURST: u32 = 100;
/// Callers that are remembered without a connection.
const MAX_IDLE: usize = 1000;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum CallerKey {
    Administrator,
    Account(UserId),
    Address(Origin),
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
    /// The rate of requests, and the number in flight.
    fn limits(&self) -> (Rate, usize) {
        let (interval, in_flight) = match self {
            CallerKey::Administrator | CallerKey::Account(_) => (Duration::from_millis(10), 64),
            CallerKey::Address(_) => (Duration::from_millis(2), 8),
        };
        (Rate { burst: BURST, interval }, in_flight)
    }
}

/// One caller; all of its connections share this.
#[derive(Debug)]
pub(super) struct Caller {
    requests: Mutex<Ration>,
    in_flight: Semaphore,
}

impl Caller {
    fn new(key: &CallerKey) -> Caller {
        let (rate, in_flight) = key.limits();
        Caller { requests: Mutex::new(Ration::new(rate)), in_flight: Semaphore::new(in_flight) }
    }

    /// Waits until the caller may make a request.
    pub(super) async fn admit(&self) -> Option<SemaphorePermit<'_>> {
        let permit = self.in_flight.acquire().await.ok();
        let due = self.requests().spend();
        if let Some(due) = due {
            sleep_until(due).await;
        }
        permit
    }

    /// Takes a request back from the account: a move that was played.
    pub(super) fn refund(&self) {
        self.requests().refund();
    }

    fn requests(&self) -> MutexGuard<'_, Ration> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Connections of a caller that [`Callers`] knows.
    pub(super) fn connections(self: &Arc<Self>) -> usize {
        Arc::strong_count(self) - 1
    }
}

/// All callers with a connection, and those of late.
#[derive(Clone, Debug)]
pub(super) struct Callers(Arc<Mutex<Keyed<CallerKey, Arc<Caller>>>>);

impl Callers {
    /// Creates a memory that forgets no caller who has a connection.
    pub(super) fn new(max_connections: usize) -> Callers {
        // Those are never the half of it, also with the quarter more that is for strangers.
        let max = max_connections.saturating_mul(3).saturating_add(MAX_IDLE);
        Callers(Arc::new(Mutex::new(Keyed::new(max))))
    }

    pub(super) fn get(&self, key: CallerKey) -> Arc<Caller> {
        let mut callers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        callers.get(key, |key| Arc::new(Caller::new(key))).clone()
    }
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use tokio::time::Instant;

    use super::*;

    #[test(start_paused = true)]
    async fn beyond_the_burst_requests_wait_and_played_moves_are_free() {
        let (callers, key) = (Callers::new(8), CallerKey::Account("mallory".parse().unwrap()));
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

    #[test(start_paused = true)]
    async fn an_address_has_a_few_requests_in_flight() {
        let caller = Callers::new(8).get(CallerKey::Address(IpAddr::from([127, 0, 0, 1]).into()));
        let mut permits = Vec::new();
        for _ in 0..8 {
            permits.push(caller.admit().await);
        }
        assert!(tokio::time::timeout(Duration::from_secs(1), caller.admit()).await.is_err());
        drop(permits);
        caller.admit().await;
    }
}
