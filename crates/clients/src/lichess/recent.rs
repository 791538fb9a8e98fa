//! Sliding windows: how often something happened within a span of time, in bounded memory.

use std::{
    collections::{HashMap, VecDeque},
    hash::Hash,
    time::{Duration, Instant},
};

/// Times of recent events, the oldest first.
#[derive(Debug, Default)]
pub(crate) struct RecentTimes(VecDeque<Instant>);

impl RecentTimes {
    /// Returns the number of events within `window`, and forgets the older ones.
    pub(crate) fn count(&mut self, window: Duration, now: Instant) -> usize {
        while self.0.front().is_some_and(|time| now.saturating_duration_since(*time) >= window) {
            self.0.pop_front();
        }
        self.0.len()
    }

    pub(crate) fn push(&mut self, now: Instant) {
        self.0.push_back(now);
    }

    /// Forgets the latest event.
    pub(crate) fn pop(&mut self) {
        self.0.pop_back();
    }

    pub(crate) fn oldest(&self) -> Option<Instant> {
        self.0.front().copied()
    }

    fn is_within(&self, window: Duration, now: Instant) -> bool {
        self.0.back().is_some_and(|time| now.saturating_duration_since(*time) < window)
    }
}

#[derive(Debug)]
pub(crate) struct RecentByUser<K> {
    users: HashMap<K, RecentTimes>,
    max_users: usize,
    /// Users without an event within this span are forgotten when there are too many.
    max_window: Duration,
}

impl<K: Eq + Hash> RecentByUser<K> {
    pub(crate) fn new(max_users: usize, max_window: Duration) -> RecentByUser<K> {
        RecentByUser { users: HashMap::new(), max_users, max_window }
    }

    pub(crate) fn count(&mut self, user: &K, window: Duration, now: Instant) -> usize {
        self.users.get_mut(user).map_or(0, |times| times.count(window, now))
    }

    /// Notes an event. Returns `false` if too many users are remembered already.
    pub(crate) fn push(&mut self, user: K, now: Instant) -> bool {
        if self.users.len() >= self.max_users {
            let window = self.max_window;
            self.users.retain(|_, times| times.is_within(window, now));
        }
        let has_room = self.users.len() < self.max_users || self.users.contains_key(&user);
        if has_room {
            self.users.entry(user).or_default().push(now);
        }
        has_room
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn only_recent_events_of_a_bounded_number_of_users_are_kept() {
        let now = Instant::now();
        let mut recent = RecentByUser::new(2, 60 * SECOND);
        assert!(recent.push("bob", now) && recent.push("bob", now + 30 * SECOND));
        assert_eq!(recent.count(&"bob", 60 * SECOND, now + 59 * SECOND), 2);
        assert_eq!(recent.count(&"bob", 60 * SECOND, now + 60 * SECOND), 1);
        assert_eq!(recent.count(&"eve", 60 * SECOND, now), 0);
        assert!(recent.push("eve", now + 60 * SECOND) && recent.push("bob", now + 61 * SECOND));
        assert!(!recent.push("carol", now + 61 * SECOND));
        assert!(recent.push("carol", now + 120 * SECOND), "eve is forgotten");
        assert_eq!(recent.users.len(), 2);
    }
}
