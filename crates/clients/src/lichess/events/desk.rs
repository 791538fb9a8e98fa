//! Challenges to us: judged, accepted, declined.

use std::time::{Duration, Instant};

use tokio::time::sleep;
use tracing::{debug, info, warn};

use zeitnot_wire::lichess::{Challenge, ChallengeId, Compat, Decline, DeclineReason, Form};

use super::{
    super::{
        challenges::{Place, Verdict},
        http::{Http, HttpError},
        limits::Kind,
    },
    Account,
    errands::{Answered, unless_unauthorized},
};

/// So many refusals may be on their way; beyond that, challenges are left to die by themselves.
const MOST_NOTES: usize = 256;
/// How often a challenge is accepted where the network fails.
const ATTEMPTS: u32 = 3;

impl Account<'_> {
    /// Somebody wants to play us.
    pub(super) fn challenged(&mut self, challenge: &Challenge, compat: Option<Compat>) {
        if self.places.knows(challenge.id) || self.sleepers.knows(challenge.id.into()) {
            return;
        }
        if self.leaving {
            return self.decline(challenge, DeclineReason::Later);
        }
        if compat.is_some_and(|compat| !compat.bot) {
            return self.decline(challenge, DeclineReason::Generic);
        }
        match self.desk.judge(challenge, self.running(), Instant::now()) {
            Verdict::Accept => self.accept(challenge),
            Verdict::Queue => debug!("{}'s challenge {} waits", who(challenge), challenge.id),
            Verdict::Decline(reason) => self.decline(challenge, reason),
        }
    }

    /// Accepts who waits, as far as there are places.
    pub(super) fn serve(&mut self) {
        while let Some(challenge) = self.desk.next(self.running(), Instant::now()) {
            self.accept(&challenge);
        }
    }

    fn accept(&mut self, challenge: &Challenge) {
        let id = challenge.id;
        info!("accepting {}'s challenge {id}: {}", who(challenge), challenge.time_control);
        self.places.accept(id, Place::of(challenge), Instant::now());
        // Ours must not be accepted where this one takes the last place.
        let stale = self.stale();
        let http = self.table.http.clone();
        let challenge = challenge.clone();
        self.errands.spawn(async move {
            if let Some(stale) = stale {
                cancel(&http, stale).await;
            }
            let result = accept(&http, id).await;
            Answered::Accepted(Box::new(challenge), result)
        });
    }

    /// The server's answer to our acceptance.
    pub(super) fn accepted(
        &mut self,
        challenge: &Challenge,
        result: Result<(), HttpError>,
    ) -> Result<(), HttpError> {
        let Err(error) = result else { return Ok(()) };
        let id = challenge.id;
        if error.is_doubtful() {
            // The place is kept until it must have become a game.
            warn!("cannot tell whether challenge {id} is accepted: {error}");
            return Ok(());
        }
        self.places.vanish(id);
        match error.bots_rest() {
            Some((wait, is_us)) => {
                if is_us {
                    self.rest_from_bots(wait);
                }
                self.decline(challenge, DeclineReason::Later);
            }
            None if matches!(error, HttpError::NotFound) => debug!("challenge {id} is no more"),
            None if self.table.http.tally().tell("challenges that could not be accepted", Instant::now()) => {
                warn!("cannot accept challenge {id}: {error}");
            }
            None => debug!("cannot accept challenge {id}: {error}"),
        }
        unless_unauthorized(error)
    }

    /// Who asks in chat is told who waits.
    pub(super) fn tell_queue(&self) {
        let name = |challenge: &Challenge| challenge.challenger.as_ref().map(|user| user.name.clone());
        self.table.voice.queue(self.desk.waiting().filter_map(name).collect());
    }

    /// Somebody who waited is told that we leave.
    pub(super) fn turn_away(&mut self, challenge: &Challenge) {
        self.decline(challenge, DeclineReason::Later);
    }

    fn decline(&mut self, challenge: &Challenge, reason: DeclineReason) {
        let id = challenge.id;
        if self.table.http.tally().tell(&format!("challenges declined: {reason}"), Instant::now()) {
            info!("declining {}'s challenge {id}: {reason}", who(challenge));
        }
        if self.notes.len() >= MOST_NOTES {
            return debug!("challenge {id} is left unanswered: too many are");
        }
        let http = self.table.http.clone();
        self.notes.spawn(async move {
            let form = Decline { reason }.to_form();
            match http.post(Kind::Decline, &format!("api/challenge/{id}/decline"), Some(form)).await {
                Ok(()) | Err(HttpError::NotFound) => {}
                Err(error) => debug!("cannot decline challenge {id}: {error}"),
            }
        });
    }
}

/// Accepts a challenge, again where the network fails.
async fn accept(http: &Http, id: ChallengeId) -> Result<(), HttpError> {
    let mut backoff = http.patience().backoff();
    let mut attempts = 0;
    loop {
        attempts += 1;
        let result = http.post(Kind::Challenge, &format!("api/challenge/{id}/accept"), None).await;
        match result {
            // It was accepted before, most likely: then a game begins.
            Err(HttpError::NotFound) if attempts > 1 => return Ok(()),
            Err(error) if error.is_doubtful() && attempts < ATTEMPTS => {
                sleep(backoff.pause(Duration::ZERO)).await;
            }
            other => return other,
        }
    }
}

/// Takes a challenge of ours back, and the game with it that it may just have become.
pub(super) async fn cancel(http: &Http, id: ChallengeId) {
    match http.post(Kind::Challenge, &format!("api/challenge/{id}/cancel"), None).await {
        Ok(()) => debug!("challenge {id} is taken back"),
        Err(error) => debug!("challenge {id} cannot be taken back: {error}"),
    }
}

fn who(challenge: &Challenge) -> &str {
    challenge.challenger.as_ref().map_or("anonymous", |user| user.id.as_str())
}
