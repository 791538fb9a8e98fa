//! Room for games: the slots of the account and their kinds, and the seats of the lobby, which all accounts share.

use std::num::NonZeroU32;

use zeitnot_seat::{Reservation, Seats};
use zeitnot_wire::lichess::{Challenge, Speed};

/// Numbers of running games, accepted challenges included.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RunningGames {
    pub(crate) humans: usize,
    pub(crate) bots: usize,
    /// Games without a clock, against either, suspended ones included.
    pub(crate) correspondence: usize,
}

impl RunningGames {
    pub(crate) fn with_clock(self) -> usize {
        self.humans + self.bots
    }
}

impl FromIterator<SlotKind> for RunningGames {
    fn from_iter<I: IntoIterator<Item = SlotKind>>(slots: I) -> RunningGames {
        let mut running = RunningGames::default();
        for slot in slots {
            match slot {
                SlotKind::Human => running.humans += 1,
                SlotKind::Bot => running.bots += 1,
                SlotKind::Correspondence => running.correspondence += 1,
            }
        }
        running
    }
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum SlotKind {
    /// With a clock, against a human.
    Human,
    /// With a clock, against a bot.
    Bot,
    /// Without a clock.
    Correspondence,
}

impl SlotKind {
    /// Returns the slot that the game of this challenge would take.
    pub(crate) fn of(challenge: &Challenge) -> SlotKind {
        if challenge.time_control.speed() == Speed::Correspondence {
            SlotKind::Correspondence
        } else {
            SlotKind::with_clock(is_bot(challenge))
        }
    }

    pub(crate) fn with_clock(is_bot: bool) -> SlotKind {
        if is_bot { SlotKind::Bot } else { SlotKind::Human }
    }
}

/// Numbers of games at once.
#[derive(Debug)]
pub(crate) struct Capacity {
    max_with_clock: usize,
    max_correspondence: usize,
    /// Slots of those with a clock that bots cannot take.
    reserved_for_humans: usize,
    /// Games that may still end, running ones included, if they are counted.
    remaining: Option<usize>,
    seats: Seats,
    /// Seat for the game of our open challenge.
    proposed: Option<Reservation>,
}

impl Capacity {
    pub(crate) fn new(seats: Seats) -> Capacity {
        Capacity {
            max_with_clock: 0,
            max_correspondence: 0,
            reserved_for_humans: 0,
            remaining: None,
            seats,
            proposed: None,
        }
    }

    /// Sets the numbers of games with and without clocks at once, and of slots that bots cannot take.
    pub(crate) fn set_limits(&mut self, clock: NonZeroU32, correspondence: NonZeroU32, for_humans: usize) {
        let limit = |games: NonZeroU32| usize::try_from(games.get()).unwrap_or(usize::MAX);
        (self.max_with_clock, self.max_correspondence) = (limit(clock), limit(correspondence));
        self.reserved_for_humans = for_humans;
    }

    /// Reserves a seat for a game. Our own challenge gives its seat up for one that begins now.
    pub(crate) fn reserve(&mut self) -> Option<Reservation> {
        self.seats.reserve().or_else(|| self.proposed.take())
    }

    /// Reserves a seat for the game of a challenge of ours. Returns whether there is one.
    pub(crate) fn reserve_for_proposal(&mut self) -> bool {
        self.proposed = self.proposed.take().or_else(|| self.seats.reserve());
        self.proposed.is_some()
    }

    /// Returns the seat of our challenge, which has become a game, or became none.
    pub(crate) fn take_proposed(&mut self) -> Option<Reservation> {
        self.proposed.take()
    }

    /// Returns whether another game could get a seat.
    pub(crate) fn has_seat(&self) -> bool {
        self.proposed.is_some() || self.seats.has_free()
    }

    pub(crate) fn set_remaining(&mut self, games: u32) {
        self.remaining = Some(usize::try_from(games).unwrap_or(usize::MAX));
    }

    /// Counts a game that has ended. Returns whether it was the last one, if they are counted.
    pub(crate) fn count_game(&mut self) -> bool {
        let Some(remaining) = &mut self.remaining else { return false };
        *remaining = remaining.saturating_sub(1);
        *remaining == 0
    }

    /// Returns whether a game could begin. One without a clock takes a seat only while there is something to do in it.
    pub(crate) fn has_room(&self, running: RunningGames, slot: SlotKind) -> bool {
        let for_bots = self.max_with_clock.saturating_sub(self.reserved_for_humans);
        let is_free = match slot {
            _ if slot != SlotKind::Correspondence && !self.has_seat() => false,
            SlotKind::Human => running.with_clock() < self.max_with_clock,
            SlotKind::Bot => running.with_clock() < self.max_with_clock && running.bots < for_bots,
            SlotKind::Correspondence => running.correspondence < self.max_correspondence,
        };
        is_free && !self.is_enough(running, slot)
    }

    /// Returns whether the running games are all that may still end. Games with clocks do not wait for games without:
    /// those may take days.
    pub(super) fn is_enough(&self, running: RunningGames, slot: SlotKind) -> bool {
        let may_end = match slot {
            SlotKind::Human | SlotKind::Bot => running.with_clock(),
            SlotKind::Correspondence => running.with_clock() + running.correspondence,
        };
        self.remaining.is_some_and(|remaining| may_end >= remaining)
    }
}

pub(super) fn is_bot(challenge: &Challenge) -> bool {
    challenge.challenger.as_ref().is_some_and(|user| user.is_bot())
}
