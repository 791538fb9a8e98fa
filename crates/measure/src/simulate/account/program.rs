//! The program between two kills: its state machine, and the tasks of its games.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    time::Duration,
};

use zeitnot_clients::lichess::{
    Config,
    simulation::{AccountState, GameFinish},
};
use zeitnot_seat::Reservation;
use zeitnot_wire::lichess::{ChallengeId, GameId};

/// A challenge that was accepted becomes a game in this time after the reply, or never.
const AGREED: Duration = Duration::from_secs(30);
const MINUTE: Duration = Duration::from_secs(60);

/// Task of a game that is followed and played.
#[derive(Debug)]
pub(super) struct Task {
    /// Its seat; it is followed, but not played without one.
    pub(super) seat: Option<Reservation>,
    pub(super) is_correspondence: bool,
    /// The account knows that the opponent is a bot.
    pub(super) is_bot: bool,
    /// End of the game that it was told.
    pub(super) told: Option<GameFinish>,
}

/// Game with a clock that was agreed on, and has not begun.
#[derive(Debug)]
pub(super) struct Agreed {
    /// The reply to our acceptance, if that has come.
    pub(super) since: Option<Duration>,
    pub(super) is_bot: bool,
}

impl Agreed {
    /// Returns whether it may still become a game.
    pub(super) fn is_pending(&self, now: Duration) -> bool {
        self.since.is_none_or(|since| now < since + AGREED)
    }
}

/// The program between two kills.
#[derive(Debug)]
pub(super) struct Program {
    pub(super) state: AccountState,
    pub(super) config: Config,
    pub(super) tasks: BTreeMap<GameId, Task>,
    pub(super) agreed: BTreeMap<ChallengeId, Agreed>,
    /// Challenges of ours that the account has cancelled.
    pub(super) cancelled: BTreeSet<ChallengeId>,
    /// Games that have ended.
    pub(super) ended: u32,
    pub(super) wake_at: Option<Duration>,
    /// Wakes in the last minute that had no effect.
    pub(super) idle_wakes: VecDeque<Duration>,
}

impl Program {
    pub(super) fn new(state: AccountState, config: Config) -> Program {
        Program {
            state,
            config,
            tasks: BTreeMap::new(),
            agreed: BTreeMap::new(),
            cancelled: BTreeSet::new(),
            ended: 0,
            wake_at: None,
            idle_wakes: VecDeque::new(),
        }
    }

    /// Returns how many games may still end, if they are counted.
    fn remaining(&self) -> Option<usize> {
        let games = u32::from(self.config.games?);
        Some(games.saturating_sub(self.ended) as usize)
    }

    /// Returns whether all games are played that the account is to play.
    pub(super) fn has_played_all(&self) -> bool {
        self.remaining() == Some(0)
    }

    pub(super) fn with_clock(&self) -> usize {
        self.tasks.values().filter(|task| !task.is_correspondence).count()
    }

    pub(super) fn seated(&self) -> usize {
        self.tasks.values().filter(|task| task.seat.is_some()).count()
    }

    fn agreed_games(&self, now: Duration) -> impl Iterator<Item = &Agreed> {
        self.agreed.values().filter(move |agreed| agreed.is_pending(now))
    }

    pub(super) fn agreed(&self, now: Duration) -> usize {
        self.agreed_games(now).count()
    }

    /// Counts the games with clocks against bots, as far as the account knows.
    pub(super) fn against_bots(&self, now: Duration) -> usize {
        let running = self.tasks.values().filter(|task| !task.is_correspondence && task.is_bot);
        running.count() + self.agreed_games(now).filter(|agreed| agreed.is_bot).count()
    }

    /// Returns whether there is room for another game with a clock, against anybody.
    pub(super) fn has_room(&self, now: Duration) -> bool {
        let (games, reserved) =
            (self.with_clock() + self.agreed(now), self.config.challenge.reserved_for_humans);
        let is_enough = self.remaining().is_some_and(|remaining| games >= remaining);
        games + reserved < self.config.concurrency.get() as usize && !is_enough
    }

    /// Counts a wake without effect. Returns their number in the last minute.
    pub(super) fn woken_in_vain(&mut self, now: Duration) -> usize {
        self.idle_wakes.push_back(now);
        while self.idle_wakes.front().is_some_and(|woken| now.saturating_sub(*woken) >= MINUTE) {
            self.idle_wakes.pop_front();
        }
        self.idle_wakes.len()
    }
}
