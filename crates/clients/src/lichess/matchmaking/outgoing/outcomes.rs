//! Outcomes of our challenges.

use std::{
    mem,
    time::{Duration, Instant},
};

use tracing::{info, warn};
use zeitnot_seat::ChallengeState;
use zeitnot_wire::lichess::{Challenge, ChallengeEnd, ChallengeId, DeclineReason, GameEvent, UserId};

use super::{OpenChallenge, OutgoingChallenges};
use crate::lichess::{
    BotLimit, HttpError,
    account::interface::{Effect, Request},
    challenges::capacity::SlotKind,
    matchmaking::{
        decline_history::GameType,
        not_now::{MAX_WAIT, time},
    },
    terms::terms,
};

/// Longest reason of a decline that is shown, in bytes.
const MAX_REASON: usize = 200;
/// Declines in a minute that are logged. We send few challenges, but a server may tell of any number.
const MAX_DECLINES: usize = 20;
const MINUTE: Duration = Duration::from_secs(60);

impl OutgoingChallenges {
    /// The server has taken our challenge, or not. Returns the limit of games against bots if we have reached it.
    pub(crate) fn created(
        &mut self,
        result: Result<ChallengeId, HttpError>,
        now: Instant,
        effects: &mut Vec<Effect>,
    ) -> Option<BotLimit> {
        let is_given_up = mem::take(&mut self.awaits_reply);
        match (result, self.open.as_mut().filter(|_| !is_given_up)) {
            (Ok(id), Some(open)) => {
                (open.id, open.since) = (Some(id), now);
                let (to, terms) = (open.opponent.clone(), open.terms.clone());
                effects.push(self.news(Some(id), &to, &terms, ChallengeState::Open));
                None
            }
            (Ok(id), None) => {
                effects.push(Effect::Send(Request::Cancel(id)));
                None
            }
            (Err(error), Some(_)) => self.refused(&error, now, effects),
            (Err(_), None) => None,
        }
    }

    fn refused(&mut self, error: &HttpError, now: Instant, effects: &mut Vec<Effect>) -> Option<BotLimit> {
        let why = match error {
            HttpError::NotFound => "the server knows no such player".to_owned(),
            _ => error.to_string(),
        };
        let refused = self.close(ChallengeState::Ended(why), now, effects)?;
        self.awaits_reply = false;
        self.series_refused(&refused, error, now);
        let mut pause = String::new();
        if let HttpError::Limited { wait, .. } = error {
            self.pause(*wait, now);
            pause = format!("; the next one in {}", time(wait));
        }
        match error.bot_limit() {
            // The opponent was not unwilling, so the next one may be asked soon.
            Some(BotLimit::Theirs(wait)) => {
                info!("the opponent has reached its limit of games against bots");
                let time = self.time(now);
                self.history.unavailable(&refused.opponent, time + wait.min(MAX_WAIT), time);
                self.is_unsaved = true;
                None
            }
            None => {
                warn!("our challenge was not created: {error}{pause}");
                None
            }
            ours => ours,
        }
    }

    /// Notes the end of the stream that kept a challenge of ours alive, with the end of the challenge if the stream
    /// reported it. Returns the opponent and the slot if it was accepted and its game has not begun yet.
    pub(crate) fn ended(
        &mut self,
        id: ChallengeId,
        end: Option<ChallengeEnd>,
        now: Instant,
        effects: &mut Vec<Effect>,
    ) -> Option<(UserId, SlotKind)> {
        match end {
            Some(ChallengeEnd::Accepted) => self.accepted(id, now, effects),
            // The events tell the reason, now or before.
            Some(end) => {
                self.gone(id, ChallengeState::Ended(end.to_string()), now, effects);
                None
            }
            // The server keeps none alive, or the connection broke: it is cancelled in time.
            None => None,
        }
    }

    fn accepted(
        &mut self,
        id: ChallengeId,
        now: Instant,
        effects: &mut Vec<Effect>,
    ) -> Option<(UserId, SlotKind)> {
        let open = self.gone(id, ChallengeState::Accepted, now, effects)?;
        self.history.accepted(&open.opponent);
        self.is_unsaved = true;
        self.series_accepted(&open, id.into());
        Some((open.opponent, open.slot))
    }

