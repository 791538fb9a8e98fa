//! A request for a move, and the answer to it until the server has charged our clock.

use std::time::{Duration, Instant};

use zeitnot_engine::time::Budget;
use zeitnot_rules::Color;
use zeitnot_seat::{Clocks, Turn};

use crate::{lag::Charge, status::MoveOrigin};

/// Resolution of tokio's timers, which fire up to this late.
const TIMER_STEP: Duration = Duration::from_millis(1);

#[derive(Copy, Clone)]
pub(crate) struct MoveRequest {
    pub turn: Turn,
    /// Clocks as they stood then; `None`: there is no clock.
    pub clocks: Option<Clocks>,
    pub asked_at: Instant,
    pub budget: Budget,
}

impl MoveRequest {
    /// Returns when the answer leaves, whatever the search does.
    pub(crate) fn hard_limit(&self) -> Instant {
        self.asked_at + self.budget.hard
    }

    /// Returns when an answer that is known early may leave: after a random part of the soft limit, which shrinks with
    /// the clock, and never in the second half of the hard one.
    pub(crate) fn earliest_answer(&self) -> Instant {
        let max = self.budget.soft.min(self.budget.hard / 2);
        self.asked_at + max.mul_f64(0.25 + 0.75 * fastrand::f64())
    }

    /// Returns when the timer of the hard limit is set to: its lateness must not cost time.
    pub(crate) fn alarm(&self) -> Instant {
        self.hard_limit() - TIMER_STEP.min(self.budget.hard / 8)
    }
}

/// An answer that was given to the protocol, until its cost on the server's clock is known.
pub(crate) struct PendingAnswer {
    pub request: MoveRequest,
    pub origin: MoveOrigin,
    /// Plies played before it.
    pub ply: usize,
    decided_at: Instant,
    sent_at: Option<Instant>,
    /// The first clocks that were read while ours stood still.
    after: Option<Clocks>,
}

impl PendingAnswer {
    pub(crate) fn new(request: MoveRequest, origin: MoveOrigin, ply: usize, decided_at: Instant) -> Self {
        PendingAnswer { request, origin, ply, decided_at, sent_at: None, after: None }
    }

    /// Records when it was written to the socket; returns how late that was.
    pub(crate) fn sent(&mut self, at: Instant) -> Duration {
        self.sent_at = Some(at);
        let due = match self.origin {
            MoveOrigin::HardLimit => self.request.hard_limit(),
            _ => self.decided_at,
        };
        at.saturating_duration_since(due)
    }

    /// Records the clocks while ours stands still.
    pub(crate) fn clock_stopped(&mut self, clocks: Option<Clocks>) {
        self.after = self.after.or(clocks);
    }

    /// Returns what the server charged for the move, once that is known.
    pub(crate) fn charge(&self, side: Color) -> Option<Charge> {
        let sent_at = self.sent_at?;
        let before = self.request.clocks?;
        let after = self.after?;
        if before.moves_to_go == Some(1) {
            // An unknown amount of time was added after the move.
            return None;
        }
        Some(Charge {
            charged: (before.left[side] + before.increment).saturating_sub(after.left[side]),
            own: sent_at.saturating_duration_since(before.read_at),
            resolution: after.resolution,
        })
    }
}

#[cfg(test)]
mod tests {
    use zeitnot_rules::ByColor;

    use super::*;

    const MS: Duration = Duration::from_millis(1);

    fn clocks(left: u32, read_at: Instant) -> Clocks {
        Clocks {
            left: ByColor([left * MS, 7 * MS]),
            increment: 100 * MS,
            moves_to_go: None,
            resolution: 10 * MS,
            read_at,
        }
    }

    fn pending(origin: MoveOrigin, asked_at: Instant) -> PendingAnswer {
        let budget = Budget { soft: 20 * MS, hard: 50 * MS };
        let request = MoveRequest { turn: Turn(1), clocks: Some(clocks(1000, asked_at)), asked_at, budget };
        PendingAnswer::new(request, origin, 0, asked_at + 40 * MS)
    }

    #[test]
    fn the_charge_is_known_once_the_answer_is_sent_and_the_clock_read_in_either_order() {
        let asked_at = Instant::now();
        let expected = Charge { charged: 62 * MS, own: 45 * MS, resolution: 10 * MS };
        let after = Some(clocks(1038, asked_at + 65 * MS));
        let mut answered = pending(MoveOrigin::Searched, asked_at);
        answered.sent(asked_at + 45 * MS);
        assert_eq!(answered.charge(Color::White), None);
        answered.clock_stopped(after);
        assert_eq!(answered.charge(Color::White), Some(expected));
        // Clocks that are read later include other charges.
        answered.clock_stopped(Some(clocks(10, asked_at + 900 * MS)));
        assert_eq!(answered.charge(Color::White), Some(expected));

        let mut overtaken = pending(MoveOrigin::Searched, asked_at);
        overtaken.clock_stopped(after);
        assert_eq!(overtaken.charge(Color::White), None);
        overtaken.sent(asked_at + 45 * MS);
        assert_eq!(overtaken.charge(Color::White), Some(expected));
    }

    #[test]
    fn an_answer_is_due_when_decided_or_at_the_hard_limit() {
        let asked_at = Instant::now();
        assert_eq!(pending(MoveOrigin::Searched, asked_at).sent(asked_at + 53 * MS), 13 * MS);
        assert_eq!(pending(MoveOrigin::HardLimit, asked_at).sent(asked_at + 53 * MS), 3 * MS);
    }

    #[test]
    fn no_charge_is_known_where_time_is_added_after_each_move() {
        let asked_at = Instant::now();
        let mut answered = pending(MoveOrigin::Searched, asked_at);
        answered.request.clocks = Some(Clocks { moves_to_go: Some(1), ..clocks(1000, asked_at) });
        answered.sent(asked_at + 45 * MS);
        answered.clock_stopped(Some(clocks(1000, asked_at)));
        assert_eq!(answered.charge(Color::White), None);
    }
}
