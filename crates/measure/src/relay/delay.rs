//! Simulated network delay: lines travel late by a random time, and in order.

use std::{collections::VecDeque, time::Duration};

use tokio::time::{Instant, sleep_until};

#[derive(Debug)]
pub(super) struct DelayLine<T> {
    /// Longest delay of a line and the answer to it together.
    round_trip: Duration,
    travelling: VecDeque<(Instant, T)>,
}

/// Lines that travel at once; the sender of more has to wait.
const CAPACITY: usize = 64;

impl<T> DelayLine<T> {
    pub(super) fn new(round_trip: Duration) -> Self {
        DelayLine { round_trip, travelling: VecDeque::new() }
    }

    pub(super) fn has_room(&self) -> bool {
        self.travelling.len() < CAPACITY
    }

    pub(super) fn is_empty(&self) -> bool {
        self.travelling.is_empty()
    }

    /// Sends one more. It arrives after those before it.
    pub(super) fn send(&mut self, line: T) {
        let due = Instant::now() + self.round_trip.mul_f64(fastrand::f64() / 2.0);
        let due = self.travelling.back().map_or(due, |(before, _)| due.max(*before));
        self.travelling.push_back((due, line));
    }

    /// Waits for the next to arrive; for ever if nothing travels. Cancel safe.
    pub(super) async fn arrive(&mut self) -> T {
        match self.travelling.front() {
            Some((due, _)) if *due > Instant::now() => sleep_until(*due).await,
            _ => {}
        }
        match self.travelling.pop_front() {
            Some((_, arrived)) => arrived,
            None => std::future::pending().await,
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::timeout;

    use super::*;

    #[test(start_paused = true)]
    async fn lines_arrive_in_order_and_within_half_of_the_round_trip() {
        let round_trip = Duration::from_millis(80);
        let mut line = DelayLine::new(round_trip);
        let began = Instant::now();
        (0..CAPACITY).for_each(|n| line.send(n));
        assert!(!line.has_room());
        for n in 0..CAPACITY {
            assert_eq!(line.arrive().await, n);
        }
        let took = began.elapsed();
        // The latest of 64 is not early; a timer wakes up to a millisecond late.
        assert!(took > round_trip / 4 && took <= round_trip / 2 + Duration::from_millis(1), "{took:?}");
        assert!(line.is_empty() && timeout(round_trip, line.arrive()).await.is_err());
    }

    #[test(start_paused = true)]
    async fn without_a_delay_nothing_waits() {
        let mut line = DelayLine::new(Duration::ZERO);
        let began = Instant::now();
        line.send("line");
        assert_eq!(line.arrive().await, "line");
        assert_eq!(began.elapsed(), Duration::ZERO);
    }
}
