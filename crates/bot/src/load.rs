//! How many games share the machine, and what that leaves to each of them.

use std::{
    num::NonZeroUsize,
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed},
    },
    time::Duration,
};

use zeitnot_engine::cores;

/// Answers that fall due together leave one after another, each after about this time.
const ONE_ANSWER: Duration = Duration::from_micros(100);
/// Nodes a second, before anything is measured.
const GUESS: u64 = 1_000_000;
/// A new measurement of the speed counts for this part.
const NEW: f64 = 0.1;

/// Counts the games that run, and knows how fast their searches are. Cheap to clone.
#[derive(Clone, Debug)]
pub(super) struct Load {
    shared: Arc<Shared>,
    /// Nodes a second of one search, as of late; 0: nothing is measured yet.
    speed: Arc<AtomicU64>,
}

#[derive(Debug)]
struct Shared {
    cores: NonZeroUsize,
    games: AtomicUsize,
}

/// A game that runs; dropped when it is over.
#[derive(Debug)]
pub(super) struct Place(Load);

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

    /// On the same machine, but with an engine that counts its nodes in its own way.
    pub fn of_another_engine(&self) -> Load {
        Load { shared: self.shared.clone(), speed: Arc::default() }
    }

    /// One more game.
    pub fn enter(&self) -> Place {
        self.shared.games.fetch_add(1, Relaxed);
        Place(self.clone())
    }

    fn games(&self) -> usize {
        self.shared.games.load(Relaxed).max(1)
    }

    /// The threads that one search may have: all games together no more than there are cores.
    pub fn threads(&self) -> NonZeroUsize {
        NonZeroUsize::new(self.shared.cores.get() / self.games()).unwrap_or(NonZeroUsize::MIN)
    }

    /// What to keep in hand because others may answer just before us.
    pub fn reserve(&self) -> Duration {
        ONE_ANSWER.saturating_mul(u32::try_from(self.games() - 1).unwrap_or(u32::MAX))
    }

    /// A search had so many nodes in this time.
    pub fn searched(&self, nodes: u64, time: Duration) {
        if time < Duration::from_millis(1) {
            return;
        }
        let now = nodes as f64 / time.as_secs_f64();
        let speed = match self.speed.load(Relaxed) {
            0 => now,
            before => before as f64 + NEW * (now - before as f64),
        };
        self.speed.store(speed as u64, Relaxed);
    }

    /// The nodes that a search of this time would have, at the speed of late.
    pub fn price(&self, time: Duration) -> u64 {
        let speed = match self.speed.load(Relaxed) {
            0 => GUESS,
            speed => speed,
        };
        (speed as f64 * time.as_secs_f64()) as u64
    }
}

impl Drop for Place {
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
        let mut places = vec![load.enter()];
        for (games, threads) in [(1, 8), (2, 4), (3, 2), (4, 2), (5, 1), (32, 1)] {
            places.resize_with(games, || load.enter());
            assert_eq!(load.threads().get(), threads, "{games} games");
            assert_eq!(load.reserve(), ONE_ANSWER * (games as u32 - 1));
        }
        drop(places);
        assert_eq!(load.threads().get(), 8);
    }

    #[test]
    fn the_price_of_time_follows_the_speed() {
        let load = Load::with_cores(NonZeroUsize::MIN);
        let second = Duration::from_secs(1);
        assert_eq!(load.price(second / 2), GUESS / 2);
        load.searched(500_000, second);
        assert_eq!(load.price(second), 500_000, "what was measured first is better than any guess");
        for _ in 0..100 {
            load.searched(200_000, second);
        }
        assert!((200_000..210_000).contains(&load.price(second)));
    }
}
