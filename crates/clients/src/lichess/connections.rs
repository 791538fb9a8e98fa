//! Connections of an account, in pools that are replaced where their connections are dead: over HTTP/2 all requests of
//! a pool share one, and a request on a dead one waits for its end.

use std::{
    sync::{
        PoisonError, RwLock,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use reqwest::{
    Client,
    header::{AUTHORIZATION, HeaderMap, HeaderValue},
};
use zeitnot_net::http;

/// Settings of all pools of an account.
#[derive(Clone, Debug)]
pub(crate) struct ClientSettings {
    pub(crate) agent: String,
    /// With the token, and marked as sensitive.
    pub(crate) bearer: HeaderValue,
    pub(crate) is_loopback: bool,
    pub(crate) connect_timeout: Duration,
}

impl ClientSettings {
    fn build(&self) -> Result<Client, reqwest::Error> {
        http::client(self.is_loopback, &self.agent)
            .default_headers(HeaderMap::from_iter([(AUTHORIZATION, self.bearer.clone())]))
            .connect_timeout(self.connect_timeout)
            .build()
    }
}

/// Pool of connections; a later one has a higher number.
#[derive(Clone, Debug)]
pub(crate) struct Pool {
    pub(crate) client: Client,
    number: u64,
}

/// The pool in use, and how to make another.
#[derive(Debug)]
pub(crate) struct Connections {
    settings: ClientSettings,
    current: RwLock<Pool>,
    made: AtomicU64,
}

impl Connections {
    pub(crate) fn new(settings: ClientSettings) -> Result<Connections, reqwest::Error> {
        let current = RwLock::new(Pool { client: settings.build()?, number: 0 });
        Ok(Connections { settings, current, made: AtomicU64::new(0) })
    }

    pub(crate) fn current(&self) -> Pool {
        self.current.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns a pool without connections, or the one in use if there cannot be another.
    pub(crate) fn fresh(&self) -> Pool {
        let number = self.made.fetch_add(1, Ordering::Relaxed) + 1;
        self.settings.build().map_or_else(|_| self.current(), |client| Pool { client, number })
    }

    /// Uses this pool from now on, unless a later one is in use.
    pub(crate) fn share(&self, pool: &Pool) {
        let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
        if pool.number > current.number {
            *current = pool.clone();
        }
    }

    /// Replaces this pool, if it is still in use.
    pub(crate) fn renew(&self, dead: &Pool) {
        if self.current().number == dead.number {
            self.share(&self.fresh());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dead_pool_is_replaced_once_and_never_comes_back() {
        let settings = ClientSettings {
            agent: "test".to_owned(),
            bearer: HeaderValue::from_static("Bearer x"),
            is_loopback: true,
            connect_timeout: Duration::from_secs(1),
        };
        let connections = Connections::new(settings).unwrap();
        let first = connections.current();
        // Several requests find it dead.
        connections.renew(&first);
        connections.renew(&first);
        let second = connections.current();
        assert_eq!((first.number, second.number), (0, 1));
        let third = connections.fresh();
        connections.share(&third);
        connections.share(&second);
        connections.renew(&first);
        assert_eq!(connections.current().number, third.number);
    }
}
