//! Reports of a tournament: news for the log, and for the page its state and its pairings, at a pace that costs its task
//! next to nothing, and whom it has refused.

use std::{mem, time::Duration};

use tokio::time::Instant;
use zeitnot_pairing::Name;

use super::{pairing_log::rows, refusals::Refusals};
use crate::news::{Event, News, NewsSender};
use zeitnot_host::{
    database::History,
    live::{
        Feed, TournamentReport,
        view::{JoinLine, PairingRow, TournamentSummary},
    },
};

/// Shortest time between two reports to the page.
const INTERVAL: Duration = Duration::from_millis(500);
/// A report is followed by a pause of this many times the time that it took.
const PAUSE: u32 = 100;

#[derive(Debug)]
pub(super) struct Reports {
    news: NewsSender,
    live: Feed,
    refusals: Refusals,
    /// Number of the tournament among those of its name.
    edition: u32,
    joins: Vec<JoinLine>,
    /// Pairings that have come to an end, and that the page does not know yet. Without a page there are none.
    unsent: Vec<PairingRow>,
    /// The page knows the tournament.
    is_known: bool,
    has_changed: bool,
    /// Earliest time of the next report.
    next: Option<Instant>,
}

impl Reports {
    pub(super) fn new(
        news: NewsSender,
        live: Feed,
        refusals: Refusals,
        edition: u32,
        joins: Vec<JoinLine>,
    ) -> Reports {
        let (unsent, is_known, has_changed, next) = (Vec::new(), false, true, None);
        Reports { news, live, refusals, edition, joins, unsent, is_known, has_changed, next }
    }

    /// Takes in the pairings of before a restart.
    pub(super) fn replay(&mut self, history: &History) {
        if self.live.is_on() {
            self.unsent = rows(history);
        }
    }

    pub(super) fn live(&self) -> &Feed {
        &self.live
    }

    /// Shows nothing from now on.
    pub(super) fn turn_off(&mut self) {
        self.live = Feed::default();
        self.next = None;
    }

    pub(super) fn set_joins(&mut self, joins: Vec<JoinLine>) {
        self.joins = joins;
    }

    /// Notes that somebody was refused, or thrown out.
    pub(super) fn refuse(&mut self, player: &str, reason: &impl ToString) {
        self.refusals.note(player, reason);
    }

    pub(super) fn event(&mut self, tournament: &Name, event: Event) {
        self.has_changed = true;
        // An error means that nobody listens.
        let _ = self.news.send(News { tournament: tournament.clone(), event });
    }

    /// Adds a pairing that has come to an end, or changes the one with the same game.
    pub(super) fn end_pairing(&mut self, row: PairingRow) {
        self.has_changed = true;
        if self.live.is_on() {
            self.unsent.push(row);
        }
    }

    pub(super) fn note_change(&mut self) {
        self.has_changed = true;
    }

    /// Makes the next report due at once.
    pub(super) fn hurry(&mut self) {
        (self.has_changed, self.next) = (true, None);
    }

    /// Returns when there is something to report to the page.
    pub(super) fn due(&self) -> Option<Instant> {
        self.next.filter(|_| self.has_changed)
    }

    /// Reports the state and the open pairings if they have changed and it is time, or if it is the last report.
    pub(super) fn publish(
        &mut self,
        is_last: bool,
        state: impl FnOnce(u32, &[JoinLine]) -> (TournamentSummary, Vec<PairingRow>),
    ) {
        let began = Instant::now();
        let is_due = self.has_changed && self.next.is_none_or(|next| began >= next);
        if !self.live.is_on() || !(is_due || is_last) {
            return;
        }
        let report = || {
            let (summary, open) = state(self.edition, &self.joins);
            let is_first = !mem::replace(&mut self.is_known, true);
            TournamentReport { summary, ended: mem::take(&mut self.unsent), open, is_first }
        };
        self.has_changed = !self.live.tournament(report);
        self.next = Some(began + INTERVAL.max(began.elapsed() * PAUSE));
    }

    #[cfg(test)]
    pub(super) fn refusals(&self) -> &Refusals {
        &self.refusals
    }
}
