//! Delays of moves, and the table of results.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use super::attacks::Attack;
use crate::output::quantile;

pub(super) const HEADER: &str = "\
attack          messages | contest  p50 ms  p99 ms  max ms | lichess  p50 ms  p99 ms  max ms |  people  p50 ms  p99 ms  max ms | organiser p50 ms p99 ms  max ms | lost on time  broken
-------------------------+---------------------------------+---------------------------------+---------------------------------+---------------------------------+---------------------";

/// Upper limit of p99 for programs …
const MAX_DELAY: Duration = Duration::from_millis(10);
/// … and for people.
const MAX_WAIT: Duration = Duration::from_millis(100);

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

impl Times {
    /// Returns the times of both.
    pub(super) fn and(mut self, other: Times) -> Times {
        self.delays.extend(other.delays);
        self.delays.sort_unstable();
        Times { lost: self.lost + other.lost, broken: self.broken + other.broken, ..self }
    }
}

/// Results of one attack.
#[derive(Clone, Debug)]
pub(super) struct Measured {
    pub(super) contest: Times,
    pub(super) lichess: Times,
    /// At tables.
    pub(super) people: Times,
    pub(super) organiser: Times,
    /// Messages, requests, datagrams or connections of the attackers.
    pub(super) messages: usize,
}

impl Measured {
    /// Returns whether no game was lost on time, and moves were played and not delayed.
    pub(super) fn is_good(&self) -> bool {
        let is_quick = |times: &Times, limit: Duration| {
            let p99 = quantile(&times.delays, 0.99);
            times.lost == 0 && p99.is_some_and(|ms| ms <= 1000.0 * limit.as_secs_f64())
        };
        let are_programs_quick = [&self.contest, &self.lichess].iter().all(|it| is_quick(it, MAX_DELAY));
        are_programs_quick && [&self.people, &self.organiser].iter().all(|it| is_quick(it, MAX_WAIT))
    }

    pub(super) fn row(&self, attack: Attack) -> String {
        let columns = |times: &Times| {
            let ms =
                |part| quantile(&times.delays, part).map_or_else(|| "–".to_owned(), |ms| format!("{ms:.2}"));
            format!("{:>7} {:>7} {:>7} {:>7}", times.delays.len(), ms(0.5), ms(0.99), ms(1.0))
        };
        let all = [&self.contest, &self.lichess, &self.people, &self.organiser];
        let groups = all.map(columns).join(" | ");
        let (lost, broken) = all.iter().fold((0, 0), |(l, b), times| (l + times.lost, b + times.broken));
        let name = attack.to_string();
        let messages = self.messages;
        format!("{name:<14} {messages:>9} | {groups} | {lost:>12} {broken:>7}")
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
        let measured = |contest, lichess| Measured {
            contest,
            lichess,
            people: times(&[100], 0),
            organiser: times(&[20], 0),
            messages: 1,
        };
        assert!(measured(times(&[1, 10], 0), times(&[1], 0)).is_good());
        assert!(!measured(times(&[1, 11], 0), times(&[1], 0)).is_good());
        assert!(!measured(times(&[1], 0), times(&[1], 1)).is_good());
        assert!(!measured(times(&[1], 0), times(&[], 0)).is_good());
    }
}
