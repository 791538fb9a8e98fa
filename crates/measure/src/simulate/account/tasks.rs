//! Tasks of the games that the program follows and plays.

use std::time::Duration;

use zeitnot_clients::lichess::simulation::{GameEnd, GameFinish, Input};
use zeitnot_seat::{Opponent, Reservation};
use zeitnot_wire::lichess::GameId;

use super::{
    super::run::Checked,
    checks::LEAVES_WITHIN,
    laws,
    program::Task,
    server::{Origin, player},
    world::{ProgramEvent, World, WorldEvent},
};

/// Longest time between two look-ups of a game without news.
const MAX_OVERDUE: Duration = Duration::from_secs(1800);

impl World<'_> {
    pub(super) fn begin(&mut self, id: GameId) -> Checked {
        let is_leaving = self.is_leaving();
        let Some(program) = &mut self.program else { return Ok(()) };
        let game = self.server.games.get(&id);
        let is_first = !program.tasks.contains_key(&id);
        let is_known = game.is_some_and(|game| game.known.is_some());
        self.run.check(&laws::BEGINS_ONCE, is_first && is_known, || {
            format!("{id} is begun; for the first time: {is_first}, known: {is_known}")
        })?;
        let Some(game) = game else { return Ok(()) };
        let is_agreed = matches!(game.origin, Origin::Accepted | Origin::Ours);
        let may_begin = !is_leaving || is_agreed || game.has_moved || game.is_correspondence;
        self.run.check(&laws::NO_NEW_GAMES, may_begin, || format!("{id} is begun, a new game"))?;
        let (is_correspondence, is_over, ends) = (game.is_correspondence, game.is_over(), game.ends);
        let agreed = program.agreed.remove(&id.into()).filter(|agreed| agreed.is_pending(self.run.now));
        let is_bot = agreed.is_some_and(|agreed| agreed.is_bot);
        program.tasks.insert(id, Task { seat: None, is_correspondence, is_bot, told: None });
        self.in_program(Duration::from_secs(1), ProgramEvent::OpponentKnown(id));
        if is_over || is_correspondence {
            let length = if is_over { self.run.millis(100..2000) } else { self.run.secs(10..60) };
            self.in_program(length, ProgramEvent::TaskEnds(id));
        } else {
            let minute = Duration::from_secs(60);
            self.in_program(ends.saturating_sub(self.run.now) + minute, ProgramEvent::Overdue(id, minute));
            if self.run.one_in(4) {
                self.in_program(minute, ProgramEvent::Overdue(id, minute));
            }
        }
        Ok(())
    }

    /// A game gets its seat, and is played from now on.
    pub(super) fn seat(&mut self, id: GameId, seat: Reservation) {
        let Some(task) = self.task(id) else { return };
        task.seat = Some(seat);
        if let Some(game) = self.server.games.get_mut(&id) {
            game.is_begun = true;
        }
        self.after_secs(5..20, WorldEvent::Moved(id));
    }

    /// The program has looked up whom it plays.
    pub(super) fn opponent_known(&mut self, id: GameId) -> Checked {
        let Some(game) = self.server.games.get(&id) else { return Ok(()) };
        let is_bot = player(game.opponent).is_bot();
        if let Some(task) = self.task(id) {
            task.is_bot |= is_bot;
        }
        let opponent = if is_bot { Opponent::Bot } else { Opponent::Human };
        self.tell(Input::OpponentKnown(id, opponent))
    }

    /// A game's task is told that the game is over. The first end counts.
    pub(super) fn finish_game(&mut self, id: GameId, finish: GameFinish) -> Checked {
        let is_over = self.server.games.get(&id).is_some_and(|game| game.is_over());
        // While the server is away, nobody can know.
        let is_given_up = self.is_leaving() && finish == GameFinish::Unanswered;
        let Some(task) = self.program.as_mut().and_then(|program| program.tasks.get_mut(&id)) else {
            return Ok(());
        };
        self.run.check(&laws::RESULT, is_over || is_given_up, || {
            format!("{id} is told to be over, which it is not: {finish:?}")
        })?;
        let is_same = match (&task.told, &finish) {
            (Some(told @ GameFinish::Told { .. }), GameFinish::Told { .. }) => *told == finish,
            _ => true,
        };
        self.run.check(&laws::RESULT, is_same, || format!("{id}: {:?}, then {finish:?}", task.told))?;
        if task.told.is_none() {
            task.told = Some(finish);
            self.in_program(Duration::from_millis(100), ProgramEvent::TaskEnds(id));
        }
        Ok(())
    }

    /// A game's task ends: the game is over, or is suspended.
    pub(super) fn task_ends(&mut self, id: GameId) -> Checked {
        let Some(game) = self.server.games.get_mut(&id) else { return Ok(()) };
        let Some(program) = &mut self.program else { return Ok(()) };
        let Some(task) = program.tasks.get(&id) else { return Ok(()) };
        let is_told = task.told.is_some();
        if game.is_over() || is_told {
            program.tasks.remove(&id);
            program.ended += 1;
            if program.has_played_all() {
                self.in_program(LEAVES_WITHIN, ProgramEvent::MustHaveLeft);
            }
            self.requests.game_ended(id.into());
            self.tell(Input::GameEnded(id, Some(GameEnd::Over)))?;
        } else if game.is_correspondence {
            // We have moved, if we could.
            game.is_my_turn &= task.seat.is_none();
            program.tasks.remove(&id);
            self.after_secs(30..1200, WorldEvent::OurTurn(id));
            self.tell(Input::GameEnded(id, Some(GameEnd::Suspended)))?;
        } else {
            return Ok(());
        }
        self.seats_changed();
        Ok(())
    }

    pub(super) fn task_crashes(&mut self) -> Checked {
        let Some(program) = &mut self.program else { return Ok(()) };
        let Some(id) = program.tasks.keys().next().copied() else { return Ok(()) };
        program.tasks.remove(&id);
        if let Some(game) = self.server.games.get_mut(&id) {
            (game.is_begun, game.known) = (false, Some(self.run.now));
        }
        self.requests.game_ended(id.into());
        self.tell(Input::GameEnded(id, None))?;
        self.seats_changed();
        Ok(())
    }

    /// A game has been without news for longer than its clocks allow.
    pub(super) fn overdue(&mut self, id: GameId, period: Duration) -> Checked {
        if self.task(id).is_none() {
            return Ok(());
        }
        // News comes while it runs.
        if self.server.games.get(&id).is_none_or(|game| game.is_over()) {
            self.in_program(period, ProgramEvent::Overdue(id, (2 * period).min(MAX_OVERDUE)));
        }
        self.tell(Input::Overdue(vec![id]))
    }
}
