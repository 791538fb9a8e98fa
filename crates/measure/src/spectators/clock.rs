//! Moments at which moves were sent, and the times until others saw them.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard},
    time::{Duration, Instant},
};

use tokio::sync::watch;

#[derive(Clone, Debug, Default)]
pub(super) struct MoveClock {
    state: Arc<Mutex<State>>,
    /// Id of the watched game; empty before the first one.
    pub(super) game: watch::Sender<String>,
}

#[derive(Debug, Default)]
struct State {
    sent: HashMap<(String, usize), Instant>,
    times: Vec<Duration>,
}

impl MoveClock {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// The move that makes it `ply` plies is sent now.
    pub(super) fn sent(&self, game: &str, ply: usize) {
        self.state().sent.insert((game.to_owned(), ply), Instant::now());
    }

    /// Another player, or a spectator, has seen it now.
    pub(super) fn seen(&self, game: &str, ply: usize) {
        let now = Instant::now();
        let mut state = self.state();
        if let Some(sent) = state.sent.get(&(game.to_owned(), ply)) {
            let time = now.saturating_duration_since(*sent);
            state.times.push(time);
        }
    }

    pub(super) fn clear(&self) {
        *self.state() = State::default();
    }

    /// Returns the times, sorted.
    pub(super) fn take(&self) -> Vec<Duration> {
        let mut times = std::mem::take(&mut self.state().times);
        times.sort_unstable();
        times
    }
}
