//! Lag: the part of our clock that runs without us, measured.
//!
//! It has two parts. Our own lateness is how late our timers fire and how long it takes to send an answer, sampled
//! all the time. A server's delay is what its clock charges beyond the time from the arrival of its request to the
//! departure of our answer. The hard limit subtracts both.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use ::metrics::Histogram;
use tokio::time::{Instant, sleep_until};

use zeitnot_engine::time::Reserve;

use crate::{load::Load, metrics};

mod delay;
mod histogram;

pub(crate) use delay::Charge;
use delay::ServerDelay;
use histogram::DecayingHistogram;

/// Interval at which our own lateness is sampled during games. Fifty times a second costs nothing measurable, and a
/// sudden load of the machine shows within a move …
const SAMPLE_INTERVAL: Duration = Duration::from_millis(20);
/// … and while there is no game: the next one begins with an estimate, and the machine can sleep.
const IDLE_INTERVAL: Duration = Duration::from_secs(1);
/// Time after which a sample of our lateness counts half.
const HALF_LIFE: Duration = Duration::from_secs(5);
/// Share of our timers that may be later than the reserve.
const ABOVE: f32 = 0.005;

/// Bounds of the reserve.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Config {
    /// Minimum until enough is measured.
    pub initial: Duration,
    pub min: Duration,
    pub max: Duration,
}

/// Measurements of this machine and of all servers, shared by all players. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Lags {
    config: Config,
    own: Arc<Mutex<OwnLateness>>,
    servers: Arc<Mutex<HashMap<String, Arc<Mutex<ServerDelay>>>>>,
}

#[derive(Clone, Debug)]
pub(crate) struct ServerLag {
    lags: Lags,
    delay: Arc<Mutex<ServerDelay>>,
    charges: Histogram,
}

#[derive(Debug)]
struct OwnLateness {
    samples: DecayingHistogram,
    decayed_at: Instant,
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Lags {
    pub(crate) fn new(config: Config) -> Lags {
        let own = OwnLateness { samples: DecayingHistogram::default(), decayed_at: Instant::now() };
        Lags { config, own: Arc::new(Mutex::new(own)), servers: Arc::default() }
    }

    pub(crate) fn server(&self, name: &str) -> ServerLag {
        let delay = lock(&self.servers).entry(name.to_owned()).or_default().clone();
        ServerLag { lags: self.clone(), delay, charges: metrics::lags(name) }
    }

    /// Returns the longest reserve of all servers; `None` if there is none yet.
    pub(crate) fn longest(&self) -> Option<Duration> {
        let servers: Vec<_> = lock(&self.servers).values().cloned().collect();
        servers.into_iter().map(|delay| self.reserve(&delay).lag).max()
    }

    /// Restores what earlier runs have measured: for each server a [`ServerLag::summary`].
    pub(crate) fn restore(&self, summaries: &[(String, Vec<u8>)]) {
        for (server, summary) in summaries {
            match ServerDelay::restore(summary) {
                Some(delay) => *lock(&self.server(server).delay) = delay,
                None => {
                    tracing::warn!(server, "the stored lag of this server is unreadable; measuring it anew")
                }
            }
        }
    }

    fn reserve(&self, delay: &Mutex<ServerDelay>) -> Reserve {
        let Config { initial, min, max } = self.config;
        let (delay, measured) = {
            let delay = lock(delay);
            (delay.expected(), delay.is_measured())
        };
        let min = if measured { min } else { min.max(initial) };
        Reserve { lag: (delay + self.lateness()).max(min).min(max), measured }
    }

    /// Records how late a timer fired, or an answer was sent.
    fn record_lateness(&self, by: Duration) {
        lock(&self.own).add(by.min(self.config.max), Instant::now());
    }

    fn lateness(&self) -> Duration {
        lock(&self.own).samples.upper(ABOVE)
    }

    /// Samples our own lateness, more often during games.
    pub(crate) async fn watch(self, load: Load) {
        loop {
            let interval = if load.running() > 0 { SAMPLE_INTERVAL } else { IDLE_INTERVAL };
            let due = Instant::now() + interval;
            sleep_until(due).await;
            self.record_lateness(due.elapsed());
        }
    }
}

impl OwnLateness {
    fn add(&mut self, by: Duration, now: Instant) {
        let passed = now.saturating_duration_since(self.decayed_at);
        self.samples.decay(0.5_f32.powf(passed.as_secs_f32() / HALF_LIFE.as_secs_f32()));
        self.decayed_at = now;
        self.samples.add(by);
    }
}

impl ServerLag {
    pub(crate) fn record(&self, charge: Charge) {
        let Config { initial, max, .. } = self.lags.config;
        self.charges.record(charge.charged.saturating_sub(charge.own));
        lock(&self.delay).record(charge, initial, max);
    }

