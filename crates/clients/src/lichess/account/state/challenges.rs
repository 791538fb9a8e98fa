//! Challenges to an account and by it, as far as they take game slots.

use tracing::{debug, warn};
use zeitnot_wire::lichess::{
    Challenge, ChallengeEnd, ChallengeId, Compat, DeclineReason, Direction, GameId, UserId,
};

use super::{AccountState, DAY, Stage};
use crate::lichess::{
    BotLimit, HttpError,
    account::{slots::GameSlots, suspended::SuspendedGames},
    challenges::{capacity::SlotKind, queue::Verdict},
};

impl AccountState {
    pub(super) fn is_ours(&self, challenge: &Challenge) -> bool {
        let is_from_us = challenge.challenger.as_ref().is_some_and(|user| user.id == self.me);
        is_from_us || challenge.direction == Some(Direction::Out)
    }

    pub(super) fn challenged(&mut self, challenge: Challenge, compat: Option<Compat>) {
        let id = challenge.id;
        // Its acceptance may wait for longer than its slot is kept while we leave.
        let is_accepted = self.slots.contains(id) || self.incoming.is_accepting(id);
        if is_accepted || self.suspended.contains(id.into()) {
            return;
        }
        let running = self.running();
        let verdict = match compat {
            _ if self.stage != Stage::Playing => Verdict::Decline(DeclineReason::Later),
            Some(compat) if !compat.bot => Verdict::Decline(DeclineReason::Generic),
            _ => {
                let games_with = games_with(&self.slots, &self.suspended);
                self.incoming.queue.judge(&challenge, running, games_with, self.now)
            }
        };
        match verdict {
            Verdict::Accept => self.accept(challenge),
            Verdict::Queue => debug!("challenge {id} waits"),
            Verdict::Decline(reason) => self.decline(&challenge, reason),
        }
    }

    fn decline(&mut self, challenge: &Challenge, reason: DeclineReason) {
        self.incoming.decline(challenge, reason, &mut self.effects);
    }

    /// Accepts the challenges that have waited, as far as there is room.
    pub(super) fn accept_waiting(&mut self) {
        loop {
            let running = self.running();
            let games_with = games_with(&self.slots, &self.suspended);
            let Some(challenge) = self.incoming.queue.next(running, games_with, self.now) else { break };
            self.accept(challenge);
        }
    }

    fn accept(&mut self, challenge: Challenge) {
        let slot = SlotKind::of(&challenge);
        let seat = match slot {
            _ if !self.incoming.has_room() => return self.decline(&challenge, DeclineReason::Later),
            // It gets one whenever there is something to do.
            SlotKind::Correspondence => None,
            _ => match self.incoming.queue.capacity.reserve() {
                // Another account was faster.
                None => return self.decline(&challenge, DeclineReason::Later),
                seat => seat,
            },
        };
        let opponent = challenge.challenger.as_ref().map(|user| user.id.clone());
        self.slots.accept(challenge.id, slot, opponent, seat);
        // Without another slot, ours must not be accepted any more.
        let ours = match self.has_room(SlotKind::Bot) {
            true => None,
            false => self.outgoing.expire(false, self.now, &mut self.effects),
        };
        self.incoming.accept(challenge, ours, &mut self.effects);
    }

    pub(super) fn accepted(&mut self, id: ChallengeId, result: Result<(), HttpError>) {
        match self.incoming.accepted(id, result, &mut self.effects) {
            // Its start may have been told before the reply came.
            Ok(()) if self.slots.is_accepted(id.into()) => self.expect_game(id),
            Ok(()) => {}
            Err(limit) => {
                self.slots.release(id);
                self.pause_bots(limit);
            }
        }
    }

    /// A challenge of ours that was accepted keeps its seat until its game begins.
    pub(super) fn our_challenge_ended(&mut self, id: ChallengeId, end: Option<ChallengeEnd>) {
        let is_accepted = matches!(end, Some(ChallengeEnd::Accepted));
        let Some((opponent, slot)) = self.outgoing.ended(id, end, self.now, &mut self.effects) else {
            // We gave it up, and the opponent was faster.
            if is_accepted && !self.slots.contains(id) {
                self.starts.expect(id.into(), self.now);
            }
            return;
        };
        let seat = self.incoming.queue.capacity.take_proposed();
        self.slots.accept(id, slot, Some(opponent), seat.filter(|_| slot != SlotKind::Correspondence));
        self.expect_game(id);
    }

    /// A challenge is accepted: its game begins soon, or never.
    fn expect_game(&mut self, id: ChallengeId) {
        self.slots.expect(id, self.now);
        self.starts.expect(id.into(), self.now);
    }

    /// Goes on with the owner's series of games, when its last game is gone and a slot is free.
    pub(super) fn continue_series(&mut self) {
        let is_gone = |game: GameId| !self.slots.contains(game.into()) && !self.suspended.contains(game);
        if self.outgoing.series_game().is_some_and(is_gone) {
            self.outgoing.end_series("a game was not played to its end");
        }
        let is_due = self.outgoing.series_is_due(self.now) && self.load().has_room;
        if is_due && self.incoming.queue.capacity.reserve_for_proposal() {
            self.outgoing.continue_series(self.now, &mut self.effects);
        }
    }

    /// Plays no bots while we have reached the limit of such games.
    pub(super) fn pause_bots(&mut self, limit: Option<BotLimit>) {
        let Some(BotLimit::Ours(wait)) = limit else { return };
        let wait = wait.min(DAY);
        warn!("limit of games against bots reached: the next one in {}", humantime::format_duration(wait));
        self.incoming.queue.pause_bots(self.now + wait);
        self.outgoing.pause(wait, self.now);
    }
}

/// Counts the games with a player, suspended ones included.
fn games_with(slots: &GameSlots, suspended: &SuspendedGames) -> impl Fn(&UserId) -> usize {
    move |player| slots.games_with(player) + suspended.games_with(player)
}