    /// Cancels an open challenge to a player, who is blocked now.
    pub(crate) fn withdraw_from(&mut self, player: &UserId, now: Instant, effects: &mut Vec<Effect>) {
        self.end_series_against(player, "the player is blocked");
        if self.open.as_ref().is_some_and(|open| open.opponent == *player) {
            let why = "withdrawn: the player is blocked".to_owned();
            let open = self.close(ChallengeState::Ended(why), now, effects);
            effects.extend(open.and_then(|open| open.id).map(|id| Effect::Send(Request::Cancel(id))));
        }
    }

    /// A challenge of ours, perhaps of an earlier run, was declined.
    pub(crate) fn declined(&mut self, challenge: &Challenge, now: Instant, effects: &mut Vec<Effect>) {
        let reason = challenge.decline_reason_key.as_ref().unwrap_or(&DeclineReason::Generic);
        // The server's words are for people; the key is short.
        let words = challenge.decline_reason.as_deref().filter(|words| words.len() <= MAX_REASON);
        let state = ChallengeState::Ended(format!("declined: {}", words.unwrap_or(reason.as_str())));
        let open = self.gone(challenge.id, state.clone(), now, effects);
        let Some(opponent) = &challenge.dest_user else { return };
        if self.declines.count(MINUTE, now) < MAX_DECLINES {
            self.declines.push(now);
            info!("{} declines our challenge: {}", opponent.id, reason.as_str());
        }
        if open.is_none() {
            let terms = terms(&challenge.variant.key, &challenge.time_control, challenge.rated);
            effects.push(self.news(Some(challenge.id), &opponent.id, &terms, state));
        }
        let game = GameType {
            speed: challenge.time_control.speed(),
            variant: challenge.variant.key.clone(),
            mode: challenge.rated.into(),
        };
        let time = self.time(now);
        self.history.declined(&opponent.id, reason, &game, self.config.delay_after_decline, time);
        self.is_unsaved = true;
    }

    pub(crate) fn cancelled(&mut self, id: ChallengeId, now: Instant, effects: &mut Vec<Effect>) {
        self.gone(id, ChallengeState::Ended(ChallengeEnd::Canceled.to_string()), now, effects);
    }

    /// Notes that a game begins. Returns whether it is that of a challenge without an order, and so against a bot. It may
    /// begin before the challenge's id is known.
    pub(crate) fn game_started(
        &mut self,
        event: &GameEvent,
        now: Instant,
        effects: &mut Vec<Effect>,
    ) -> bool {
        let id: ChallengeId = event.game_id.into();
        let is_its_game = |open: &&OpenChallenge| match open.id {
            Some(known) => known == id,
            None => event.opponent.id.as_ref() == Some(&open.opponent),
        };
        let is_against_bot = self.open.as_ref().filter(is_its_game).is_some_and(|open| !open.is_ordered);
        self.accepted(id, now, effects);
        is_against_bot
    }

    /// A challenge of ours does not exist any more. Returns it, if it was open.
    fn gone(
        &mut self,
        id: ChallengeId,
        end: ChallengeState,
        now: Instant,
        effects: &mut Vec<Effect>,
    ) -> Option<OpenChallenge> {
        self.open.as_ref().filter(|open| open.id == Some(id))?;
        let open = self.close(end.clone(), now, effects)?;
        if let ChallengeState::Ended(why) = end {
            self.series_ended(&open, &why);
        }
        Some(open)
    }

    /// Ends the open challenge, and reports how.
    pub(super) fn close(
        &mut self,
        end: ChallengeState,
        now: Instant,
        effects: &mut Vec<Effect>,
    ) -> Option<OpenChallenge> {
        let open = self.open.take()?;
        self.awaits_reply = open.id.is_none();
        self.delay(self.config.challenge_timeout, now);
        effects.push(self.news(open.id, &open.opponent, &open.terms, end));
        Some(open)
    }
}
