//! Tasks of the games that the program follows and plays.

use std::time::Duration;

use zeitnot_clients::lichess::simulation::{GameEnd, GameFinish, Input};
use zeitnot_seat::{Opponent, Reservation};
use zeitnot_wire::lichess::GameId;

use super::{
    super::history::Broken,
    laws, mutants,
    plan::{millis, seconds},
    program::Task,
    server::{Origin, player},
    world::{Happening, World},
};

/// Longest time between two look-ups of a game without news.
const MAX_OVERDUE: Duration = Duration::from_secs(1800);

impl World<'_> {
    pub(super) fn begin(&mut self, id: GameId) -> Result<(), Broken> {
        let Some(program) = &mut self.program else { return Ok(()) };
        let game = self.server.games.get(&id);
        let is_first = !program.tasks.contains_key(&id) && self.mutant != Some(mutants::BEGIN_TWICE.name);
        let is_known = game.is_some_and(|game| game.known.is_some());
        self.history.check(&laws::BEGINS_ONCE, is_first && is_known, || {
            format!("{id} is begun; for the first time: {is_first}, known: {is_known}")
        })?;
        let Some(game) = game else { return Ok(()) };
        let is_agreed = matches!(game.origin, Origin::Accepted | Origin::Ours);
        let may_begin = self.stopped.is_none() || is_agreed || game.has_moved || game.is_correspondence;
        self.history.check(&laws::QUIET, may_begin, || format!("{id} is begun, a new game"))?;
        if self.mutant == Some(mutants::LOSE_BEGIN.name) && self.rng.u8(..4) == 0 {
            return Ok(());
        }
        let (is_correspondence, is_over, ends) = (game.is_correspondence, game.is_over(), game.ends);
        program.agreed.remove(&id.into());
        program.tasks.insert(id, Task { seat: None, is_correspondence, told: None });
        self.after(Duration::from_secs(1), Happening::OpponentKnown(self.run, id));
        if is_over || is_correspondence {
            let length =
                if is_over { millis(&mut self.rng, 100..2000) } else { seconds(&mut self.rng, 10..60) };
            self.after(length, Happening::TaskEnds(self.run, id));
        } else {
            let minute = Duration::from_secs(60);
            self.queue.add(ends.max(self.now) + minute, Happening::Overdue(self.run, id, minute));
            if self.rng.u8(..4) == 0 {
                self.after(minute, Happening::Overdue(self.run, id, minute));
            }
        }
        Ok(())
    }

    /// A game gets its place, and is played from now on.
    pub(super) fn seat(&mut self, id: GameId, seat: Reservation) {
        let Some(task) = self.program.as_mut().and_then(|program| program.tasks.get_mut(&id)) else { return };
        task.seat = Some(seat);
        if let Some(game) = self.server.games.get_mut(&id) {
            game.is_begun = true;
        }
        let moved = seconds(&mut self.rng, 5..20);
        self.after(moved, Happening::Moved(id));
    }

    /// The program has looked up whom it plays.
    pub(super) fn opponent_known(&mut self, id: GameId) -> Result<(), Broken> {
        let Some(game) = self.server.games.get(&id) else { return Ok(()) };
        let opponent = if player(game.opponent).is_bot() { Opponent::Bot } else { Opponent::Human };
        self.tell(Input::OpponentKnown(id, opponent))
    }

    /// A game's task is told that the game is over. The first end counts.
    pub(super) fn finish_game(&mut self, id: GameId, finish: GameFinish) -> Result<(), Broken> {
        let is_over = self.server.games.get(&id).is_some_and(|game| game.is_over());
        // While the server is away, nobody can know.
        let is_counted = self.program.as_ref().is_some_and(|program| program.config.games.is_some());
        let is_leaving = self.stopped.is_some() || is_counted;
        let is_given_up = is_leaving && finish == GameFinish::Unanswered;
        let Some(task) = self.program.as_mut().and_then(|program| program.tasks.get_mut(&id)) else {
            return Ok(());
        };
        self.history.check(&laws::RESULT, is_over || is_given_up, || {
            format!("{id} is told to be over, which it is not: {finish:?}")
        })?;
        let is_same = match (&task.told, &finish) {
            (Some(told @ GameFinish::Told { .. }), GameFinish::Told { .. }) => *told == finish,
            _ => true,
        };
        self.history.check(&laws::RESULT, is_same, || format!("{id}: {:?}, then {finish:?}", task.told))?;
        if task.told.is_none() {
            task.told = Some(finish);
            self.after(Duration::from_millis(100), Happening::TaskEnds(self.run, id));
        }
        Ok(())
    }

    /// A game's task ends: the game is over, or is suspended.
    pub(super) fn task_ends(&mut self, id: GameId) -> Result<(), Broken> {
        let Some(game) = self.server.games.get_mut(&id) else { return Ok(()) };
        let Some(program) = &mut self.program else { return Ok(()) };
        let Some(task) = program.tasks.get(&id) else { return Ok(()) };
        let is_told = task.told.is_some();
        if game.is_over() || is_told {
            program.tasks.remove(&id);
            self.tell(Input::GameEnded(id, Some(GameEnd::Over)))?;
        } else if game.is_correspondence {
            // We have moved, if we could.
            game.is_my_turn &= task.seat.is_none();
            program.tasks.remove(&id);
            let turn = seconds(&mut self.rng, 30..1200);
            self.after(turn, Happening::OurTurn(id));
            self.tell(Input::GameEnded(id, Some(GameEnd::Suspended)))?;
        } else {
            return Ok(());
        }
        self.seats_changed();
        Ok(())
    }

    pub(super) fn task_crashes(&mut self) -> Result<(), Broken> {
        let Some(program) = &mut self.program else { return Ok(()) };
        let Some(id) = program.tasks.keys().next().copied() else { return Ok(()) };
        program.tasks.remove(&id);
        if let Some(game) = self.server.games.get_mut(&id) {
            (game.is_begun, game.known) = (false, Some(self.now));
        }
        self.tell(Input::GameEnded(id, None))?;
        self.seats_changed();
        Ok(())
    }

    /// A game has been without news for longer than its clocks allow.
    pub(super) fn overdue(&mut self, id: GameId, period: Duration) -> Result<(), Broken> {
        if !self.program.as_ref().is_some_and(|program| program.tasks.contains_key(&id)) {
            return Ok(());
        }
        // News comes while it runs.
        if self.server.games.get(&id).is_none_or(|game| game.is_over()) {
            self.after(period, Happening::Overdue(self.run, id, (2 * period).min(MAX_OVERDUE)));
        }
        self.tell(Input::Overdue(vec![id]))
    }
}
