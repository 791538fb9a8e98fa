//! Between the state machine and the world: inputs, effects, and the mutants that distort them.

use std::{fmt, time::Duration};

use zeitnot_clients::lichess::simulation::{
    AccountSetup, AccountState, DeclineHistory, Effect, GameFinish, HttpError, Input, PlayerLists, Reply,
    Request,
};
use zeitnot_seat::Seats;
use zeitnot_wire::lichess::{Event, GameId};

use super::{
    super::run::Checked,
    checks::LEAVES_WITHIN,
    laws,
    program::{Agreed, Program},
    server::{ME, PLAYERS, number_of, player},
    world::{ProgramEvent, World, WorldEvent},
};

/// Wakes without effect in a minute, at most.
const MAX_IDLE_WAKES: usize = 60;

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
        let setup = AccountSetup {
            config: self.account_config(),
            me: player(PLAYERS).id.clone(),
            players: PlayerLists::new(self.plan.config.players.clone()),
            history: self.saved.clone().or_else(|| Some(DeclineHistory::default())),
            seats: self.account_seats(),
            seed: self.run.rng.u64(..),
            unix_time: Duration::from_secs(1_700_000_000) + self.run.now,
        };
        let state = AccountState::new(setup, self.base + self.run.now);
        self.run.note(format_args!("{ME} starts"));
        self.closed_until = Default::default();
        self.program = Some(Program::new(state, self.plan.config.clone()));
        self.schedule_wake();
        self.reopen_stream(Duration::ZERO);
    }

    /// Seats of the lobby, as the account sees them.
    fn account_seats(&self) -> Seats {
        match self.run.has(&laws::OLD_CAPACITY) {
            true => Seats::new(1000),
            false => self.seats.clone(),
        }
    }

    /// Tells the state machine, and does what it wants done.
    pub(super) fn tell(&mut self, input: Input) -> Checked {
        if let Input::Event(event) = &input {
            self.note_told(event);
        }
        let heard = self.heard(input)?;
        heard.into_iter().flatten().try_for_each(|input| self.hear(input))
    }

    fn hear(&mut self, input: Input) -> Checked {
        let (is_order, is_wake) = (matches!(input, Input::Order(_)), matches!(input, Input::Wake));
        let finished = self.finished_by(&input);
        let Some(program) = &mut self.program else { return Ok(()) };
        self.run.step(format_args!("> {}", Shown(&input)));
        let effects = program.state.on(input, self.base + self.run.now);
        if is_wake && effects.is_empty() {
            let wakes = program.woken_in_vain(self.run.now);
            let is_calm = wakes <= MAX_IDLE_WAKES;
            self.run.check(&laws::NO_BUSY_LOOP, is_calm, || format!("{wakes} wakes without effect"))?;
        }
        let answers = effects.iter().filter(|effect| matches!(effect, Effect::Answer(_))).count();
        let answers = answers * if self.run.has(&laws::ANSWER_TWICE) { 2 } else { 1 };
        self.run.check(&laws::ORDERS, answers == usize::from(is_order), || format!("{answers} answers"))?;
        for effect in effects {
            let done = self.done(effect);
            done.into_iter().flatten().try_for_each(|effect| self.perform(effect))?;
        }
        if let Some((id, finish)) = finished {
            let told = self.task(id).and_then(|task| task.told.clone());
            self.run.check(&laws::RESULT, told.as_ref() == Some(&finish), || {
                format!("{id}: the account was told {finish:?}, the task {told:?}")
            })?;
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

    pub(super) fn schedule_wake(&mut self) {
        let Some(program) = &self.program else { return };
        let due = program.state.due().map(|due| due.saturating_duration_since(self.base).max(self.run.now));
        let due = self.woken_at(due);
        if let Some(program) = self.program.as_mut().filter(|program| program.wake_at != due) {
            program.wake_at = due;
            if let Some(at) = due {
                self.in_program(at - self.run.now, ProgramEvent::Wake);
            }
        }
    }

    /// Seats were taken or freed.
    pub(super) fn seats_changed(&mut self) {
        if let Some(program) = &mut self.program {
            program.wake_at = Some(self.run.now);
            self.in_program(Duration::ZERO, ProgramEvent::Wake);
        }
    }

    pub(super) fn wake(&mut self) -> Checked {
        let Some(program) = &mut self.program else { return Ok(()) };
        if program.wake_at != Some(self.run.now) {
            return Ok(());
        }
        program.wake_at = None;
        self.tell(Input::Wake)
    }

    fn perform(&mut self, effect: Effect) -> Checked {
        match &effect {
            Effect::Waiting(_) | Effect::News(_) => {}
            Effect::Seat(id, _) => self.run.note(format_args!("    Seat({id})")),
            effect => self.run.note(format_args!("    {effect:?}")),
        }
        match effect {
            Effect::Send(request) => self.send_checked(request),
            Effect::Begin { game, .. } => self.begin(game),
            Effect::Seat(id, seat) => {
                self.seat(id, seat);
                Ok(())
            }
            Effect::Finish(id, finish) => self.finish_game(id, finish),
            Effect::RequestSlot(id) => {
                self.in_program(Duration::from_millis(200), ProgramEvent::TaskEnds(id));
                Ok(())
            }
            Effect::ReopenStream => {
                self.reopen_stream(Duration::ZERO);
                Ok(())
            }
            Effect::Answer(_) | Effect::News(_) | Effect::Waiting(_) => Ok(()),
            Effect::Leave(result) => self.leaves(&result),
        }
    }

    /// Checks the laws about games that are agreed on, and sends the request.
    fn send_checked(&mut self, request: Request) -> Checked {
        let agrees = matches!(request, Request::Accept { .. } | Request::Challenge(..) | Request::Join(_));
        let may_send = !agrees || !self.is_leaving();
        self.run.check(&laws::NO_NEW_GAMES, may_send, || format!("{request:?}"))?;
        match &request {
            Request::Accept { challenge, .. } => {
                let open = self.server.challenges.get(challenge);
                if let Some(open) = open.filter(|open| !open.is_correspondence)
                    && let Some(program) = &mut self.program
                {
                    let is_bot = player(open.player).is_bot();
                    program.agreed.insert(*challenge, Agreed { since: None, is_bot });
                    self.check_capacity(0, is_bot)?;
                }
            }
            Request::Challenge(opponent, ours) if ours.time.clock().is_some() => {
                let is_bot = number_of(opponent).is_some_and(|number| player(number).is_bot());
                self.check_capacity(1, is_bot)?;
            }
            _ => {}
        }
        if let Request::Cancel(ours) | Request::Accept { instead_of: Some(ours), .. } = &request
            && let Some(program) = &mut self.program
        {
            program.cancelled.insert(*ours);
        }
        if let Request::Accept { challenge, .. } | Request::Decline { challenge, .. } = &request {
            // It is answered, as far as the account knows.
            let open = self.server.challenges.get_mut(challenge);
            open.into_iter().for_each(|challenge| challenge.is_answered = true);
        }
        self.send(request)
    }

    pub(super) fn kill(&mut self) {
        if self.program.take().is_none() {
            return;
        }
        self.run.note(format_args!("{ME} is killed"));
        self.generation += 1;
        self.requests.killed();
        self.forget_known();
        let ours = self.server.challenges.iter().filter(|(_, challenge)| challenge.is_ours);
        let ours: Vec<_> = ours.map(|(id, _)| *id).collect();
        ours.into_iter().for_each(|id| self.lapses(id));
        self.disturbed = self.run.now;
        if self.stopped.is_some() {
            return self.finish();
        }
        self.after_secs(1..60, WorldEvent::Start);
    }

    pub(super) fn stop(&mut self) -> Checked {
        if self.program.is_none() || self.stopped.is_some() {
            return Ok(());
        }
        self.stopped = Some(self.run.now);
        self.tell(Input::Stop)?;
        self.in_program(LEAVES_WITHIN, ProgramEvent::MustHaveLeft);
        Ok(())
    }

    fn leaves(&mut self, result: &Result<(), HttpError>) -> Checked {
        let is_playing = self.program.as_ref().is_some_and(|program| !program.tasks.is_empty());
        let may_leave = match result {
            Ok(()) => self.is_leaving() && !is_playing,
            Err(_) => self.is_revoked(),
        };
        self.run.check(&laws::STAYS, may_leave, || format!("left with {result:?}"))?;
        self.finish();
        Ok(())
    }

    pub(super) fn is_revoked(&self) -> bool {
        self.plan.revoked.is_some_and(|at| self.run.now >= at)
    }
}
