//! How much of our clock goes by without us: measured, not guessed.
//!
//! Two parts. *Ours*: how late our own timers fire and how long an answer takes to leave, sampled all the
//! time. *Theirs*: what a server's clock charges beyond the time from the arrival of its request to the
//! departure of our answer. The hard limit subtracts both.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::time::{Instant, sleep_until};

use zeitnot_engine::time::Reserve;

mod quantile;
mod theirs;

use quantile::Quantiles;
pub use theirs::Charge;
use theirs::Theirs;

/// How often our own lateness is looked at. Fifty times a second costs nothing that could be measured,
/// and a machine that is suddenly loaded shows within a move.
const BEAT: Duration = Duration::from_millis(20);
/// A lateness of ours counts half after this time.
const HALF_LIFE: Duration = Duration::from_secs(5);
/// The part of our timers that may be later than what is kept in hand.
const ABOVE: f32 = 0.005;

/// What is kept in hand, and within which bounds.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// As long as nothing is measured.
    pub initial: Duration,
    /// At the least.
    pub floor: Duration,
    /// At the most.
    pub ceiling: Duration,
}

/// What is measured of our own machine and of all servers; shared by all players. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Lags {
    config: Config,
    ours: Arc<Mutex<Ours>>,
    servers: Arc<Mutex<HashMap<String, Arc<Mutex<Theirs>>>>>,
}

/// What is known of one server. Cheap to clone.
#[derive(Clone, Debug)]
pub struct ServerLag {
    lags: Lags,
    theirs: Arc<Mutex<Theirs>>,
}

#[derive(Debug)]
struct Ours {
    late: Quantiles,
    decayed_at: Instant,
}

/// Held for a few instructions, never across an await; a holder that panicked left a sound histogram.
fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Lags {
    /// With nothing measured.
    pub fn new(config: Config) -> Lags {
        let ours = Ours { late: Quantiles::default(), decayed_at: Instant::now() };
        Lags { config, ours: Arc::new(Mutex::new(ours)), servers: Arc::default() }
    }

    /// What is known of the server with this name.
    pub fn server(&self, name: &str) -> ServerLag {
        let theirs = lock(&self.servers).entry(name.to_owned()).or_default().clone();
        ServerLag { lags: self.clone(), theirs }
    }

    /// What earlier runs have learned of servers.
    pub fn recall_all(&self, summaries: &[(String, Vec<u8>)]) {
        summaries.iter().for_each(|(name, summary)| self.recall(name, summary));
    }

    /// What an earlier run has learned of a server, as [`ServerLag::summary`] told it. Nonsense is left out.
    fn recall(&self, name: &str, summary: &[u8]) {
        match Theirs::recall(summary) {
            Some(theirs) => *lock(&self.server(name).theirs) = theirs,
            None => tracing::warn!(
                server = name,
                "what was kept of this server's lag is unreadable; measuring anew"
            ),
        }
    }

    /// A timer of ours fired this late, or an answer took this long to leave.
    pub fn late(&self, by: Duration) {
        lock(&self.ours).add(by.min(self.config.ceiling), Instant::now());
    }

    /// How late we are these days.
    pub fn ours(&self) -> Duration {
        lock(&self.ours).late.upper(ABOVE)
    }

    /// Looks at our own lateness for ever.
    pub async fn watch(self) {
        loop {
            let due = Instant::now() + BEAT;
            sleep_until(due).await;
            self.late(due.elapsed());
        }
    }
}

impl Ours {
    fn add(&mut self, by: Duration, now: Instant) {
        let passed = now.saturating_duration_since(self.decayed_at);
        self.late.decay(0.5_f32.powf(passed.as_secs_f32() / HALF_LIFE.as_secs_f32()));
        self.decayed_at = now;
        self.late.add(by);
    }
}

impl ServerLag {
    /// A move was charged.
    pub fn charge(&self, charge: Charge) {
        let Config { initial, ceiling, .. } = self.lags.config;
        lock(&self.theirs).charge(charge, initial, ceiling);
    }

