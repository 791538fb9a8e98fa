//! The authoritative clocks of one game: plain arithmetic, every instant is passed in.

use std::time::Duration;

use tokio::time::Instant;

use zeitnot_rules::{ByColor, Color, TimeControl};

/// Two clocks of which at most one runs.
#[derive(Clone, Debug)]
pub(super) struct Clock {
    left: ByColor<Duration>,
    increments: ByColor<Duration>,
    running: Option<(Color, Instant)>,
}

impl Clock {
    /// Both clocks full, none running.
    pub fn new(time_control: TimeControl) -> Self {
        let TimeControl { initial, increment } = time_control;
        Clock { left: ByColor::both(initial), increments: ByColor::both(increment), running: None }
    }

    /// Half of a side's time goes, and all of its increment.
    pub fn halve(&mut self, side: Color) {
        self.left[side] /= 2;
        self.increments[side] = Duration::ZERO;
    }

    /// What a side gets for a move.
    pub fn increment(&self, side: Color) -> Duration {
        self.increments[side]
    }

    /// Both clocks show this, none running.
    pub fn set(&mut self, left: ByColor<Duration>) {
        (self.left, self.running) = (left, None);
    }

    /// Does anybody's time pass?
    pub fn is_running(&self) -> bool {
        self.running.is_some()
    }

    /// From now on this side's time passes.
    pub fn start(&mut self, side: Color, now: Instant) {
        self.running = Some((side, now));
    }

    /// What the clock of a side shows; never below zero.
    pub fn left(&self, side: Color, now: Instant) -> Duration {
        let used = match self.running {
            Some((running, since)) if running == side => now.saturating_duration_since(since),
            _ => Duration::ZERO,
        };
        self.left[side].saturating_sub(used)
    }

    /// When the running clock has used up its last moment.
    pub fn flag(&self) -> Option<Instant> {
        self.running.map(|(side, since)| since + self.left[side])
    }

    /// Would a move that arrived then be too late?
    pub fn is_late(&self, at: Instant) -> bool {
        self.flag().is_some_and(|flag| at > flag)
    }

    /// A legal move arrived: the running clock stops and gets its increment.
    pub fn press(&mut self, at: Instant) {
        if let Some((side, _)) = self.running {
            self.left[side] = self.left(side, at).saturating_add(self.increments[side]);
            self.running = None;
        }
    }

    /// Both clocks stop where they are.
    pub fn stop(&mut self, at: Instant) {
        if let Some((side, _)) = self.running {
            self.left[side] = self.left(side, at);
            self.running = None;
        }
    }
}
