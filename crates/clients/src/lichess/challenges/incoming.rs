//! Incoming challenges: the requests that accept and decline them.

use std::time::Instant;

use backon::Retryable;
use tracing::{debug, info, warn};
use zeitnot_seat::{ChallengeNews, Lobby};
use zeitnot_wire::lichess::{Challenge, ChallengeId, Decline, DeclineReason, Form, UserId};

use super::{
    capacity::RunningGames,
    queue::{ChallengeQueue, Verdict},
};
use crate::lichess::{Background, BotLimit, Http, HttpError, RequestKind, Tasks, terms::terms};

/// Requests that may run in the background; beyond that, challenges are left to expire.
const MAX_DECLINES: usize = 256;
/// Attempts at accepting a challenge when the network fails.
const ATTEMPTS: usize = 3;

/// The server's reply to our acceptance.
pub(crate) type Accepted = (Box<Challenge>, Result<(), HttpError>);

#[derive(Debug)]
pub(crate) struct IncomingChallenges {
    http: Http,
    lobby: Lobby,
    server: String,
    pub(crate) queue: ChallengeQueue,
    pub(crate) accepting: Tasks<Accepted>,
}

/// Effect of the reply to our acceptance on the rest of the account.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Acceptance {
    /// A game begins, as far as we know.
    Stands,
    /// No game begins; we may have reached the limit of games against bots.
    Failed(Option<BotLimit>),
}

impl IncomingChallenges {
    pub(crate) fn new(http: Http, queue: ChallengeQueue, lobby: Lobby, server: String) -> IncomingChallenges {
        IncomingChallenges { http, lobby, server, queue, accepting: Tasks::default() }
    }

    fn report(&self, challenge: &Challenge, declined: Option<&DeclineReason>) {
        self.lobby.challenge_answered(|| ChallengeNews {
            server: self.server.clone(),
            by: name(challenge).to_owned(),
            terms: format!("{} {}", challenge.variant.key, challenge.time_control),
            declined: declined.map(DeclineReason::to_string),
        });
    }

    /// Judges a challenge, and declines it if need be. Returns whether it is to be accepted now.
    pub(crate) fn receive(
        &mut self,
        challenge: &Challenge,
        running: RunningGames,
        games_with: impl Fn(&UserId) -> usize,
        background: &mut Background,
    ) -> bool {
        match self.queue.judge(challenge, running, games_with, Instant::now()) {
            Verdict::Accept => return true,
            Verdict::Queue => debug!("{}'s challenge {} waits", name(challenge), challenge.id),
            Verdict::Decline(reason) => self.decline(challenge, reason, background),
        }
        false
    }

    /// Accepts a challenge, after cancelling `ours`, which must not be accepted any more.
    pub(crate) fn accept(&mut self, challenge: Challenge, ours: Option<ChallengeId>) {
        let id = challenge.id;
        self.report(&challenge, None);
        let terms = terms(&challenge.variant.key, &challenge.time_control, challenge.rated);
        info!("accepting {}'s challenge {id}: {terms}", name(&challenge));
        let http = self.http.clone();
        self.accepting.spawn(async move {
            if let Some(ours) = ours {
                cancel(&http, ours).await;
            }
            let result = accept(&http, id).await;
            (Box::new(challenge), result)
        });
    }

    pub(crate) fn accepted(
        &mut self,
        (challenge, result): Accepted,
        background: &mut Background,
    ) -> Acceptance {
        let Err(error) = result else { return Acceptance::Stands };
        let id = challenge.id;
        if error.is_inconclusive() {
            // Its slot is kept until it must have become a game.
            warn!("cannot tell whether challenge {id} is accepted: {error}");
            return Acceptance::Stands;
        }
        let limit = error.bot_limit();
        let is_gone = matches!(error, HttpError::NotFound | HttpError::Unauthorized);
        if limit.is_some() {
            self.decline(&challenge, DeclineReason::Later, background);
        } else if !is_gone && self.http.log().admits("challenges that could not be accepted", Instant::now())
        {
            warn!("cannot accept challenge {id}: {error}");
        } else {
            debug!("cannot accept challenge {id}: {error}");
        }
        Acceptance::Failed(limit)
    }

    pub(crate) fn decline(
        &mut self,
        challenge: &Challenge,
        reason: DeclineReason,
        background: &mut Background,
    ) {
        let id = challenge.id;
        self.report(challenge, Some(&reason));
        if self.http.log().admits(&format!("challenges declined: {reason}"), Instant::now()) {
            info!("declining {}'s challenge {id}: {reason}", name(challenge));
        }
        if background.len() >= MAX_DECLINES {
            return debug!("challenge {id} is left to expire: too many are being declined");
        }
        let path = format!("api/challenge/{id}/decline");
        background.post(RequestKind::Decline, path, Some(Decline { reason }.to_form()));
    }

    /// Declines what waits of a player who is blocked now.
    pub(crate) fn decline_of(&mut self, player: &UserId, background: &mut Background) {
        for waiting in self.queue.remove_of(player) {
            self.decline(&waiting, DeclineReason::Generic, background);
        }
    }

    pub(crate) fn close(&mut self, background: &mut Background) {
        for waiting in self.queue.clear() {
            self.decline(&waiting, DeclineReason::Later, background);
        }
    }

    /// Returns the names of those who wait, the next one first.
    pub(crate) fn waiting_names(&self) -> Vec<String> {
        let name = |challenge: &Challenge| challenge.challenger.as_ref().map(|user| user.name.clone());
        self.queue.waiting().filter_map(name).collect()
    }
}

/// Accepts a challenge, with further attempts where the network fails.
async fn accept(http: &Http, id: ChallengeId) -> Result<(), HttpError> {
    let path = &format!("api/challenge/{id}/accept");
    let mut attempts = 0;
    let attempt = || {
        attempts += 1;
        let is_repeated = attempts > 1;
        async move {
            match http.post(RequestKind::Challenge, path, None).await {
                // An earlier attempt was accepted, most likely: then a game begins.
                Err(HttpError::NotFound) if is_repeated => Ok(()),
                other => other,
            }
        }
    };
    let delays = http.timeouts().reconnect.delays().take(ATTEMPTS - 1);
    attempt.retry(delays).when(HttpError::is_inconclusive).await
}

/// Cancels a challenge of ours, or the game that it may just have become.
pub(crate) async fn cancel(http: &Http, id: ChallengeId) {
    match http.post(RequestKind::Challenge, &cancel_path(id), None).await {
        Ok(()) => debug!("challenge {id} is cancelled"),
        Err(error) => debug!("challenge {id} cannot be cancelled: {error}"),
    }
}

pub(crate) fn cancel_path(id: ChallengeId) -> String {
    format!("api/challenge/{id}/cancel")
}

fn name(challenge: &Challenge) -> &str {
    challenge.challenger.as_ref().map_or("anonymous", |user| user.id.as_str())
}