    pub(crate) fn record_lateness(&self, by: Duration) {
        self.lags.record_lateness(by);
    }

    /// Returns the time to reserve for the next move: the server's delay and our own lateness.
    pub(crate) fn reserve(&self) -> Reserve {
        self.lags.reserve(&self.delay)
    }

    pub(crate) fn summary(&self) -> Vec<u8> {
        lock(&self.delay).summary()
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::advance;

    use super::*;

    const MS: Duration = Duration::from_millis(1);
    const CONFIG: Config =
        Config { initial: Duration::from_millis(50), min: MS, max: Duration::from_secs(1) };

    fn charges(server: &ServerLag, lag: Duration, moves: usize) {
        let charge = Charge { charged: 30 * MS + lag, own: 30 * MS, resolution: Duration::ZERO };
        (0..moves).for_each(|_| server.record(charge));
    }

    #[test(start_paused = true)]
    async fn the_configured_reserve_holds_until_enough_is_measured() {
        let lags = Lags::new(CONFIG);
        let server = lags.server("a");
        assert_eq!(server.reserve(), Reserve { lag: 50 * MS, measured: false });
        charges(&server, 200 * MS, 2);
        assert!(server.reserve().lag >= 200 * MS, "what was measured counts at once");
        let near = lags.server("b");
        charges(&near, 2 * MS, 20);
        let reserve = lags.server("b").reserve();
        assert!(reserve.measured && (2 * MS..3 * MS).contains(&reserve.lag), "{reserve:?}");
    }

    #[test(start_paused = true)]
    async fn our_own_lateness_counts_at_once_for_every_server_and_decays_soon() {
        let lags = Lags::new(CONFIG);
        let server = lags.server("a");
        charges(&server, Duration::ZERO, 20);
        let watch = tokio::spawn(lags.clone().watch(Load::default()));
        tokio::time::sleep(10 * HALF_LIFE).await;
        assert_eq!(server.reserve().lag, CONFIG.min.max(lags.lateness()));
        for _ in 0..10 {
            lags.record_lateness(40 * MS);
        }
        assert!(server.reserve().lag >= 40 * MS);
        tokio::time::sleep(10 * HALF_LIFE).await;
        assert!(server.reserve().lag < 3 * MS, "{:?}", server.reserve());
        watch.abort();
    }

    #[test(start_paused = true)]
    async fn a_late_sample_is_noticed() {
        let lags = Lags::new(CONFIG);
        let load = Load::default();
        let _game = load.add_game();
        let watch = tokio::spawn(lags.clone().watch(load));
        tokio::task::yield_now().await;
        // The whole runtime is delayed, as on a busy machine.
        advance(SAMPLE_INTERVAL + 30 * MS).await;
        tokio::task::yield_now().await;
        assert!(lags.lateness() >= 30 * MS, "{:?}", lags.lateness());
        watch.abort();
    }

    #[test(start_paused = true)]
    async fn without_games_the_machine_can_sleep() {
        let lags = Lags::new(CONFIG);
        let load = Load::default();
        let watch = tokio::spawn(lags.clone().watch(load.clone()));
        let weight = || lock(&lags.own).samples.parts().map(|(_, weight)| weight).sum::<f32>();
        tokio::time::sleep(10 * HALF_LIFE).await;
        let idle = weight();
        let _game = load.add_game();
        tokio::time::sleep(10 * HALF_LIFE).await;
        // As many samples as half-lives have intervals, one and a half times.
        assert!(idle < 10.0 && weight() > 300.0, "{idle} samples without games, {} with one", weight());
        watch.abort();
    }

    #[test(start_paused = true)]
    async fn the_reserve_keeps_to_its_bounds() {
        let lags = Lags::new(Config { min: 5 * MS, ..CONFIG });
        let server = lags.server("a");
        charges(&server, Duration::ZERO, 20);
        assert_eq!(server.reserve().lag, 5 * MS);
        charges(&server, Duration::from_secs(60), 20);
        assert_eq!(server.reserve().lag, CONFIG.max);
    }

    #[test(start_paused = true)]
    async fn the_lag_of_a_server_is_restored() {
        let before = Lags::new(CONFIG);
        charges(&before.server("a"), 20 * MS, 50);
        let now = Lags::new(CONFIG);
        now.restore(&[("a".into(), before.server("a").summary()), ("b".into(), b"garbage".into())]);
        assert!(now.server("a").reserve().measured);
        assert!(now.server("a").reserve().lag >= 20 * MS);
        assert!(!now.server("b").reserve().measured);
    }
}
