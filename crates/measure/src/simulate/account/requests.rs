//! Requests between the program and the server, with their faults.

use std::{sync::Arc, time::Duration};

use zeitnot_clients::lichess::simulation::{HttpError, Input, JoinRequest, Reply, Request};
use zeitnot_wire::lichess::{ChallengeEnd, ChallengeId, Status};

use super::{
    super::history::Broken,
    laws::Kind,
    mutants,
    plan::{Weather, millis, seconds},
    server::{Origin, PLAYERS, ServerChallenge, account, bots, number_of},
    world::{Happening, World},
};

/// After a 429 that does not say how long to wait.
const RATE_LIMITED: Duration = Duration::from_secs(60);
/// For the reply to a request.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Fate of a request.
enum Fate {
    Answered,
    /// It arrives, but its answer does not.
    AnswerLost,
    Fails(HttpError, Duration),
}

fn network() -> HttpError {
    HttpError::Network("no answer".to_owned())
}

fn limited(told: Option<Duration>) -> HttpError {
    HttpError::Limited {
        what: "too many".to_owned(),
        wait: told.unwrap_or(RATE_LIMITED),
        is_told: told.is_some(),
    }
}

fn refused() -> HttpError {
    HttpError::Refused { status: 403, what: "forbidden".to_owned(), limit: None }
}

