//! Mutants of the account: inputs and effects on their way between the state machine and the world are lost, changed or
//! repeated.

use std::{num::NonZeroU32, sync::Arc, time::Duration};

use zeitnot_clients::lichess::{
    Config,
    simulation::{Effect, GameEnd, GameFinish, Input, Reply, Request},
};
use zeitnot_wire::lichess::{ChallengeEnd, Event};

use super::{
    super::{law::Mutant, run::Checked},
    laws,
    world::{ProgramEvent, World},
};

const HALF_SECOND: Duration = Duration::from_millis(500);
/// Delay after which the old logic repeats a look-up that failed.
const OLD_DELAY: Duration = Duration::from_secs(2);

impl World<'_> {
    /// Returns the configuration as the account has it.
    pub(super) fn account_config(&self) -> Config {
        let mut config = self.plan.config.clone();
        if self.run.has(&laws::TOO_MANY) {
            config.concurrency = config.concurrency.saturating_add(2);
        }
        if self.run.has(&laws::NO_RESERVE) {
            config.challenge.reserved_for_humans = 0;
        }
        if self.run.has(&laws::COUNT_SHORT) {
            let fewer = |games: NonZeroU32| NonZeroU32::new(games.get() - 1);
            config.games = config.games.and_then(fewer).or(config.games);
        }
        config
    }

    /// Returns whether one of two mutants is planted: the other one only concerns accounts with `games`.
    fn has_either(&self, mutant: &Mutant, counted: &Mutant) -> bool {
        let is_counted = self.program.as_ref().is_some_and(|program| program.config.games.is_some());
        self.run.has(mutant) || is_counted && self.run.has(counted)
    }

    /// Returns what the account hears of an input: nothing, or once, or twice.
    pub(super) fn heard(&mut self, input: Input) -> Checked<[Option<Input>; 2]> {
        let accept_again = match &input {
            Input::Reply(Reply::Accepted(id, Ok(()))) if self.run.has(&laws::ACCEPT_AGAIN) => Some(*id),
            _ => None,
        };
        if let Some(challenge) = accept_again {
            self.send(Request::Accept { challenge, instead_of: None })?;
        }
        let begins_chain =
            matches!(input, Input::Overdue(_) | Input::StreamOpened | Input::GameEnded(_, None));
        if begins_chain && self.run.has(&laws::OLD_LOOKUPS) {
            self.send(Request::RunningGames)?;
        }
        let heard = match input {
            Input::Wake if self.run.has(&laws::NO_WAKE) => return Ok([None, None]),
            Input::Stop if self.run.has(&laws::IGNORE_STOP) => return Ok([None, None]),
            Input::Event(Event::Challenge { .. })
                if self.has_either(&laws::LOSE_CHALLENGE, &laws::LOSE_COUNTED) && self.run.one_in(2) =>
            {
                return Ok([None, None]);
            }
            Input::Event(Event::ChallengeCanceled { .. }) if self.run.has(&laws::LOSE_WITHDRAWAL) => {
                return Ok([None, None]);
            }
            Input::Reply(Reply::RunningGames(Err(_))) if self.run.has(&laws::OLD_LOOKUPS) => {
                self.in_program(OLD_DELAY, ProgramEvent::OldLookup);
                return Ok([None, None]);
            }
            Input::Reply(Reply::RunningGames(Ok(_))) if self.run.has(&laws::SHORT_LIST) => {
                Input::Reply(Reply::RunningGames(Ok(Arc::default())))
            }
            Input::Reply(Reply::ChallengeEnded(id, Some(ChallengeEnd::Accepted)))
                if self.run.has(&laws::FORGET_OURS) =>
            {
                Input::Reply(Reply::ChallengeEnded(id, Some(ChallengeEnd::Declined)))
            }
            Input::GameEnded(id, Some(GameEnd::Over)) if self.run.has(&laws::COUNT_NONE) => {
                Input::GameEnded(id, Some(GameEnd::Unplayed))
            }
            other => other,
        };
        Ok([Some(heard), None])
    }

    /// Returns what is done of an effect: nothing, or once, or twice.
    pub(super) fn done(&mut self, effect: Effect) -> [Option<Effect>; 2] {
        let again = match &effect {
            Effect::Send(Request::RunningGames) if self.run.has(&laws::REPEAT_LOOKUP) => {
                Some(Effect::Send(Request::RunningGames))
            }
            Effect::Send(Request::Accept { challenge, .. }) if self.run.has(&laws::REPEAT_ACCEPT) => {
                Some(Effect::Send(Request::Accept { challenge: *challenge, instead_of: None }))
            }
            &Effect::Begin { game, has_clock } if self.run.has(&laws::BEGIN_TWICE) => {
                Some(Effect::Begin { game, has_clock })
            }
            _ => None,
        };
        let done = match effect {
            Effect::Begin { .. }
                if self.has_either(&laws::SKIP_BEGIN, &laws::SKIP_COUNTED) && self.run.one_in(4) =>
            {
                None
            }
            Effect::Finish(_, GameFinish::Unanswered) if self.run.has(&laws::RUNS_ON) => None,
            Effect::Finish(id, GameFinish::Told { .. }) if self.run.has(&laws::LOSE_RESULT) => {
                Some(Effect::Finish(id, GameFinish::Unlisted))
            }
            Effect::ReopenStream if self.run.has(&laws::KEEP_STREAM) => None,
            Effect::Leave(Ok(())) if self.run.has(&laws::STAY_AFTER_GAMES) && self.stopped.is_none() => None,
            other => Some(other),
        };
        [done, again]
    }

    /// Returns when the account is woken, where something is due then.
    pub(super) fn woken_at(&self, due: Option<Duration>) -> Option<Duration> {
        match due {
            _ if self.run.has(&laws::ALWAYS_DUE) => Some(self.run.now),
            Some(due) if self.run.has(&laws::SOON_DUE) => Some(due.min(self.run.now + HALF_SECOND)),
            due => due,
        }
    }
}
