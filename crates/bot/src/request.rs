//! A request for a move, from its arrival until the server has charged us for the answer.

use std::time::{Duration, Instant};

use zeitnot_engine::time::Budget;
use zeitnot_rules::Color;
use zeitnot_seat::{Clocks, Turn};

use super::{How, lag::Charge};

/// Timers fire up to so much late: tokio counts in milliseconds.
const TIMER_STEP: Duration = Duration::from_millis(1);

/// A move is asked for.
#[derive(Copy, Clone)]
pub(super) struct Request {
    pub turn: Turn,
    /// As they stood then; `None`: there is no clock.
    pub clocks: Option<Clocks>,
    pub asked_at: Instant,
    pub budget: Budget,
}

impl Request {
    /// When the answer leaves, whatever the search does.
    pub fn hard(&self) -> Instant {
        self.asked_at + self.budget.hard
    }

    /// When to wake up for that: a timer may be late by its step, and shall not be.
    pub fn alarm(&self) -> Instant {
        self.hard() - TIMER_STEP.min(self.budget.hard / 8)
    }
}

/// An answer that was given to the protocol. What it cost is known when the server has charged for it.
pub(super) struct Departure {
    pub request: Request,
    pub how: How,
    /// Plies that were played before it.
    pub ply: usize,
    decided_at: Instant,
    sent_at: Option<Instant>,
    /// The clocks as the server showed them next, when ours stood still.
    after: Option<Clocks>,
}

impl Departure {
    pub fn new(request: Request, how: How, ply: usize, decided_at: Instant) -> Self {
        Departure { request, how, ply, decided_at, sent_at: None, after: None }
    }

    /// It was handed to the socket. How long after it was due?
    pub fn sent(&mut self, at: Instant) -> Duration {
        self.sent_at = Some(at);
        let due = if self.how == How::HardLimit { self.request.hard() } else { self.decided_at };
        at.saturating_duration_since(due)
    }

    /// Our clock stands still, and shows this.
    pub fn charged(&mut self, clocks: Option<Clocks>) {
        self.after = self.after.or(clocks);
    }

    /// What the server took for the move; `None` while that cannot be known.
    pub fn charge(&self, side: Color) -> Option<Charge> {
        let (sent_at, before, after) = (self.sent_at?, self.request.clocks?, self.after?);
        if before.moves_to_go == Some(1) {
            // Behind it time was added, and how much, nobody tells.
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
    use super::*;
    use zeitnot_rules::ByColor;

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

    fn departure(how: How, asked_at: Instant) -> Departure {
        let budget = Budget { soft: 20 * MS, hard: 50 * MS };
        let request = Request { turn: Turn(1), clocks: Some(clocks(1000, asked_at)), asked_at, budget };
        Departure::new(request, how, 0, asked_at + 40 * MS)
    }

    #[test]
    fn the_charge_is_known_when_the_answer_has_left_and_the_clock_is_read_in_either_order() {
        let asked_at = Instant::now();
        let expected = Charge { charged: 62 * MS, own: 45 * MS, resolution: 10 * MS };
        let after = Some(clocks(1038, asked_at + 65 * MS));
        let mut answered = departure(How::Searched, asked_at);
        answered.sent(asked_at + 45 * MS);
        assert_eq!(answered.charge(Color::White), None);
        answered.charged(after);
        assert_eq!(answered.charge(Color::White), Some(expected));
        // What is read later was charged for other things.
        answered.charged(Some(clocks(10, asked_at + 900 * MS)));
        assert_eq!(answered.charge(Color::White), Some(expected));

        let mut overtaken = departure(How::Searched, asked_at);
        overtaken.charged(after);
        assert_eq!(overtaken.charge(Color::White), None);
        overtaken.sent(asked_at + 45 * MS);
        assert_eq!(overtaken.charge(Color::White), Some(expected));
    }

    #[test]
    fn an_answer_is_due_when_it_is_decided_or_at_the_hard_limit() {
        let asked_at = Instant::now();
        assert_eq!(departure(How::Searched, asked_at).sent(asked_at + 53 * MS), 13 * MS);
        assert_eq!(departure(How::HardLimit, asked_at).sent(asked_at + 53 * MS), 3 * MS);
    }

    #[test]
    fn where_time_is_added_behind_the_move_nothing_is_charged() {
        let asked_at = Instant::now();
        let mut answered = departure(How::Searched, asked_at);
        answered.request.clocks = Some(Clocks { moves_to_go: Some(1), ..clocks(1000, asked_at) });
        answered.sent(asked_at + 45 * MS);
        answered.charged(Some(clocks(1000, asked_at)));
        assert_eq!(answered.charge(Color::White), None);
    }
}
