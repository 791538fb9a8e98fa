//! Between the state machine and the world: inputs, effects, and the mutants that distort them.

use std::{collections::BTreeMap, fmt, time::Duration};

use zeitnot_clients::lichess::simulation::{
    AccountSetup, AccountState, DeclineHistory, Effect, GameFinish, HttpError, Input, PlayerLists, Reply,
    Request,
};
use zeitnot_seat::Seats;
use zeitnot_wire::lichess::{ChallengeId, Event, GameId};

use super::{
    super::history::Broken,
    checks::LEAVES_WITHIN,
    laws, mutants,
    plan::seconds,
    program::Program,
    server::{ME, PLAYERS, player},
    world::{Happening, World},
};

/// Wakes at the same moment at most.
const MAX_WAKES: u32 = 20;

/// An input, as the history shows it.
struct Shown<'i>(&'i Input);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Input::StreamOpened => f.write_str("the stream is open"),
            Input::StreamClosed(error) => write!(f, "the stream is refused: {error}"),
            Input::Event(Event::GameStart { game }) => write!(f, "gameStart {}", game.game_id),
            Input::Event(Event::GameFinish { game }) => write!(f, "gameFinish {}", game.game_id),
            Input::Event(Event::Challenge { challenge, .. }) => write!(f, "challenge {}", challenge.id),
            Input::Event(Event::ChallengeCanceled { challenge }) => {
                write!(f, "challengeCanceled {}", challenge.id)
            }
            Input::Event(Event::ChallengeDeclined { challenge }) => {
                write!(f, "challengeDeclined {}", challenge.id)
            }
            Input::Event(Event::Other(_)) => f.write_str("unknown event"),
            Input::Reply(Reply::RunningGames(Ok(list))) => {
                f.write_str("running games:")?;
                list.iter().try_for_each(|game| write!(f, " {}", game.game_id))
            }
            Input::Reply(Reply::Opponents(Ok(_))) => f.write_str("opponents"),
            Input::Reply(reply) => write!(f, "{reply:?}"),
            Input::Unauthorized => f.write_str("401"),
            Input::Overdue(games) => write!(f, "no news of {games:?}"),
            Input::OpponentKnown(id, _) => write!(f, "the opponent of {id} is known"),
            Input::GameEnded(id, end) => write!(f, "the task of {id} ends: {end:?}"),
            Input::Order(_) => f.write_str("an order"),
            Input::Reconfigured(_) => f.write_str("another configuration"),
            Input::Stop => f.write_str("stop"),
            Input::Wake => f.write_str("wake"),
        }
    }
}

