//! Events of a scripted world in virtual time.

use std::{cmp::Reverse, collections::BinaryHeap, time::Duration};

#[derive(Debug)]
struct Entry<E> {
    /// Time since the start, then the order of insertion.
    key: (Duration, u64),
    event: E,
}

impl<E> PartialEq for Entry<E> {
    fn eq(&self, other: &Entry<E>) -> bool {
        self.key == other.key
    }
}

impl<E> Eq for Entry<E> {}

impl<E> PartialOrd for Entry<E> {
    fn partial_cmp(&self, other: &Entry<E>) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<E> Ord for Entry<E> {
    fn cmp(&self, other: &Entry<E>) -> std::cmp::Ordering {
        self.key.cmp(&other.key)
    }
}

/// Events by their times since the start. Those of one moment come in the order in which they were added.
#[derive(Debug)]
pub(crate) struct EventQueue<E> {
    entries: BinaryHeap<Reverse<Entry<E>>>,
    added: u64,
}

impl<E> Default for EventQueue<E> {
    fn default() -> EventQueue<E> {
        EventQueue { entries: BinaryHeap::new(), added: 0 }
    }
}

impl<E> EventQueue<E> {
    pub(crate) fn add(&mut self, at: Duration, event: E) {
        self.entries.push(Reverse(Entry { key: (at, self.added), event }));
        self.added += 1;
    }

    /// Returns the time of the next event.
    pub(crate) fn next_at(&self) -> Option<Duration> {
        self.entries.peek().map(|Reverse(entry)| entry.key.0)
    }

    pub(crate) fn pop(&mut self) -> Option<(Duration, E)> {
        self.entries.pop().map(|Reverse(entry)| (entry.key.0, entry.event))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_come_by_time_and_then_in_the_order_of_insertion() {
        let mut queue = EventQueue::default();
        for (at, event) in [(2, 'c'), (1, 'a'), (2, 'd'), (1, 'b')] {
            queue.add(Duration::from_secs(at), event);
        }
        assert_eq!(queue.next_at(), Some(Duration::from_secs(1)));
        let events: String = std::iter::from_fn(|| queue.pop()).map(|(_, event)| event).collect();
        assert_eq!(events, "abcd");
    }
}
