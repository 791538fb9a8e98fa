//! Pending challenges.

use serde::{Deserialize, Serialize};
use tokio::time::Instant;
use zeitnot_rules::Color;
use zeitnot_wire::{
    Message,
    lichess::{
        Challenge, ChallengeEnd, ChallengeId, ChallengeStatus, Compat, DeclineReason, Event, Keepalive,
        UserId,
    },
};

use super::{
    accounts::Accounts,
    answer::{Answer, Outcome, Refusal},
    dirty_map::DirtyMap,
    streams::{LineKind, LineSender, Lines, feed},
    terms::Terms,
};

const MAX_OPEN: usize = 100;
/// Challenges at the beginning of a stream.
const MAX_LISTED: usize = 100;

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Pending {
    pub(super) challenge: Challenge,
    pub(super) from: UserId,
    pub(super) to: UserId,
    pub(super) terms: Terms,
    /// When it expires, unless its challenger keeps it alive.
    #[serde(skip)]
    pub(super) expires: Option<Instant>,
    /// The stream that keeps it alive.
    #[serde(skip)]
    pub(super) waiting: Option<LineSender>,
}

#[derive(Debug, Default)]
pub(super) struct Challenges {
    pub(super) map: DirtyMap<ChallengeId, Pending>,
}

impl Challenges {
    pub(super) fn of(&self, who: &UserId) -> impl Iterator<Item = &Challenge> {
        self.map
            .values()
            .filter(move |pending| pending.from == *who || pending.to == *who)
            .take(MAX_LISTED)
            .map(|p| &p.challenge)
    }

    pub(super) fn check_room(&self, from: &UserId) -> Result<(), Refusal> {
        match self.map.values().filter(|pending| pending.from == *from).count() < MAX_OPEN {
            true => Ok(()),
            false => Err(Refusal::too_many("Too many open challenges")),
        }
    }

    /// Adds a challenge and tells both. If the challenger waits for its end, there is a stream for that.
    pub(super) fn add(
        &mut self,
        mut pending: Pending,
        waits: bool,
        accounts: &Accounts,
    ) -> (Answer, Option<Lines>) {
        let challenge = Box::new(pending.challenge.clone());
        let compat = Some(Compat { bot: true, board: false });
        let event = Event::Challenge { challenge: challenge.clone(), compat };
        [&pending.from, &pending.to].into_iter().for_each(|id| accounts.tell(id, &event));
        let created = Keepalive::Created(challenge);
        let mut lines = None;
        if waits {
            let (waiting, stream) = feed(vec![created.to_line()]);
            (pending.waiting, pending.expires, lines) = (Some(waiting), None, Some(stream));
        }
        self.map.insert(pending.challenge.id, pending);
        (Answer::value(&created), lines)
    }

    /// The challenge, if this account can accept or decline it.
    pub(super) fn to(&self, who: &UserId, id: ChallengeId) -> Result<&Pending, Refusal> {
        self.map.get(&id).filter(|pending| pending.to == *who).ok_or_else(gone)
    }

    pub(super) fn accept(&mut self, id: ChallengeId, accounts: &Accounts) -> Result<Pending, Refusal> {
        self.close(id, ChallengeEnd::Accepted, accounts).ok_or_else(gone)
    }

    pub(super) fn decline(
        &mut self,
        who: &UserId,
        id: ChallengeId,
        reason: DeclineReason,
        accounts: &Accounts,
    ) -> Outcome {
        let pending = self.map.get_mut(&id).filter(|pending| pending.to == *who).ok_or_else(gone)?;
        let reason = if let DeclineReason::Other(_) = reason { DeclineReason::Generic } else { reason };
        pending.challenge.decline_reason = Some(explain(&reason).to_owned());
        pending.challenge.decline_reason_key = Some(reason);
        self.close(id, ChallengeEnd::Declined, accounts);
        Ok(Answer::done())
    }

    pub(super) fn cancel(&mut self, id: ChallengeId, accounts: &Accounts) {
        self.close(id, ChallengeEnd::Canceled, accounts);
    }

    /// Cancels challenges whose time is over, or whose challenger has gone.
    pub(super) fn expire(&mut self, accounts: &Accounts, now: Instant) {
        let is_dead = |pending: &Pending| {
            let has_left = pending.waiting.as_ref().is_some_and(|feed| !feed.is_read());
            has_left || pending.expires.is_some_and(|at| now >= at)
        };
        let dead: Vec<_> =
            self.map.iter().filter(|(_, pending)| is_dead(pending)).map(|(id, _)| *id).collect();
        dead.into_iter().for_each(|id| self.cancel(id, accounts));
    }

    /// Closes the streams that keep the account's challenges alive, which cancels them.
    pub(super) fn stop_waiting(&mut self, who: &UserId) {
        for pending in self.map.values_mut_clean().filter(|pending| pending.from == *who) {
            if let Some(waiting) = &mut pending.waiting {
                *waiting = feed(Vec::new()).0;
            }
        }
    }

    fn close(&mut self, id: ChallengeId, end: ChallengeEnd, accounts: &Accounts) -> Option<Pending> {
        let mut pending = self.map.remove(&id)?;
        pending.challenge.status = Some(match end {
            ChallengeEnd::Accepted => ChallengeStatus::Accepted,
            ChallengeEnd::Declined => ChallengeStatus::Declined,
            _ => ChallengeStatus::Canceled,
        });
        let challenge = Box::new(pending.challenge.clone());
        let event = match end {
            ChallengeEnd::Declined => Some(Event::ChallengeDeclined { challenge }),
            ChallengeEnd::Canceled => Some(Event::ChallengeCanceled { challenge }),
            _ => None,
        };
        if let Some(waiting) = pending.waiting.take() {
            waiting.send(LineKind::Event, Keepalive::Done { done: end }.to_line());
        }
        for id in [&pending.from, &pending.to] {
            event.iter().for_each(|event| accounts.tell(id, event));
        }
        Some(pending)
    }
}

impl Pending {
    /// White's and Black's account.
    pub(super) fn players(&self) -> [&UserId; 2] {
        match self.challenge.final_color {
            Some(Color::Black) => [&self.to, &self.from],
            _ => [&self.from, &self.to],
        }
    }
}

pub(super) fn gone() -> Refusal {
    Refusal::missing("No such challenge")
}

fn explain(reason: &DeclineReason) -> &'static str {
    match reason {
        DeclineReason::Generic | DeclineReason::Other(_) => "I'm not accepting challenges at the moment.",
        DeclineReason::Later => "This is not the right time for me, please ask again later.",
        DeclineReason::TooFast => {
            "This time control is too fast for me, please challenge again with a slower game."
        }
        DeclineReason::TooSlow => {
            "This time control is too slow for me, please challenge again with a faster game."
        }
        DeclineReason::TimeControl => "I'm not accepting challenges with this time control.",
        DeclineReason::Rated => "Please send me a rated challenge instead.",
        DeclineReason::Casual => "Please send me a casual challenge instead.",
        DeclineReason::Standard => "I'm not accepting variant challenges right now.",
        DeclineReason::Variant => "I'm not willing to play this variant right now.",
        DeclineReason::NoBot => "I'm not accepting challenges from bots.",
        DeclineReason::OnlyBot => "I'm only accepting challenges from bots.",
    }
}