impl World<'_> {
    pub(super) fn start(&mut self) {
        let mut config = self.plan.config.clone();
        if self.is(&mutants::TOO_MANY) {
            config.concurrency = config.concurrency.saturating_add(2);
        }
        let setup = AccountSetup {
            config,
            me: player(PLAYERS).id.clone(),
            players: PlayerLists::new(self.plan.config.players.clone()),
            history: self.saved.clone().or_else(|| Some(DeclineHistory::default())),
            seats: self.account_seats(),
            seed: self.rng.u64(..),
            unix_time: Duration::from_secs(1_700_000_000) + self.now,
        };
        let state = AccountState::new(setup, self.base + self.now);
        self.history.note(self.now, format_args!("{ME} starts"));
        let config = self.plan.config.clone();
        let (tasks, agreed) = (BTreeMap::new(), BTreeMap::new());
        let program = Program { state, config, tasks, agreed, now: self.now, wake_at: None, wakes: 0 };
        self.program = Some(program);
        self.schedule_wake();
        self.reopen_stream(Duration::ZERO);
    }

    /// Places of the lobby, as the account sees them.
    fn account_seats(&self) -> Seats {
        match self.is(&mutants::OLD_CAPACITY) {
            true => Seats::new(1000),
            false => self.seats.clone(),
        }
    }

    /// Tells the state machine, and does what it wants done.
    pub(super) fn tell(&mut self, input: Input) -> Result<(), Broken> {
        let (is_order, chain) = (matches!(input, Input::Order(_)), self.begins_old_chain(&input));
        let finished = self.finished_by(&input);
        if let Input::Event(event) = &input {
            self.note_known(event);
        }
        if self.is_swallowed(&input) {
            return Ok(());
        }
        let Some(program) = &mut self.program else { return Ok(()) };
        program.advance(self.now);
        if let Input::Event(Event::ChallengeCanceled { challenge } | Event::ChallengeDeclined { challenge }) =
            &input
        {
            program.agreed.remove(&challenge.id);
        }
        self.history.step(self.now, format_args!("> {}", Shown(&input)));
        let effects = program.state.on(input, self.base + self.now);
        let has_looked_up =
            effects.iter().any(|effect| matches!(effect, Effect::Send(Request::RunningGames)));
        let answers = effects.iter().filter(|effect| matches!(effect, Effect::Answer(_))).count();
        let answers = answers + usize::from(is_order && self.is(&mutants::ANSWER_TWICE));
        self.history
            .check(&laws::ORDERS, answers == usize::from(is_order), || format!("{answers} answers"))?;
        for effect in effects {
            self.perform(effect)?;
        }
        if let Some((id, finish)) = finished {
            let told = self.program.as_ref().and_then(|program| program.tasks.get(&id)?.told.clone());
            self.history.check(&laws::RESULT, told.as_ref() == Some(&finish), || {
                format!("{id}: the account was told {finish:?}, the task {told:?}")
            })?;
        }
        if chain && !has_looked_up {
            self.send(Request::RunningGames)?;
        }
        self.schedule_wake();
        Ok(())
    }

    /// Returns the running game whose end an input tells, and how it ended.
    fn finished_by(&self, input: &Input) -> Option<(GameId, GameFinish)> {
        let Input::Event(Event::GameFinish { game }) = input else { return None };
        let task = self.program.as_ref()?.tasks.get(&game.game_id)?;
        let finish = GameFinish::Told { status: game.status.clone(), winner: game.winner };
        task.told.is_none().then_some((game.game_id, finish))
    }

    /// Returns whether a mutant hides an input.
    fn is_swallowed(&mut self, input: &Input) -> bool {
        match input {
            Input::Wake => self.is(&mutants::NO_WAKE),
            Input::Stop => self.is(&mutants::DEAF_TO_STOP),
            Input::Event(Event::Challenge { .. }) => self.is(&mutants::LOSE_CHALLENGE) && self.rng.bool(),
            _ => false,
        }
    }

    /// Returns whether an input began a chain of look-ups in the old logic, beside those that run.
    fn begins_old_chain(&self, input: &Input) -> bool {
        let is_cause = matches!(input, Input::Overdue(_) | Input::StreamOpened | Input::GameEnded(_, None));
        self.is(&mutants::OLD_LOOKUPS) && is_cause && self.program.is_some()
    }

    pub(super) fn schedule_wake(&mut self) {
        let is_restless = self.is(&mutants::RESTLESS);
        let Some(program) = &mut self.program else { return };
        let due = program.state.due().map(|due| due.saturating_duration_since(self.base).max(self.now));
        let due = if is_restless { Some(self.now) } else { due };
        if due != program.wake_at {
            program.wake_at = due;
            due.into_iter().for_each(|at| self.queue.add(at, Happening::Wake(self.run)));
        }
    }

    /// Places were taken or freed.
    pub(super) fn seats_changed(&mut self) {
        if let Some(program) = &mut self.program {
            program.wake_at = Some(self.now);
            self.queue.add(self.now, Happening::Wake(self.run));
        }
    }

    pub(super) fn wake(&mut self) -> Result<(), Broken> {
        let Some(program) = &mut self.program else { return Ok(()) };
        if program.wake_at != Some(self.now) {
            return Ok(());
        }
        program.wake_at = None;
        program.advance(self.now);
        program.wakes += 1;
        let (wakes, now) = (program.wakes, self.now);
        self.history.check(&laws::CALM, wakes <= MAX_WAKES, || format!("{wakes} wakes at {now:?}"))?;
        self.tell(Input::Wake)
    }

    fn perform(&mut self, effect: Effect) -> Result<(), Broken> {
        if !matches!(effect, Effect::Waiting(_) | Effect::News(_)) {
            self.history.note(self.now, format_args!("    {effect:?}"));
        }
        match effect {
            Effect::Send(request) => self.send_checked(request),
            Effect::Begin { game, .. } => self.begin(game),
            Effect::Seat(id, seat) => {
                self.seat(id, seat);
                Ok(())
            }
            Effect::Finish(_, GameFinish::Unanswered) if self.is(&mutants::RUNS_ON) => Ok(()),
            Effect::Finish(id, GameFinish::Told { .. }) if self.is(&mutants::LOSE_RESULT) => {
                self.finish_game(id, GameFinish::Unlisted)
            }
            Effect::Finish(id, finish) => self.finish_game(id, finish),
            Effect::RequestSlot(id) => {
                self.after(Duration::from_millis(200), Happening::TaskEnds(self.run, id));
                Ok(())
            }
            Effect::ReopenStream if self.is(&mutants::KEEP_STREAM) => Ok(()),
            Effect::ReopenStream => {
                self.reopen_stream(Duration::ZERO);
                Ok(())
            }
            Effect::Answer(_) | Effect::News(_) | Effect::Waiting(_) => Ok(()),
            Effect::Leave(result) => self.leaves(&result),
        }
    }

    /// Checks the laws about games that are agreed on, and sends the request.
    fn send_checked(&mut self, request: Request) -> Result<(), Broken> {
        let agrees = matches!(request, Request::Accept { .. } | Request::Challenge(..) | Request::Join(_));
        let is_quiet = self.stopped.is_none() || !agrees;
        self.history.check(&laws::QUIET, is_quiet, || format!("{request:?}"))?;
        let is_clocked =
            |id| self.server.challenges.get(id).is_some_and(|challenge| !challenge.is_correspondence);
        if let Request::Accept { challenge, .. } = &request
            && is_clocked(challenge)
            && let Some(program) = &mut self.program
        {
            program.agreed.insert(*challenge, None);
            let (playing, agreed) = (program.with_clock(), program.agreed());
            let own = program.config.concurrency.get() as usize;
            let taken = program.seated() + agreed + self.others.len();
            let is_bounded = playing + agreed <= own && taken <= self.plan.seats;
            self.history.check(&laws::CAPACITY, is_bounded, || {
                format!(
                    "{playing} games and {agreed} agreed on, of {own}; {taken} places taken, of {}",
                    self.plan.seats
                )
            })?;
        }
        if let Request::Accept { challenge, .. } | Request::Decline { challenge, .. } = &request {
            // It is answered, as far as the account knows.
            let open = self.server.challenges.get_mut(challenge);
            open.into_iter().for_each(|challenge| challenge.is_answered = true);
        }
        let again = match &request {
            Request::RunningGames if self.is(&mutants::REPEAT_LOOKUP) => Some(Request::RunningGames),
            Request::Accept { challenge, .. } if self.is(&mutants::REPEAT_ACCEPT) => {
                Some(Request::Accept { challenge: *challenge, instead_of: None })
            }
            _ => None,
        };
        self.send(request)?;
        again.map_or(Ok(()), |request| self.send(request))
    }

    /// Notes the reply to an acceptance.
    pub(super) fn accepted(&mut self, id: ChallengeId, may_begin: bool) {
        if may_begin {
            self.know_game(id.into());
        }
        let Some(program) = &mut self.program else { return };
        if !may_begin {
            program.agreed.remove(&id);
        } else if let Some(since) = program.agreed.get_mut(&id) {
            *since = Some(self.now);
        }
    }

    pub(super) fn kill(&mut self) {
        if self.program.take().is_none() {
            return;
        }
        self.history.note(self.now, format_args!("{ME} is killed"));
        self.run += 1;
        self.requests.killed();
        self.forget_known();
        let ours = self.server.challenges.iter().filter(|(_, challenge)| challenge.is_ours);
        let ours: Vec<_> = ours.map(|(id, _)| *id).collect();
        ours.into_iter().for_each(|id| self.lapses(id));
        self.disturbed = self.now;
        if self.stopped.is_some() {
            return self.finish();
        }
        let pause = seconds(&mut self.rng, 1..60);
        self.after(pause, Happening::Start);
    }

    pub(super) fn stop(&mut self) -> Result<(), Broken> {
        if self.program.is_none() || self.stopped.is_some() {
            return Ok(());
        }
        self.stopped = Some(self.now);
        self.tell(Input::Stop)?;
        self.after(LEAVES_WITHIN, Happening::MustHaveLeft);
        Ok(())
    }

    fn leaves(&mut self, result: &Result<(), HttpError>) -> Result<(), Broken> {
        let games = self.program.as_ref().is_some_and(|program| program.config.games.is_some());
        let is_revoked = self.is_revoked();
        let may_leave = match result {
            Ok(()) => self.stopped.is_some() || games,
            Err(_) => is_revoked,
        };
        self.history.check(&laws::STAYS, may_leave, || format!("left with {result:?}"))?;
        self.finish();
        Ok(())
    }

    pub(super) fn is_revoked(&self) -> bool {
        self.plan.revoked.is_some_and(|at| self.now >= at)
    }
}