    /// What to keep in hand of the next move's time: theirs and ours.
    pub fn reserve(&self) -> Reserve {
        let Config { initial, floor, ceiling } = self.lags.config;
        let (theirs, measured) = {
            let theirs = lock(&self.theirs);
            (theirs.lag(), theirs.is_measured())
        };
        let least = if measured { floor } else { floor.max(initial) };
        Reserve { lag: (theirs + self.lags.ours()).max(least).min(ceiling), measured }
    }

    /// For keeping between runs.
    pub fn summary(&self) -> Vec<u8> {
        lock(&self.theirs).summary()
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::advance;

    use super::*;

    const MS: Duration = Duration::from_millis(1);
    const CONFIG: Config =
        Config { initial: Duration::from_millis(50), floor: MS, ceiling: Duration::from_secs(1) };

    fn charges(server: &ServerLag, lag: Duration, moves: usize) {
        let charge = Charge { charged: 30 * MS + lag, own: 30 * MS, resolution: Duration::ZERO };
        (0..moves).for_each(|_| server.charge(charge));
    }

    #[tokio::test(start_paused = true)]
    async fn before_anything_is_measured_the_configuration_speaks_and_then_the_measurements() {
        let lags = Lags::new(CONFIG);
        let server = lags.server("a");
        assert_eq!(server.reserve(), Reserve { lag: 50 * MS, measured: false });
        charges(&server, 200 * MS, 2);
        assert!(server.reserve().lag >= 200 * MS, "what was seen counts at once");
        let near = lags.server("b");
        charges(&near, 2 * MS, 20);
        let reserve = lags.server("b").reserve();
        assert!(reserve.measured && (2 * MS..3 * MS).contains(&reserve.lag), "{reserve:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn our_own_lateness_shows_at_once_on_every_server_and_is_forgotten_soon() {
        let lags = Lags::new(CONFIG);
        let server = lags.server("a");
        charges(&server, Duration::ZERO, 20);
        let watch = tokio::spawn(lags.clone().watch());
        tokio::time::sleep(10 * HALF_LIFE).await;
        assert_eq!(server.reserve().lag, CONFIG.floor.max(lags.ours()));
        for _ in 0..10 {
            lags.late(40 * MS);
        }
        assert!(server.reserve().lag >= 40 * MS);
        tokio::time::sleep(10 * HALF_LIFE).await;
        assert!(server.reserve().lag < 3 * MS, "{:?}", server.reserve());
        watch.abort();
    }

    #[tokio::test(start_paused = true)]
    async fn a_beat_that_comes_late_is_noticed() {
        let lags = Lags::new(CONFIG);
        let watch = tokio::spawn(lags.clone().watch());
        tokio::task::yield_now().await;
        // The whole runtime is held up, as by a machine that gives us no time.
        advance(BEAT + 30 * MS).await;
        tokio::task::yield_now().await;
        assert!(lags.ours() >= 30 * MS, "{:?}", lags.ours());
        watch.abort();
    }

    #[tokio::test(start_paused = true)]
    async fn the_reserve_keeps_to_its_bounds() {
        let lags = Lags::new(Config { floor: 5 * MS, ..CONFIG });
        let server = lags.server("a");
        charges(&server, Duration::ZERO, 20);
        assert_eq!(server.reserve().lag, 5 * MS);
        charges(&server, Duration::from_secs(60), 20);
        assert_eq!(server.reserve().lag, CONFIG.ceiling);
    }

    #[tokio::test(start_paused = true)]
    async fn what_was_learned_of_a_server_is_kept() {
        let before = Lags::new(CONFIG);
        charges(&before.server("a"), 20 * MS, 50);
        let now = Lags::new(CONFIG);
        now.recall("a", &before.server("a").summary());
        now.recall("b", b"garbage");
        assert!(now.server("a").reserve().measured);
        assert!(now.server("a").reserve().lag >= 20 * MS);
        assert!(!now.server("b").reserve().measured);
    }
}
