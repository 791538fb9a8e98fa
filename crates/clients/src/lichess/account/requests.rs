//! The requests of an account, each performed to its reply.

use std::{
    io,
    path::PathBuf,
    time::{Duration, Instant},
};

use tokio::{
    task::spawn_blocking,
    time::{timeout, timeout_at},
};
use tracing::{debug, warn};
use zeitnot_wire::lichess::{ChallengeEnd, ChallengeId, Decline, Form, Keepalive, User, UserId, UserStatus};

use super::interface::{Reply, Request};
use crate::lichess::{
    Http, HttpError, Lines, RequestKind, matchmaking::decline_history::DeclineHistory,
    teams::tournament::JoinRequest,
};

/// Attempts at accepting a challenge when the network fails.
const ATTEMPTS: usize = 3;
/// Bots that are listed; the server's own maximum.
const MAX_BOTS: usize = 512;
/// The server writes the list slowly.
const LIST_TIMEOUT: Duration = Duration::from_secs(20);

#[derive(Clone, Debug)]
pub(crate) struct Requests {
    pub(crate) http: Http,
    pub(crate) me: UserId,
    /// File of the history of challenges.
    pub(crate) history_file: Option<PathBuf>,
}

impl Requests {
    /// Performs a request. A challenge of ours is kept alive by the rest of its reply, which is returned as well.
    pub(crate) async fn perform(self, request: Request) -> (Reply, Option<Lines>) {
        let http = &self.http;
        let reply = match request {
            Request::RunningGames => {
                let listed = http.running_games().await;
                Reply::RunningGames(listed.inspect_err(|error| {
                    http.warn_failure(error, format_args!("cannot list running games: {error}"));
                }))
            }
            Request::Token => Reply::Token(self.check_token().await),
            Request::Online => Reply::Online(self.is_online().await),
            Request::Opponents => Reply::Opponents(opponents(http).await.inspect_err(|error| {
                http.warn_failure(error, format_args!("cannot look up opponents: {error}"));
            })),
            Request::Accept { challenge, instead_of } => {
                if let Some(ours) = instead_of {
                    self.post(RequestKind::Challenge, cancel_path(ours), None).await;
                }
                Reply::Accepted(challenge, self.accept(challenge).await)
            }
            Request::Challenge(opponent, challenge) => {
                let path = format!("api/challenge/{opponent}");
                let (created, lines) = match challenge_by(http, &path, challenge.to_form()).await {
                    Ok((id, lines)) => (Ok(id), Some(lines)),
                    Err(error) => (Err(error), None),
                };
                return (Reply::Created(created), lines);
            }
            Request::Decline { challenge, reason } => {
                let path = format!("api/challenge/{challenge}/decline");
                self.post(RequestKind::Decline, path, Some(Decline { reason }.to_form())).await;
                Reply::Declined
            }
            Request::Cancel(id) => {
                self.post(RequestKind::Challenge, cancel_path(id), None).await;
                Reply::Done
            }
            Request::Abort(id) => {
                self.post(RequestKind::Abort, format!("api/bot/game/{id}/abort"), None).await;
                Reply::Aborted
            }
            Request::Withdraw(id) => {
                self.post(RequestKind::Join, format!("api/tournament/{id}/withdraw"), None).await;
                Reply::Done
            }
            Request::Join(request) => self.join(request).await,
            Request::Save(history) => Reply::Saved(self.save(history).await),
        };
        (reply, None)
    }

    /// Posts a request whose outcome changes nothing.
    async fn post(&self, kind: RequestKind, path: String, form: Option<String>) {
        // A challenge may be gone by the time that it is answered.
        let is_minor = matches!(kind, RequestKind::Challenge | RequestKind::Decline | RequestKind::Abort);
        match self.http.post(kind, &path, form).await {
            Ok(()) => debug!("{path}: done"),
            Err(error @ HttpError::Unauthorized) => debug!("{path}: {error}"),
            Err(error) if is_minor => debug!("{path}: {error}"),
            Err(error) => warn!("{path}: {error}"),
        }
    }

    async fn check_token(&self) -> Result<(), HttpError> {
        let checked = self.http.get::<User>(RequestKind::Account, "api/account").await.map(drop);
        match &checked {
            Ok(()) => {
                let message =
                    format_args!("the server refused a request as unauthorised, but our token is good");
                self.http.log().warn("requests refused although our token is good", message);
            }
            Err(error) => debug!("cannot check the token: {error}"),
        }
        checked
    }

