//! Number of games that share the machine, and what that leaves to each.

use std::{
    num::NonZeroUsize,
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed},
    },
    time::Duration,
};

use zeitnot_engine::cores;

/// Time to send an answer: answers that are due together leave one after another.
const SEND_TIME: Duration = Duration::from_micros(100);
/// Nodes per second before anything is measured.
const DEFAULT_SPEED: u64 = 1_000_000;
/// Weight of a new measurement of the speed.
const WEIGHT: f64 = 0.1;

/// Counts the running games and measures the speed of their searches. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Load {
    shared: Arc<Shared>,
    /// Recent nodes per second of one search; 0: not measured yet.
    speed: Arc<AtomicU64>,
}

#[derive(Debug)]
struct Shared {
    cores: NonZeroUsize,
    games: AtomicUsize,
}

/// Counts one game until it is dropped.
#[derive(Debug)]
pub(crate) struct GameGuard(Load);

impl Default for Load {
    fn default() -> Self {
        Load::with_cores(cores())
    }
}

impl Load {
    fn with_cores(cores: NonZeroUsize) -> Self {
        let shared = Arc::new(Shared { cores, games: AtomicUsize::new(0) });
        Load { shared, speed: Arc::default() }
    }

    /// Returns the load of the same machine with the speed of another engine, which counts its nodes in its own way.
    pub(crate) fn with_another_engine(&self) -> Load {
        Load { shared: self.shared.clone(), speed: Arc::default() }
    }

    pub(crate) fn add_game(&self) -> GameGuard {
        self.shared.games.fetch_add(1, Relaxed);
        GameGuard(self.clone())
    }

    pub(crate) fn running(&self) -> usize {
        self.shared.games.load(Relaxed)
    }

    fn games(&self) -> usize {
        self.running().max(1)
    }

    /// Returns the threads of one search: those of all games together are no more than there are cores.
    pub(crate) fn threads(&self) -> NonZeroUsize {
        NonZeroUsize::new(self.shared.cores.get() / self.games()).unwrap_or(NonZeroUsize::MIN)
    }

    /// Returns the time to reserve because other games may answer just before us.
    pub(crate) fn reserve(&self) -> Duration {
        SEND_TIME.saturating_mul(u32::try_from(self.games() - 1).unwrap_or(u32::MAX))
    }

    pub(crate) fn record_speed(&self, nodes: u64, time: Duration) {
        if time < Duration::from_millis(1) {
            return;
        }
        let now = nodes as f64 / time.as_secs_f64();
        let speed = match self.speed.load(Relaxed) {
            0 => now,
            before => before as f64 + WEIGHT * (now - before as f64),
        };
        self.speed.store(speed as u64, Relaxed);
    }

    /// Returns the nodes that a search has in this time, at its recent speed.
    pub(crate) fn nodes_in(&self, time: Duration) -> u64 {
        let speed = match self.speed.load(Relaxed) {
            0 => DEFAULT_SPEED,
            speed => speed,
        };
        (speed as f64 * time.as_secs_f64()) as u64
    }
}

impl Drop for GameGuard {
    fn drop(&mut self) {
        self.0.shared.games.fetch_sub(1, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cores_are_shared_among_the_games() {
        let load = Load::with_cores(NonZeroUsize::new(8).unwrap());
        assert_eq!(load.threads().get(), 8);
        let mut guards = vec![load.add_game()];
        for (games, threads) in [(1, 8), (2, 4), (3, 2), (4, 2), (5, 1), (32, 1)] {
            guards.resize_with(games, || load.add_game());
            assert_eq!(load.threads().get(), threads, "{games} games");
            assert_eq!(load.reserve(), SEND_TIME * (games as u32 - 1));
        }
        drop(guards);
        assert_eq!(load.threads().get(), 8);
    }

    #[test]
    fn the_nodes_of_a_search_follow_its_speed() {
        let load = Load::with_cores(NonZeroUsize::MIN);
        let second = Duration::from_secs(1);
        assert_eq!(load.nodes_in(second / 2), DEFAULT_SPEED / 2);
        load.record_speed(500_000, second);
        assert_eq!(load.nodes_in(second), 500_000, "the first measurement reguards the default");
        for _ in 0..100 {
            load.record_speed(200_000, second);
        }
        assert!((200_000..210_000).contains(&load.nodes_in(second)));
    }
}
