//! A network that is worse than the one there is: lines travel late, by chance, and in order. For those who
//! want to see how their program bears it.

use std::{collections::VecDeque, time::Duration};

use tokio::time::{Instant, sleep_until};

/// How late lines can travel.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Delay {
    /// Of a line and the answer to it together, at most.
    pub round_trip: Duration,
}

/// Lines on their way in one direction.
#[derive(Debug)]
pub(super) struct Way<T> {
    delay: Delay,
    travelling: VecDeque<(Instant, T)>,
}

/// More are not on their way at once: who sends them has to wait.
const MOST: usize = 64;

impl Delay {
    /// A way with this delay.
    pub fn way<T>(self) -> Way<T> {
        Way { delay: self, travelling: VecDeque::new() }
    }
}

impl<T> Way<T> {
    /// Is there room for one more?
    pub fn has_room(&self) -> bool {
        self.travelling.len() < MOST
    }

    /// Is nothing on its way?
    pub fn is_empty(&self) -> bool {
        self.travelling.is_empty()
    }

    /// One more sets out. It arrives behind those that went before.
    pub fn send(&mut self, line: T) {
        let due = Instant::now() + self.delay.round_trip.mul_f64(fastrand::f64() / 2.0);
        let due = self.travelling.back().map_or(due, |(before, _)| due.max(*before));
        self.travelling.push_back((due, line));
    }

    /// Waits for the next to arrive, and tells when it did; for ever if nothing is on its way. Cancel safe.
    pub async fn arrive(&mut self) -> (Instant, T) {
        match self.travelling.front() {
            Some((due, _)) if *due > Instant::now() => sleep_until(*due).await,
            _ => {}
        }
        match self.travelling.pop_front() {
            Some(arrived) => arrived,
            None => std::future::pending().await,
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::timeout;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn lines_arrive_in_order_and_within_half_of_the_round_trip() {
        let round_trip = Duration::from_millis(80);
        let mut way = Delay { round_trip }.way();
        let began = Instant::now();
        (0..MOST).for_each(|line| way.send(line));
        assert!(!way.has_room());
        for line in 0..MOST {
            assert_eq!(way.arrive().await.1, line);
        }
        let took = began.elapsed();
        // The latest of 64 is not early; a timer wakes up to a millisecond late.
        assert!(took > round_trip / 4 && took <= round_trip / 2 + Duration::from_millis(1), "{took:?}");
        assert!(way.is_empty() && timeout(round_trip, way.arrive()).await.is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn without_a_delay_nothing_waits() {
        let mut way = Delay::default().way();
        let began = Instant::now();
        way.send("line");
        assert_eq!(way.arrive().await, (began, "line"));
        assert_eq!(began.elapsed(), Duration::ZERO);
    }
}
