//! Delays of moves, and the table of results.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use super::attacks::Attack;
use crate::output::quantile;

pub(super) const HEADER: &str = "\
attack          messages | contest  p50 ms  p99 ms  max ms | lichess  p50 ms  p99 ms  max ms | lost on time  broken
-------------------------+---------------------------------+---------------------------------+---------------------";

/// Upper limit of p99.
const MAX_DELAY: Duration = Duration::from_millis(10);

/// Measures the moves of one game at a time; both players have it.
#[derive(Clone, Debug, Default)]
pub(super) struct Stopwatch(Arc<Mutex<Times>>);

#[derive(Clone, Debug, Default)]
pub(super) struct Times {
    sent: Option<Instant>,
    delays: Vec<Duration>,
    /// Games lost on time.
    lost: usize,
    /// Connections that ended, or requests that failed.
    broken: usize,
}

impl Stopwatch {
    fn times(&self) -> MutexGuard<'_, Times> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A move is about to be written.
    pub(super) fn start(&self) {
        self.times().sent = Some(Instant::now());
    }

    /// The opponent has read it.
    pub(super) fn stop(&self) {
        let mut times = self.times();
        if let Some(sent) = times.sent.take() {
            times.delays.push(sent.elapsed());
        }
    }

    /// The game is over.
    pub(super) fn clear(&self) {
        self.times().sent = None;
    }

    pub(super) fn count_lost(&self) {
        self.times().lost += 1;
    }

    pub(super) fn count_broken(&self) {
        self.times().broken += 1;
    }

    pub(super) fn moves(&self) -> usize {
        self.times().delays.len()
    }

    /// Returns the results so far, and starts anew. The move under way goes on.
    pub(super) fn take(&self) -> Times {
        let mut times = self.times();
        let mut taken = std::mem::take(&mut *times);
        times.sent = taken.sent;
        taken.delays.sort_unstable();
        taken
    }
}

/// Results of one attack.
#[derive(Clone, Debug)]
pub(super) struct Measured {
    pub(super) contest: Times,
    pub(super) lichess: Times,
    /// Messages, requests, datagrams or connections of the attackers.
    pub(super) messages: usize,
}

impl Measured {
    /// Returns whether no game was lost on time, and moves were played and not delayed.
    pub(super) fn is_good(&self) -> bool {
        let is_quick = |times: &Times| {
            let p99 = quantile(&times.delays, 0.99);
            times.lost == 0 && p99.is_some_and(|ms| ms <= 1000.0 * MAX_DELAY.as_secs_f64())
        };
        is_quick(&self.contest) && is_quick(&self.lichess)
    }

    pub(super) fn row(&self, attack: Attack) -> String {
        let columns = |times: &Times| {
            let ms =
                |part| quantile(&times.delays, part).map_or_else(|| "–".to_owned(), |ms| format!("{ms:.2}"));
            format!("{:>7} {:>7} {:>7} {:>7}", times.delays.len(), ms(0.5), ms(0.99), ms(1.0))
        };
        let (contest, lichess) = (&self.contest, &self.lichess);
        format!(
            "{:<14} {:>9} | {} | {} | {:>12} {:>7}",
            attack.to_string(),
            self.messages,
            columns(contest),
            columns(lichess),
            contest.lost + lichess.lost,
            contest.broken + lichess.broken,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_is_good_if_moves_came_in_time() {
        let times = |millis: &[u64], lost| Times {
            delays: millis.iter().map(|ms| Duration::from_millis(*ms)).collect(),
            lost,
            ..Times::default()
        };
        let measured = |contest, lichess| Measured { contest, lichess, messages: 1 };
        assert!(measured(times(&[1, 10], 0), times(&[1], 0)).is_good());
        assert!(!measured(times(&[1, 11], 0), times(&[1], 0)).is_good());
        assert!(!measured(times(&[1], 0), times(&[1], 1)).is_good());
        assert!(!measured(times(&[1], 0), times(&[], 0)).is_good());
    }
}
