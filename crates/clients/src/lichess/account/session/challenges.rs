//! Challenges to an account and by it, as far as they take game slots.

use std::time::Instant;

use tracing::warn;
use zeitnot_wire::lichess::{Challenge, Compat, DeclineReason, Direction, UserId};

use super::{Account, DAY};
use crate::{
    lichess::{
        BotLimit,
        account::{slots::GameSlots, suspended::SuspendedGames},
        challenges::{
            capacity::SlotKind,
            incoming::{Acceptance, Accepted},
        },
        matchmaking::outgoing,
    },
    wait::now,
};

impl Account<'_> {
    pub(super) fn is_ours(&self, challenge: &Challenge) -> bool {
        let is_from_us = challenge.challenger.as_ref().is_some_and(|user| user.id == self.context.me);
        is_from_us || challenge.direction == Some(Direction::Out)
    }

    pub(super) fn challenged(&mut self, challenge: Challenge, compat: Option<Compat>) {
        if self.slots.contains(challenge.id) || self.suspended.contains(challenge.id.into()) {
            return;
        }
        if self.is_leaving {
            return self.incoming.decline(&challenge, DeclineReason::Later, &mut self.background);
        }
        if compat.is_some_and(|compat| !compat.bot) {
            return self.incoming.decline(&challenge, DeclineReason::Generic, &mut self.background);
        }
        let running = self.running();
        let games_with = games_with(&self.slots, &self.suspended);
        if self.incoming.receive(&challenge, running, games_with, &mut self.background) {
            self.accept(challenge);
        }
    }

    /// Accepts the challenges that have waited, as far as there are slots.
    pub(super) fn accept_waiting(&mut self, now: Instant) {
        loop {
            let running = self.running();
            let games_with = games_with(&self.slots, &self.suspended);
            let Some(challenge) = self.incoming.queue.next(running, games_with, now) else { break };
            self.accept(challenge);
        }
    }

    fn accept(&mut self, challenge: Challenge) {
        let opponent = challenge.challenger.as_ref().map(|user| user.id.clone());
        self.slots.accept(challenge.id, SlotKind::of(&challenge), opponent, now());
        let load = self.load();
        let ours = self.outgoing.withdraw(load);
        self.incoming.accept(challenge, ours);
    }

    pub(super) fn accepted(&mut self, reply: Accepted) {
        let id = reply.0.id;
        match self.incoming.accepted(reply, &mut self.background) {
            // Its start may have been told before the reply came.
            Acceptance::Stands if self.slots.is_accepted(id.into()) => self.starts.expect(id.into(), now()),
            Acceptance::Stands => {}
            Acceptance::Failed(limit) => {
                self.slots.release(id);
                self.pause_bots(limit);
            }
        }
    }

    pub(super) fn handle_outgoing(&mut self, reply: outgoing::Reply) {
        if let Some(accepted) = self.outgoing.newly_accepted(&reply) {
            self.starts.expect(accepted.into(), now());
        }
        let load = self.load();
        let limit = self.outgoing.handle(reply, load);
        self.pause_bots(limit);
    }

    /// Plays no bots while we have reached the limit of such games.
    fn pause_bots(&mut self, limit: Option<BotLimit>) {
        let Some(BotLimit::Ours(wait)) = limit else { return };
        let wait = wait.min(DAY);
        warn!("limit of games against bots reached: the next one in {}", humantime::format_duration(wait));
        self.incoming.queue.pause_bots(now() + wait);
        self.outgoing.pause(wait);
    }
}

/// Counts the games with a player, suspended ones included.
fn games_with(slots: &GameSlots, suspended: &SuspendedGames) -> impl Fn(&UserId) -> usize {
    move |player| slots.games_with(player) + suspended.games_with(player)
}