impl World<'_> {
    pub(super) fn send(&mut self, request: Request) -> Result<(), Broken> {
        self.requests.sent(&request, self.now, self.history)?;
        let kind = Kind::of(&request);
        let latency = millis(&mut self.rng, 20..200);
        let at = (self.now + latency).max(self.closed_until[kind as usize]);
        self.queue.add(at, Happening::Arrives(self.run, request));
        Ok(())
    }

    /// A request arrives at the server, or not.
    pub(super) fn arrives(&mut self, run: u32, request: Request) {
        let kind = Kind::of(&request);
        let accepted = match &request {
            Request::Accept { challenge, .. } => Some(*challenge),
            _ => None,
        };
        let fate = if kind == Kind::Save { Fate::Answered } else { self.fate(&request) };
        let (reply, delay) = match fate {
            Fate::Answered => (self.serve(request), millis(&mut self.rng, 20..300)),
            Fate::AnswerLost => {
                let reply = request.failed(network());
                if let Reply::Created(Ok(id)) = self.serve(request) {
                    self.lapses(id);
                }
                (reply, TIMEOUT)
            }
            Fate::Fails(error, delay) => {
                if let HttpError::Limited { wait, .. } = &error {
                    self.closed_until[kind as usize] = self.now + *wait;
                    self.disturbed = self.disturbed.max(self.now + *wait);
                }
                if let Request::Cancel(id) | Request::Accept { instead_of: Some(id), .. } = &request {
                    self.lapses(*id);
                }
                (request.failed(error), delay)
            }
        };
        self.after(delay, Happening::Replied(run, kind, accepted, reply));
    }

    fn fate(&mut self, request: &Request) -> Fate {
        if self.is_revoked() {
            return Fate::Fails(HttpError::Unauthorized, Duration::from_millis(50));
        }
        if let Some(outage) = self.plan.outage(self.now) {
            let (weather, to) = (outage.weather, outage.to);
            self.disturbed = self.disturbed.max(to);
            let soon = millis(&mut self.rng, 20..200);
            return match weather {
                Weather::Dead if self.rng.bool() => Fate::Fails(network(), TIMEOUT),
                Weather::Dead => Fate::Fails(network(), soon),
                Weather::BadGateway => Fate::Fails(HttpError::Server(502), soon),
                Weather::Limited(told) => Fate::Fails(limited(told), soon),
                Weather::Unauthorized if matches!(request, Request::Token) => Fate::Answered,
                Weather::Unauthorized => Fate::Fails(HttpError::Unauthorized, soon),
            };
        }
        if !self.has_fault(self.plan.request_faults) {
            return Fate::Answered;
        }
        let soon = millis(&mut self.rng, 20..9000);
        match self.rng.u8(..9) {
            0 | 1 => Fate::AnswerLost,
            2 | 3 => Fate::Fails(network(), TIMEOUT),
            4 => Fate::Fails(HttpError::Server(500), soon),
            5 => Fate::Fails(refused(), soon),
            6 => Fate::Fails(HttpError::NotFound, soon),
            7 => {
                let told = self.rng.bool().then(|| seconds(&mut self.rng, 1..600));
                Fate::Fails(limited(told), soon)
            }
            _ if matches!(request, Request::Token) => Fate::Answered,
            _ => Fate::Fails(HttpError::Unauthorized, soon),
        }
    }

    /// Lets the server carry out a request, and returns its reply.
    fn serve(&mut self, request: Request) -> Reply {
        match request {
            Request::RunningGames => Reply::RunningGames(Ok(Arc::new(self.server.list()))),
            Request::Token if self.is(&mutants::MISREAD_TOKEN) => Reply::Token(Err(HttpError::Unauthorized)),
            Request::Token => Reply::Token(Ok(())),
            Request::Online => Reply::Online(Ok(self.stream.is_seen())),
            Request::Opponents => Reply::Opponents(Ok((Box::new(account(PLAYERS)), bots()))),
            Request::Accept { challenge, instead_of } => {
                instead_of.into_iter().for_each(|ours| self.cancel(ours));
                Reply::Accepted(challenge, self.accept(challenge))
            }
            Request::Decline { challenge, .. } => {
                self.server.challenges.remove(&challenge);
                Reply::Declined
            }
            Request::Challenge(opponent, challenge) => {
                let Some(player) = number_of(&opponent) else {
                    return Reply::Created(Err(HttpError::NotFound));
                };
                let id = self.server.new_id();
                let is_correspondence = challenge.time.clock().is_none();
                let ours = ServerChallenge {
                    player,
                    is_ours: true,
                    is_correspondence,
                    known: Some(self.now),
                    is_answered: false,
                };
                self.server.challenges.insert(id, ours);
                let end = [ChallengeEnd::Accepted, ChallengeEnd::Declined][self.rng.usize(..2)].clone();
                if self.rng.u8(..4) != 0 {
                    let answered = seconds(&mut self.rng, 1..40);
                    self.after(answered, Happening::Answered(id, end));
                }
                Reply::Created(Ok(id))
            }
            Request::Cancel(id) => {
                self.cancel(id);
                Reply::Done
            }
            Request::Abort(id) => {
                if self.server.games.get(&id).is_some_and(|game| !game.has_moved) {
                    self.end_game(id, Status::Aborted, None);
                }
                Reply::Aborted
            }
            Request::Join(request) => self.join(request),
            Request::Withdraw(_) => {
                self.server.tournament.is_joined = false;
                Reply::Done
            }
            Request::Save(history) => {
                self.saved = Some(history);
                Reply::Saved(Ok(()))
            }
        }
    }

    fn accept(&mut self, id: ChallengeId) -> Result<(), HttpError> {
        let Some(challenge) = self.server.challenges.get(&id).filter(|challenge| !challenge.is_ours) else {
            return Err(HttpError::NotFound);
        };
        let (player, is_correspondence) = (challenge.player, challenge.is_correspondence);
        self.server.challenges.remove(&id);
        self.game_begins(id.into(), player, Origin::Accepted, is_correspondence);
        Ok(())
    }

    /// Cancels a challenge of ours, or the game that it has just become.
    fn cancel(&mut self, id: ChallengeId) {
        self.our_challenge_ends(id, &ChallengeEnd::Canceled);
        if self.server.games.get(&id.into()).is_some_and(|game| !game.has_moved) {
            self.end_game(id.into(), Status::Aborted, None);
        }
    }

    fn join(&mut self, request: JoinRequest) -> Reply {
        match request {
            JoinRequest::Team(team) => Reply::Team(team.id, Ok(())),
            JoinRequest::LookUp(id) => Reply::Tournament(id, Ok(self.server.tournament.state(self.now))),
            JoinRequest::Tournament(tournament, pair) => {
                self.server.tournament.is_joined = true;
                if pair && self.server.tournament.is_running(self.now) {
                    let paired = seconds(&mut self.rng, 2..30);
                    self.after(paired, Happening::Paired);
                }
                Reply::Joined(tournament.id, Ok(()))
            }
        }
    }

    /// A reply reaches the program, if that still runs.
    pub(super) fn replied(
        &mut self,
        run: u32,
        kind: Kind,
        accepted: Option<ChallengeId>,
        reply: Reply,
    ) -> Result<(), Broken> {
        if run != self.run || self.program.is_none() {
            return Ok(());
        }
        if !matches!(reply, Reply::ChallengeEnded(..)) {
            self.requests.ended(kind, accepted);
        }
        if is_unauthorized(&reply) {
            self.tell(Input::Unauthorized)?;
        }
        let reply = match reply {
            Reply::RunningGames(Err(_)) if self.is(&mutants::OLD_LOOKUPS) => {
                self.after(Duration::from_secs(2), Happening::OldLookup(run));
                return Ok(());
            }
            Reply::RunningGames(Ok(_)) if self.is(&mutants::SHORT_LIST) => {
                Reply::RunningGames(Ok(Arc::default()))
            }
            other => other,
        };
        match &reply {
            Reply::RunningGames(Ok(list)) => list.iter().for_each(|game| self.know_game(game.game_id)),
            Reply::ChallengeEnded(id, Some(ChallengeEnd::Accepted)) => self.know_game((*id).into()),
            Reply::Accepted(id, Ok(()) | Err(HttpError::Network(_) | HttpError::Server(_))) => {
                self.accepted(*id, true);
            }
            Reply::Accepted(id, Err(_)) => self.accepted(*id, false),
            _ => {}
        }
        self.tell(Input::Reply(reply))
    }
}

fn is_unauthorized(reply: &Reply) -> bool {
    matches!(
        reply,
        Reply::RunningGames(Err(HttpError::Unauthorized))
            | Reply::Token(Err(HttpError::Unauthorized))
            | Reply::Online(Err(HttpError::Unauthorized))
            | Reply::Opponents(Err(HttpError::Unauthorized))
            | Reply::Accepted(_, Err(HttpError::Unauthorized))
            | Reply::Created(Err(HttpError::Unauthorized))
            | Reply::Team(_, Err(HttpError::Unauthorized))
            | Reply::Tournament(_, Err(HttpError::Unauthorized))
            | Reply::Joined(_, Err(HttpError::Unauthorized))
    )
}
