//! One run of the program: its state machine, and the tasks of its games.

use std::{collections::BTreeMap, time::Duration};

use zeitnot_clients::lichess::{
    Config,
    simulation::{AccountState, GameFinish},
};
use zeitnot_seat::Reservation;
use zeitnot_wire::lichess::{ChallengeId, GameId};

/// A challenge that was accepted becomes a game in this time after the reply, or never.
const AGREED: Duration = Duration::from_secs(30);

/// Task of a game that is followed and played.
#[derive(Debug)]
pub(super) struct Task {
    /// Its place; it is followed, but not played without one.
    pub(super) seat: Option<Reservation>,
    pub(super) is_correspondence: bool,
    /// End of the game that it was told.
    pub(super) told: Option<GameFinish>,
}

/// One run of the program.
#[derive(Debug)]
pub(super) struct Program {
    pub(super) state: AccountState,
    pub(super) config: Config,
    pub(super) tasks: BTreeMap<GameId, Task>,
    /// Games with clocks that we agreed on, and that have not begun; since the reply, if that has come.
    pub(super) agreed: BTreeMap<ChallengeId, Option<Duration>>,
    /// Time of the last input.
    pub(super) now: Duration,
    pub(super) wake_at: Option<Duration>,
    /// Wakes at the same moment.
    pub(super) wakes: u32,
}

impl Program {
    pub(super) fn advance(&mut self, now: Duration) {
        if self.now != now {
            (self.now, self.wakes) = (now, 0);
        }
    }

    pub(super) fn with_clock(&self) -> usize {
        self.tasks.values().filter(|task| !task.is_correspondence).count()
    }

    pub(super) fn seated(&self) -> usize {
        self.tasks.values().filter(|task| task.seat.is_some()).count()
    }

    pub(super) fn agreed(&self) -> usize {
        let may_begin = |since: &Option<Duration>| since.is_none_or(|since| self.now < since + AGREED);
        self.agreed.values().filter(|since| may_begin(since)).count()
    }

    /// Returns whether another game with a clock has a place, against anybody.
    pub(super) fn has_place(&self) -> bool {
        let reserved = self.config.challenge.reserved_for_humans;
        self.with_clock() + self.agreed() + reserved < self.config.concurrency.get() as usize
    }
}
