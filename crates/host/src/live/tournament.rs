//! Tournament as the hub knows it: what its task reports, and whom it has refused.

use std::collections::BTreeMap;

use super::view::{PairingRow, RefusalRow, Tournament, TournamentSummary};

/// Pairings of a tournament that are shown, the latest.
pub const MAX_PAIRINGS: usize = 5000;
/// Pairings for which a view takes one tick more to come: a long one is sent less often.
const PAIRINGS_PER_TICK: usize = 250;

/// Report of a tournament's task.
#[allow(missing_docs)]
#[derive(Debug)]
pub struct TournamentReport {
    pub summary: TournamentSummary,
    /// Pairings that have come to an end since the last report, byes, and those that have changed.
    pub ended: Vec<PairingRow>,
    /// Games that run, and those that are to begin.
    pub open: Vec<PairingRow>,
    /// It is the first report: what an earlier tournament of that name has left is forgotten.
    pub is_first: bool,
}

impl TournamentReport {
    /// Returns the view of a tournament of which this report tells all, with those whom it has refused.
    pub fn view(self, refusals: Vec<RefusalRow>) -> Option<Tournament> {
        let mut entry = TournamentEntry { refusals, ..TournamentEntry::default() };
        entry.update(self);
        entry.view()
    }
}

#[derive(Debug, Default)]
pub(super) struct TournamentEntry {
    /// `None` until its task has reported it.
    pub(super) summary: Option<TournamentSummary>,
    /// By number, from the first one on.
    ended: BTreeMap<usize, PairingRow>,
    /// Numbers of the ended games.
    numbers: BTreeMap<String, usize>,
    open: Vec<PairingRow>,
    refusals: Vec<RefusalRow>,
    /// It has changed since the last message about it.
    is_dirty: bool,
    /// Ticks until the next message.
    wait: u64,
}

impl TournamentEntry {
    pub(super) fn update(&mut self, report: TournamentReport) {
        let TournamentReport { summary, ended, open, is_first } = report;
        if is_first {
            self.ended.clear();
            self.numbers.clear();
        }
        ended.into_iter().for_each(|row| self.note(row));
        self.summary = Some(summary);
        self.open = open;
        self.is_dirty = true;
    }

    /// Adds a pairing, or changes the one with the same game; a bye without a point is taken back.
    fn note(&mut self, row: PairingRow) {
        // Only byes have no game.
        let same = |known: &PairingRow| {
            known.game.is_none()
                && row.result.is_none()
                && (known.round, &known.white) == (row.round, &row.white)
        };
        let number = match &row.game {
            Some(game) => self.numbers.get(game).copied(),
            None => self.ended.iter().rev().find(|(_, known)| same(known)).map(|(number, _)| *number),
        };
        if row.black.is_none() && row.result.is_none() {
            number.map(|number| self.ended.remove(&number));
            return;
        }
        let next = || self.ended.last_key_value().map_or(0, |(last, _)| last + 1);
        let number = number.unwrap_or_else(next);
        if let Some(game) = &row.game {
            self.numbers.insert(game.clone(), number);
        }
        self.ended.insert(number, row);
        if self.ended.len() > MAX_PAIRINGS
            && let Some((_, PairingRow { game: Some(game), .. })) = self.ended.pop_first()
        {
            self.numbers.remove(&game);
        }
    }

    pub(super) fn set_refusals(&mut self, rows: Vec<RefusalRow>) {
        self.refusals = rows;
        self.is_dirty = true;
    }

    /// Returns whether a message is due; `ticks` have passed since the last call.
    pub(super) fn take_change(&mut self, ticks: u64) -> bool {
        self.wait = self.wait.saturating_sub(ticks);
        let is_due = self.is_dirty && self.wait == 0;
        if is_due {
            self.is_dirty = false;
            self.wait = ticks + (self.ended.len() / PAIRINGS_PER_TICK) as u64;
        }
        is_due
    }

    pub(super) fn view(&self) -> Option<Tournament> {
        Some(Tournament {
            summary: self.summary.clone()?,
            pairings: self.ended.values().chain(&self.open).cloned().collect(),
            refusals: self.refusals.clone(),
        })
    }
}
