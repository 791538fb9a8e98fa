//! Laws about what must happen in time.

use std::time::Duration;

use zeitnot_wire::lichess::{ChallengeId, GameId};

use super::{
    super::history::Broken,
    laws,
    world::{Happening, World},
};

/// Time in which a game that we know of is begun, and a challenge answered, if nothing disturbs that.
const PATIENCE: Duration = Duration::from_secs(300);
/// Time in which the account leaves after the last of its games.
pub(super) const LEAVES_WITHIN: Duration = Duration::from_secs(15 * 60);

impl World<'_> {
    pub(super) fn note_full(&mut self) {
        if !self.program.as_ref().is_some_and(|program| program.has_place() && self.seats.has_free()) {
            self.full = self.now;
        }
    }

    /// Checks that a game which is about to end was played.
    pub(super) fn check_played(&mut self, id: GameId) -> Result<(), Broken> {
        let Some(game) = self.server.games.get(&id).filter(|game| !game.is_over()) else { return Ok(()) };
        // An account that counts its games leaves by itself.
        let is_counted = self.program.as_ref().is_some_and(|program| program.config.games.is_some());
        let is_leaving = self.stopped.is_some() || is_counted;
        let Some(known) = game.known.filter(|_| !game.is_correspondence && !is_leaving) else {
            return Ok(());
        };
        let since = known.max(self.disturbed).max(self.full).max(self.stream.lost_events());
        let waits = self.now.saturating_sub(since);
        self.history.check(&laws::PLAYED, game.is_begun || waits < PATIENCE, || {
            format!("{id} is not played, although nothing disturbed that for {waits:?}")
        })
    }

    /// Checks that a challenge which is about to end was answered, or had to wait.
    pub(super) fn check_answered(&mut self, id: ChallengeId) -> Result<(), Broken> {
        let Some(challenge) = self.server.challenges.get(&id) else { return Ok(()) };
        let is_limited = self.program.as_ref().is_none_or(|program| program.config.games.is_some());
        let Some(known) = challenge.known else { return Ok(()) };
        if challenge.is_answered || challenge.is_correspondence || is_limited || self.stopped.is_some() {
            return Ok(());
        }
        let since = known.max(self.disturbed).max(self.full).max(self.stream.lost_events());
        let waits = self.now.saturating_sub(since);
        self.history.check(&laws::ANSWERED, waits < PATIENCE / 2, || format!("{id} waits for {waits:?}"))
    }

    /// Checks that all is well again after the faults, then stops the program.
    pub(super) fn settled(&mut self) -> Result<(), Broken> {
        let is_online = self.program.is_some() && self.stream.is_seen();
        let is_leaving = self.stopped.is_some();
        let stream = format!("{:?}", self.stream);
        self.history.check(&laws::ONLINE, is_online || is_leaving, || format!("the stream is {stream}"))?;
        let running: Vec<_> = self.server.running().map(|(id, _)| id).collect();
        running.into_iter().try_for_each(|id| self.check_played(id))?;
        let open: Vec<_> = self.server.challenges.keys().copied().collect();
        open.into_iter().try_for_each(|id| self.check_answered(id))?;
        if self.program.is_some() && self.stopped.is_none() { self.stop() } else { Ok(()) }
    }

    /// Checks that the account has left, unless a game still goes on that it plays.
    pub(super) fn must_have_left(&mut self) -> Result<(), Broken> {
        let Some(program) = &self.program else { return Ok(()) };
        let played = program.tasks.keys().filter_map(|id| self.server.games.get(id));
        let last = played.filter(|game| !game.is_correspondence).map(|game| game.ends).max();
        match last.filter(|last| *last + LEAVES_WITHIN > self.now) {
            Some(last) => {
                self.queue.add(last + LEAVES_WITHIN, Happening::MustHaveLeft);
                Ok(())
            }
            None => self.history.check(&laws::LEAVES, false, || {
                let tasks: Vec<_> = program.tasks.keys().map(GameId::to_string).collect();
                format!("{LEAVES_WITHIN:?} after its last game, with the tasks {tasks:?}")
            }),
        }
    }
}
