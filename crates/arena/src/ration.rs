//! Rations: how often something may happen, with a reserve for bursts; and a bounded number of them, one for each key.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
    time::Duration,
};

use tokio::time::Instant;

/// A burst at once, and one more after each interval.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Rate {
    pub(crate) burst: u32,
    pub(crate) interval: Duration,
}

/// Token bucket.
#[derive(Clone, Debug)]
pub(crate) struct Ration {
    rate: Rate,
    /// The time that everything taken so far lasts at the pace of the long run.
    spent_until: Instant,
}

impl Ration {
    pub(crate) fn new(rate: Rate) -> Ration {
        Ration { rate, spent_until: Instant::now() }
    }

    /// Takes one, if there is one left.
    pub(crate) fn take(&mut self) -> bool {
        self.due().is_none() && self.spend().is_none()
    }

    /// Returns when there is one again; `None` if there is one now.
    pub(crate) fn due(&self) -> Option<Instant> {
        let now = Instant::now();
        let reserve = self.rate.interval * self.rate.burst.saturating_sub(1);
        let wait = self.spent_until.saturating_duration_since(now).saturating_sub(reserve);
        (!wait.is_zero()).then(|| now + wait)
    }

    /// Takes one, of those to come if none is left; then returns when it is due.
    pub(crate) fn spend(&mut self) -> Option<Instant> {
        let due = self.due();
        self.spent_until = self.spent_until.max(Instant::now()) + self.rate.interval;
        due
    }

    /// Gives one back.
    pub(crate) fn refund(&mut self) {
        self.spent_until = self.spent_until.checked_sub(self.rate.interval).unwrap_or(self.spent_until);
    }
}

/// What is kept for a key, and need not be kept for ever.
pub(crate) trait Idle {
    /// Returns whether a new one would do as well.
    fn is_idle(&self) -> bool;
}

impl Idle for Ration {
    fn is_idle(&self) -> bool {
        self.spent_until <= Instant::now()
    }
}

impl<T> Idle for Arc<T> {
    /// Nobody else has it.
    fn is_idle(&self) -> bool {
        Arc::strong_count(self) == 1
    }
}

/// Values by key, at most so many: those that are idle are forgotten, and all if more than half are not.
#[derive(Debug)]
pub(crate) struct Keyed<K, V> {
    max: usize,
    values: BTreeMap<K, V>,
}

impl<K: Ord, V: Idle> Keyed<K, V> {
    pub(crate) fn new(max: usize) -> Self {
        Keyed { max, values: BTreeMap::new() }
    }

    /// Returns the value of that key, or a new one.
    pub(crate) fn get(&mut self, key: K, new: impl FnOnce(&K) -> V) -> &mut V {
        // After a look through all of them there is none before half of them have come anew.
        if self.values.len() >= self.max && !self.values.contains_key(&key) {
            self.values.retain(|_, value| !value.is_idle());
            if self.values.len() > self.max / 2 {
                self.values.clear();
            }
        }
        self.values.entry(key).or_insert_with_key(new)
    }
}

/// Lines of a log that strangers cause: the first of them, then so many a second, and the number of those left out.
#[derive(Debug)]
pub(crate) struct LogThrottle(Mutex<(Ration, u64)>);

const LINES: Rate = Rate { burst: 20, interval: Duration::from_secs(1) };

impl LogThrottle {
    pub(crate) fn new() -> LogThrottle {
        LogThrottle(Mutex::new((Ration::new(LINES), 0)))
    }

    /// Logs a line, unless there were too many of them.
    pub(crate) fn info(&self, line: impl FnOnce() -> String) {
        match self.admit() {
            None => {}
            Some(0) => tracing::info!("{}", line()),
            Some(left_out) => {
                tracing::info!("{} ({left_out} lines like this one were left out before)", line())
            }
        }
    }

    /// Returns whether a line may be logged now, as the number of lines that were left out before it.
    fn admit(&self) -> Option<u64> {
        let mut state = self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let (ration, left_out) = &mut *state;
        if ration.take() {
            Some(std::mem::take(left_out))
        } else {
            *left_out = left_out.saturating_add(1);
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::advance;

    use super::*;

    const RATE: Rate = Rate { burst: 3, interval: Duration::from_secs(1) };

    #[tokio::test(start_paused = true)]
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

    #[tokio::test(start_paused = true)]
    async fn what_is_borrowed_is_due_later_and_what_is_given_back_at_once() {
        let mut ration = Ration::new(RATE);
        let after = |intervals: u32| Some(Instant::now() + intervals * RATE.interval);
        assert_eq!([(); 5].map(|()| ration.spend()), [None, None, None, after(1), after(2)]);
        assert_eq!(ration.due(), after(3));
        (0..3).for_each(|_| ration.refund());
        assert_eq!(ration.due(), None);
        assert!(ration.take() && !ration.take());
    }

    #[tokio::test(start_paused = true)]
    async fn keys_have_rations_of_their_own_and_are_forgotten_in_time() {
        let mut rations = Keyed::new(100);
        let mut take = |key| rations.get(key, |_| Ration::new(RATE)).take();
        assert_eq!((0..10).filter(|_| take(0)).count(), 3);
        // Others have theirs, and do not make it forgotten.
        assert!((1..60).all(&mut take) && !take(0));
        advance(RATE.interval).await;
        assert!((60..140).all(&mut take) && take(0) && !take(0));
        assert_eq!((0..10_000).filter(|key| take(*key)).count(), 10_000 - 1);
        assert!(rations.values.len() <= 100);
    }

    #[tokio::test(start_paused = true)]
    async fn a_flood_leaves_few_lines_and_their_number() {
        let throttle = LogThrottle::new();
        let logged = (0..1000).filter(|_| throttle.admit().is_some()).count();
        assert_eq!(logged, LINES.burst as usize);
        advance(LINES.interval).await;
        assert_eq!(throttle.admit(), Some(1000 - u64::from(LINES.burst)));
    }
}
