//! Incoming challenges: judged, accepted now or later, or declined. No I/O and no clock.

use std::collections::BTreeMap;

use tracing::debug;
use zeitnot_seat::{ChallengeNews, News};
use zeitnot_wire::lichess::{Challenge, ChallengeId, DeclineReason, UserId};

use super::queue::ChallengeQueue;
use crate::lichess::{
    BotLimit, HttpError,
    account::interface::{Effect, Request},
    terms::terms,
};

/// Acceptances at once, which also wait for their replies where their challenges are cancelled; more are declined.
const MAX_ACCEPTANCES: usize = 256;
/// Declines at once; beyond that, challenges are left to expire.
const MAX_DECLINES: usize = 256;

#[derive(Debug)]
pub(crate) struct IncomingChallenges {
    server: String,
    pub(crate) queue: ChallengeQueue,
    /// Challenges that are being accepted.
    accepting: BTreeMap<ChallengeId, Challenge>,
    /// Declines that are being sent.
    declining: usize,
}

impl IncomingChallenges {
    pub(crate) fn new(queue: ChallengeQueue, server: String) -> IncomingChallenges {
        IncomingChallenges { server, queue, accepting: BTreeMap::new(), declining: 0 }
    }

    fn news(&self, challenge: &Challenge, declined: Option<&DeclineReason>) -> Effect {
        Effect::News(News::Answered(ChallengeNews {
            server: self.server.clone(),
            by: name(challenge).to_owned(),
            terms: format!("{} {}", challenge.variant.key, challenge.time_control),
            declined: declined.map(DeclineReason::to_string),
        }))
    }

    /// Accepts a challenge, after cancelling one of ours, which must not be accepted any more.
    pub(crate) fn accept(
        &mut self,
        challenge: Challenge,
        instead_of: Option<ChallengeId>,
        effects: &mut Vec<Effect>,
    ) {
        let id = challenge.id;
        let terms = terms(&challenge.variant.key, &challenge.time_control, challenge.rated);
        tracing::info!("accepting {}'s challenge {id}: {terms}", name(&challenge));
        effects.push(self.news(&challenge, None));
        effects.push(Effect::Send(Request::Accept { challenge: id, instead_of }));
        self.accepting.insert(id, challenge);
    }

    /// Returns whether our acceptance of a challenge has no reply yet.
    pub(crate) fn is_accepting(&self, id: ChallengeId) -> bool {
        self.accepting.contains_key(&id)
    }

    /// Returns whether another challenge may be accepted now.
    pub(crate) fn has_room(&self) -> bool {
        self.accepting.len() < MAX_ACCEPTANCES
    }

    /// Notes the reply to our acceptance: a game begins, as far as we know.
    ///
    /// # Errors
    /// No game begins; we may have reached the limit of games against bots.
    pub(crate) fn accepted(
        &mut self,
        id: ChallengeId,
        result: Result<(), HttpError>,
        effects: &mut Vec<Effect>,
    ) -> Result<(), Option<BotLimit>> {
        let challenge = self.accepting.remove(&id);
        match result {
            Ok(()) => Ok(()),
            // Its slot is kept until it must have become a game.
            Err(error) if error.is_inconclusive() => Ok(()),
            Err(error) => {
                let limit = error.bot_limit();
                if let Some(challenge) = challenge.filter(|_| limit.is_some()) {
                    self.decline(&challenge, DeclineReason::Later, effects);
                }
                Err(limit)
            }
        }
    }

    pub(crate) fn decline(
        &mut self,
        challenge: &Challenge,
        reason: DeclineReason,
        effects: &mut Vec<Effect>,
    ) {
        effects.push(self.news(challenge, Some(&reason)));
        if self.declining >= MAX_DECLINES {
            return debug!("challenge {} is left to expire: too many are being declined", challenge.id);
        }
        self.declining += 1;
        effects.push(Effect::Send(Request::Decline { challenge: challenge.id, reason }));
    }

    /// A decline was sent, or has failed.
    pub(crate) fn declined(&mut self) {
        self.declining = self.declining.saturating_sub(1);
    }

    /// Declines what waits of a player who is blocked now.
    pub(crate) fn decline_of(&mut self, player: &UserId, effects: &mut Vec<Effect>) {
        for waiting in self.queue.remove_of(player) {
            self.decline(&waiting, DeclineReason::Generic, effects);
        }
    }

    pub(crate) fn close(&mut self, effects: &mut Vec<Effect>) {
        for waiting in self.queue.clear() {
            self.decline(&waiting, DeclineReason::Later, effects);
        }
    }

    /// Returns the names of those who wait, the next one first.
    pub(crate) fn waiting_names(&self) -> Vec<String> {
        let name = |challenge: &Challenge| challenge.challenger.as_ref().map(|user| user.name.clone());
        self.queue.waiting().filter_map(name).collect()
    }
}

fn name(challenge: &Challenge) -> &str {
    challenge.challenger.as_ref().map_or("anonymous", |user| user.id.as_str())
}
