//! What would be told a thousand times is told once, and then with its number.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

/// So long the same is only counted.
const QUIET: Duration = Duration::from_secs(60);

/// Counts what was told, by its subject.
#[derive(Debug, Default)]
pub(super) struct Tally(BTreeMap<String, (Instant, u32)>);

impl Tally {
    /// Is this to be told now? Otherwise it counts.
    pub fn tell(&mut self, subject: &str, now: Instant) -> bool {
        if let Some((_, more)) = self.0.get_mut(subject) {
            *more = more.saturating_add(1);
            return false;
        }
        self.0.insert(subject.to_owned(), (now, 0));
        true
    }

    /// What has been quiet for long enough, with how often it happened since it was told.
    pub fn due(&mut self, now: Instant) -> Vec<(String, u32)> {
        let is_due = |since: Instant| now.saturating_duration_since(since) >= QUIET;
        let due: Vec<_> =
            self.0.iter().filter(|(_, (since, more))| is_due(*since) && *more > 0).map(told).collect();
        self.0.retain(|_, (since, _)| !is_due(*since));
        due
    }

    /// All that was counted and not told yet.
    pub fn rest(&mut self) -> Vec<(String, u32)> {
        let rest = self.0.iter().filter(|(_, (_, more))| *more > 0).map(told).collect();
        self.0.clear();
        rest
    }

    /// When there may be something [due](Tally::due).
    pub fn next(&self) -> Option<Instant> {
        self.0.values().map(|(since, _)| *since + QUIET).min()
    }
}

fn told((subject, (_, more)): (&String, &(Instant, u32))) -> (String, u32) {
    (subject.clone(), *more)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn once_and_then_with_its_number() {
        let (mut tally, now) = (Tally::default(), Instant::now());
        assert!(tally.tell("later", now) && tally.tell("variant", now));
        for _ in 0..999 {
            assert!(!tally.tell("later", now));
        }
        assert!(tally.due(now).is_empty());
        assert_eq!(tally.next(), Some(now + QUIET));
        assert_eq!(tally.due(now + QUIET), [("later".to_owned(), 999)]);
        assert_eq!(tally.next(), None);
        assert!(tally.tell("later", now + QUIET) && tally.rest().is_empty());
    }
}
