//! Changes that wait for the disk: the latest of each row, and those who wait for them.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use tokio::{sync::oneshot, time::Instant};

use super::change::{Change, Key, Subject};

/// Time for which changes that nobody waits for are collected.
const LAZY: Duration = Duration::from_secs(1);
/// Time between two attempts while the disk or the server fails.
const RETRY: Duration = Duration::from_secs(1);
/// Changes that are kept while the disk or the server fails; later ones are lost.
const MAX_KEPT: usize = 65_536;

/// Changes that are not on the disk yet.
#[derive(Debug, Default)]
pub(super) struct Pending {
    kept: BTreeMap<Key, Change>,
    /// Subjects of other arenas, whose changes are dropped.
    foreign: BTreeSet<Subject>,
    waiting: Vec<oneshot::Sender<()>>,
    /// Deadline for writing changes that nothing waits for, and for the next attempt.
    due: Option<Instant>,
    /// The last attempt has failed.
    is_failing: bool,
    /// Changes that did not fit.
    lost: usize,
}

impl Pending {
    /// Adds changes; `done` hears of the first attempt to write them.
    pub(super) fn add(&mut self, changes: Vec<Change>, done: Option<oneshot::Sender<()>>) {
        changes.into_iter().for_each(|change| self.keep(change));
        self.waiting.extend(done);
    }

    fn keep(&mut self, change: Change) {
        if change.subject().is_some_and(|subject| self.foreign.contains(&subject)) {
            return;
        }
        let key = change.key();
        // Otherwise they are written next, however many a forfeit brings at once.
        if self.is_failing && self.kept.len() >= MAX_KEPT && !self.kept.contains_key(&key) {
            self.lost = self.lost.saturating_add(1);
            return;
        }
        self.kept.insert(key, change);
        self.due.get_or_insert_with(|| Instant::now() + LAZY);
    }

    /// Returns the changes in the order in which rows need each other.
    pub(super) fn changes(&self) -> &BTreeMap<Key, Change> {
        &self.kept
    }

    /// Takes out a change that cannot be written.
    pub(super) fn remove(&mut self, key: &Key) -> Option<Change> {
        self.kept.remove(key)
    }

    /// Takes in whether all changes were written, and answers those who wait.
    pub(super) fn tried(&mut self, are_written: bool, now: Instant) {
        if are_written {
            self.kept.clear();
        }
        self.is_failing = !are_written;
        self.due = (!are_written).then(|| now + RETRY);
        self.answer();
    }

    /// Answers those who wait.
    pub(super) fn answer(&mut self) {
        for done in self.waiting.drain(..) {
            // An error means that the waiting task has ended.
            let _ = done.send(());
        }
    }

    pub(super) fn is_awaited(&self) -> bool {
        !self.waiting.is_empty()
    }

    pub(super) fn due(&self) -> Option<Instant> {
        self.due
    }

    pub(super) fn is_due(&self, now: Instant) -> bool {
        self.due.is_some_and(|due| due <= now)
    }

    /// Makes the next attempt due, unless one is already.
    pub(super) fn hurry(&mut self, now: Instant) {
        self.due.get_or_insert(now);
    }

    /// Drops the changes of a subject of another arena, now and later.
    pub(super) fn disown(&mut self, subject: Subject) {
        self.foreign.insert(subject);
        self.kept.retain(|_, change| change.subject() != Some(subject));
    }

    /// Takes the changes of a subject that is this arena's.
    pub(super) fn own(&mut self, subject: Subject) {
        self.foreign.remove(&subject);
    }

    pub(super) fn lost(&self) -> usize {
        self.lost
    }

    pub(super) fn take_lost(&mut self) -> usize {
        std::mem::take(&mut self.lost)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::database::{TournamentId, TournamentState};

    #[test]
    async fn changes_are_lost_only_while_the_disk_fails() {
        let many = |from: i64| -> Vec<Change> {
            let ids = from..from + 2 * MAX_KEPT as i64;
            ids.map(|id| Change::State(TournamentId(id), TournamentState::Running)).collect()
        };
        let mut pending = Pending::default();
        pending.add(many(0), None);
        assert_eq!((pending.changes().len(), pending.lost()), (2 * MAX_KEPT, 0));
        pending.tried(false, Instant::now());
        pending.add(many(0), None);
        pending.add(many(2 * MAX_KEPT as i64), None);
        assert_eq!((pending.changes().len(), pending.lost()), (2 * MAX_KEPT, 2 * MAX_KEPT));
        pending.tried(true, Instant::now());
        pending.add(many(0), None);
        assert_eq!((pending.changes().len(), pending.take_lost()), (2 * MAX_KEPT, 2 * MAX_KEPT));
    }
}