    /// Asks whether the server sees us online. This also keeps a connection warm.
    async fn is_online(&self) -> Result<bool, HttpError> {
        if !self.http.site().tells_presence() {
            return self.http.get::<User>(RequestKind::Online, "api/account").await.map(|_| true);
        }
        let path = format!("api/users/status?ids={}", self.me);
        let statuses: Vec<UserStatus> = self.http.get(RequestKind::Online, &path).await?;
        Ok(statuses.iter().any(|status| status.id == self.me && status.online))
    }

    /// Accepts a challenge, with further attempts where the network fails. The limits of their kind space them.
    async fn accept(&self, id: ChallengeId) -> Result<(), HttpError> {
        let path = format!("api/challenge/{id}/accept");
        let mut result = self.http.post(RequestKind::Challenge, &path, None).await;
        for _ in 1..ATTEMPTS {
            if !result.as_ref().is_err_and(HttpError::is_inconclusive) {
                break;
            }
            result = match self.http.post(RequestKind::Challenge, &path, None).await {
                // An earlier attempt was accepted, most likely: then a game begins.
                Err(HttpError::NotFound) => Ok(()),
                other => other,
            };
        }
        if let Err(error) = &result {
            self.report_unaccepted(id, error);
        }
        result
    }

    fn report_unaccepted(&self, id: ChallengeId, error: &HttpError) {
        if error.is_inconclusive() {
            return warn!("cannot tell whether challenge {id} is accepted: {error}");
        }
        let is_usual = matches!(error, HttpError::NotFound | HttpError::Unauthorized);
        let subject = "challenges that could not be accepted";
        if error.bot_limit().is_none() && !is_usual && self.http.log().admits(subject, Instant::now()) {
            warn!("cannot accept challenge {id}: {error}");
        } else {
            debug!("cannot accept challenge {id}: {error}");
        }
    }

    async fn join(&self, request: JoinRequest) -> Reply {
        let http = &self.http;
        match request {
            JoinRequest::Team(team) => {
                let path = format!("team/{}/join", team.id);
                let result = http.post(RequestKind::Join, &path, Some(team.form())).await;
                Reply::Team(team.id, result)
            }
            JoinRequest::LookUp(id) => Reply::Tournament(
                id,
                http.get(RequestKind::Tournament, &format!("api/tournament/{id}")).await,
            ),
            JoinRequest::Tournament(tournament, pair_me) => {
                let path = format!("api/tournament/{}/join", tournament.id);
                let result = http.post(RequestKind::Join, &path, Some(tournament.form(pair_me))).await;
                Reply::Joined(tournament.id, result)
            }
        }
    }

    async fn save(self, history: DeclineHistory) -> io::Result<()> {
        let Some(file) = self.history_file.clone() else { return Ok(()) };
        let saved = spawn_blocking(move || history.save(&file)).await;
        saved.map_err(io::Error::other).and_then(|saved| saved)
    }
}

/// Waits for the end of a challenge of ours, which is kept alive meanwhile.
pub(crate) async fn challenge_end(mut lines: Lines) -> Option<ChallengeEnd> {
    loop {
        match lines.next().await {
            Ok(Some((Keepalive::Done { done }, _))) => return Some(done),
            Ok(Some(_)) => {}
            Ok(None) | Err(_) => return None,
        }
    }
}

fn cancel_path(id: ChallengeId) -> String {
    format!("api/challenge/{id}/cancel")
}

/// Looks up our ratings and the bots online.
async fn opponents(http: &Http) -> Result<(Box<User>, Vec<User>), HttpError> {
    let me = http.get(RequestKind::Account, "api/account").await?;
    let until = tokio::time::Instant::now() + LIST_TIMEOUT;
    let path = format!("api/bot/online?nb={MAX_BOTS}");
    let mut lines = Lines::open(http, RequestKind::Bots, &path, None).await?;
    let mut bots = Vec::new();
    while bots.len() < MAX_BOTS {
        match timeout_at(until, lines.next()).await {
            Ok(Ok(Some((bot, _)))) => bots.push(bot),
            Ok(Err(error)) if bots.is_empty() => return Err(error),
            _ => break,
        }
    }
    Ok((Box::new(me), bots))
}

/// Sends a challenge. The rest of the reply keeps it alive.
async fn challenge_by(http: &Http, path: &str, form: String) -> Result<(ChallengeId, Lines), HttpError> {
    let mut lines = Lines::open(http, RequestKind::Propose, path, Some(form)).await?;
    let missing = || HttpError::Network("no challenge in the reply".to_owned());
    let first = timeout(http.timeouts().reply, lines.next()).await.map_err(|_| missing())??;
    match first.map(|(message, _)| message) {
        Some(Keepalive::Created(challenge) | Keepalive::Wrapped { challenge }) => Ok((challenge.id, lines)),
        Some(Keepalive::Done { .. }) | None => Err(missing()),
    }
}
