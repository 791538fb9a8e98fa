//! Laws about what must happen in time.

use std::time::Duration;

use zeitnot_wire::lichess::{ChallengeId, GameId};

use super::{
    super::run::Checked,
    laws,
    program::Program,
    world::{ProgramEvent, World},
};

/// Time in which a game that we know of is begun, and a challenge answered, if nothing disturbs that.
const PATIENCE: Duration = Duration::from_secs(300);
/// Time in which the account leaves after the last of its games.
pub(super) const LEAVES_WITHIN: Duration = Duration::from_secs(15 * 60);

impl World<'_> {
    pub(super) fn note_full(&mut self) {
        let has_room = self.program.as_ref().is_some_and(|program| program.has_room(self.run.now));
        if !has_room || !self.seats.has_free() {
            self.full = self.run.now;
        }
    }

    /// Checks the law about the games that run, are agreed on, and are now proposed. The last one is against a bot, or not.
    pub(super) fn check_capacity(&mut self, proposed: usize, is_bot: bool) -> Checked {
        let Some(program) = &self.program else { return Ok(()) };
        let (playing, agreed) = (program.with_clock(), program.agreed(self.run.now) + proposed);
        let own = program.config.concurrency.get() as usize;
        let (taken, seats) = (program.seated() + agreed + self.others.len(), self.plan.seats);
        let for_bots = own.saturating_sub(program.config.challenge.reserved_for_humans);
        let bots = program.against_bots(self.run.now) + if is_bot { proposed } else { 0 };
        let is_bounded = playing + agreed <= own && taken <= seats && (!is_bot || bots <= for_bots);
        self.run.check(&laws::CAPACITY, is_bounded, || {
            format!(
                "{playing} games and {agreed} agreed on, of {own}; {bots} with bots, of {for_bots}; {taken} seats taken, of {seats}"
            )
        })
    }

    /// Returns whether the account is to leave.
    pub(super) fn is_leaving(&self) -> bool {
        self.stopped.is_some() || self.program.as_ref().is_some_and(Program::has_played_all)
    }

    /// Returns for how long nothing has kept the account from what it has known of since then.
    fn undisturbed_since(&self, known: Duration) -> Duration {
        let since = known.max(self.disturbed).max(self.full).max(self.stream.lost_events());
        self.run.now.saturating_sub(since)
    }

    /// Checks that a game which is about to end was played.
    pub(super) fn check_played(&mut self, id: GameId) -> Checked {
        let Some(game) = self.server.games.get(&id).filter(|game| !game.is_over()) else { return Ok(()) };
        let is_clocked = !game.is_correspondence;
        let Some(known) = game.known.filter(|_| is_clocked && !self.is_leaving()) else { return Ok(()) };
        let (is_begun, waits) = (game.is_begun, self.undisturbed_since(known));
        self.run.check(&laws::PLAYED, is_begun || waits < PATIENCE, || {
            format!("{id} is not played, although nothing disturbed that for {waits:?}")
        })
    }

    /// Checks that a challenge which is about to end was answered, or had to wait.
    pub(super) fn check_answered(&mut self, id: ChallengeId) -> Checked {
        let Some(challenge) = self.server.challenges.get(&id) else { return Ok(()) };
        let is_due = !challenge.is_answered && !challenge.is_correspondence && self.program.is_some();
        let Some(known) = challenge.known.filter(|_| is_due && !self.is_leaving()) else { return Ok(()) };
        let waits = self.undisturbed_since(known);
        self.run.check(&laws::ANSWERED, waits < PATIENCE / 2, || format!("{id} waits for {waits:?}"))
    }

    /// Checks that all is well again after the faults, then stops the program.
    pub(super) fn settled(&mut self) -> Checked {
        let is_online = self.program.is_some() && self.stream.is_seen();
        let is_leaving = self.stopped.is_some();
        let stream = format!("{:?}", self.stream);
        self.run.check(&laws::ONLINE, is_online || is_leaving, || format!("the stream is {stream}"))?;
        let running: Vec<_> = self.server.running().map(|(id, _)| id).collect();
        running.into_iter().try_for_each(|id| self.check_played(id))?;
        let open: Vec<_> = self.server.challenges.keys().copied().collect();
        open.into_iter().try_for_each(|id| self.check_answered(id))?;
        if self.program.is_some() && self.stopped.is_none() { self.stop() } else { Ok(()) }
    }

    /// Checks that the account has left, unless a game still goes on that it plays.
    pub(super) fn must_have_left(&mut self) -> Checked {
        let Some(program) = &self.program else { return Ok(()) };
        let played = program.tasks.keys().filter_map(|id| self.server.games.get(id));
        let last = played.filter(|game| !game.is_correspondence).map(|game| game.ends).max();
        match last.filter(|last| *last + LEAVES_WITHIN > self.run.now) {
            Some(last) => {
                self.in_program(last + LEAVES_WITHIN - self.run.now, ProgramEvent::MustHaveLeft);
                Ok(())
            }
            None => self.run.check(&laws::LEAVES, false, || {
                let tasks: Vec<_> = program.tasks.keys().map(GameId::to_string).collect();
                format!("{LEAVES_WITHIN:?} after its last game, with the tasks {tasks:?}")
            }),
        }
    }
}
