//! Rations: how often something may happen, with a reserve for bursts.

use std::time::Duration;

use tokio::time::Instant;

/// A burst at once, and one more after each interval.
#[derive(Copy, Clone, Debug)]
pub struct Rate {
    /// Number at once …
    pub burst: u32,
    /// … and the time for each further one.
    pub interval: Duration,
}

/// Token bucket.
#[derive(Clone, Debug)]
pub struct Ration {
    rate: Rate,
    /// The time that everything taken so far lasts at the pace of the long run.
    spent_until: Instant,
}

impl Ration {
    /// Creates a ration of which nothing is taken.
    pub fn new(rate: Rate) -> Ration {
        Ration { rate, spent_until: Instant::now() }
    }

    /// Takes one, if there is one left.
    pub fn take(&mut self) -> bool {
        self.due().is_none() && self.spend().is_none()
    }

    /// Returns when there is one again; `None` if there is one now.
    pub fn due(&self) -> Option<Instant> {
        let now = Instant::now();
        let reserve = self.rate.interval * self.rate.burst.saturating_sub(1);
        let wait = self.spent_until.saturating_duration_since(now).saturating_sub(reserve);
        (!wait.is_zero()).then(|| now + wait)
    }

    /// Takes one, of those to come if none is left; then returns when it is due.
    pub fn spend(&mut self) -> Option<Instant> {
        let due = self.due();
        self.charge(1);
        due
    }

    /// Takes that many, of those to come if too few are left.
    pub fn charge(&mut self, cost: u32) {
        self.spent_until = self.spent_until.max(Instant::now()) + self.rate.interval * cost;
    }

    /// Gives one back.
    pub fn refund(&mut self) {
        self.spent_until = self.spent_until.checked_sub(self.rate.interval).unwrap_or(self.spent_until);
    }

    /// Returns whether nothing is taken, as of a new one.
    pub fn is_full(&self) -> bool {
        self.spent_until <= Instant::now()
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::advance;

    use super::*;

    const RATE: Rate = Rate { burst: 3, interval: Duration::from_secs(1) };

    #[test(start_paused = true)]
    async fn a_burst_and_then_one_after_each_interval() {
        let mut ration = Ration::new(RATE);
        let mut taken = |tries: usize| (0..tries).filter(|_| ration.take()).count();
        assert_eq!(taken(10), 3);
        advance(RATE.interval / 2).await;
        assert_eq!(taken(1), 0);
        advance(RATE.interval / 2).await;
        assert_eq!(taken(2), 1);
        advance(100 * RATE.interval).await;
        assert_eq!(taken(10), 3);
    }

    #[test(start_paused = true)]
    async fn what_is_borrowed_is_due_later_and_what_is_given_back_at_once() {
        let mut ration = Ration::new(RATE);
        let after = |intervals: u32| Some(Instant::now() + intervals * RATE.interval);
        assert_eq!([(); 5].map(|()| ration.spend()), [None, None, None, after(1), after(2)]);
        assert_eq!(ration.due(), after(3));
        ration.charge(2);
        assert_eq!(ration.due(), after(5));
        (0..5).for_each(|_| ration.refund());
        assert_eq!(ration.due(), None);
        assert!(ration.take() && !ration.take());
    }
    #[test(start_paused = true)]
    async fn a_ration_is_full_when_all_that_was_taken_has_come_back() {
        let mut ration = Ration::new(RATE);
        assert!(ration.is_full());
        ration.charge(2);
        assert!(!ration.is_full());
        advance(2 * RATE.interval - Duration::from_millis(1)).await;
        assert!(!ration.is_full() && ration.due().is_none());
        advance(Duration::from_millis(1)).await;
        assert!(ration.is_full());
    }
}
