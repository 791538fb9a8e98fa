//! Requests between the program and the server, with their faults.

use std::{sync::Arc, time::Duration};

use zeitnot_clients::lichess::simulation::{HttpError, Input, JoinRequest, Reply, Request};
use zeitnot_wire::lichess::{ChallengeEnd, ChallengeId, Status};

use super::{
    super::run::Checked,
    laws,
    plan::OutageKind,
    program::Agreed,
    sent_requests::Kind,
    server::{Origin, PLAYERS, ServerChallenge, account, bots, number_of},
    world::{ProgramEvent, World, WorldEvent},
};

/// Wait after a 429 that does not tell any.
const RATE_LIMITED: Duration = Duration::from_secs(60);
/// Longest wait for the reply to a request.
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
    pub(super) fn send(&mut self, request: Request) -> Checked {
        self.requests.sent(&request, self.run)?;
        let kind = Kind::of(&request);
        let latency = self.run.millis(20..200);
        let at = (self.run.now + latency).max(self.closed_until[kind as usize]);
        self.queue.add(at, WorldEvent::Arrives(self.generation, request));
        Ok(())
    }

    /// A request arrives at the server, or not.
    pub(super) fn arrives(&mut self, generation: u32, request: Request) {
        let kind = Kind::of(&request);
        let fate = if kind == Kind::Save { Fate::Answered } else { self.fate(&request) };
        let is_unauthorized = matches!(fate, Fate::Fails(HttpError::Unauthorized, _));
        let (reply, delay) = match fate {
            Fate::Answered => {
                let reply = self.serve(request);
                if generation != self.generation {
                    self.reply_lost(&reply);
                }
                (reply, self.run.millis(20..300))
            }
            Fate::AnswerLost => {
                let failed = request.failed(network());
                let reply = self.serve(request);
                self.reply_lost(&reply);
                (failed, TIMEOUT)
            }
            Fate::Fails(error, delay) => {
                if let HttpError::Limited { wait, .. } = &error {
                    self.closed_until[kind as usize] = self.run.now + *wait;
                    self.disturbed = self.disturbed.max(self.run.now + *wait);
                }
                if let Request::Cancel(id) | Request::Accept { instead_of: Some(id), .. } = &request {
                    self.lapses(*id);
                }
                (request.failed(error), delay)
            }
        };
        if is_unauthorized {
            self.after(delay, WorldEvent::Program(generation, ProgramEvent::Unauthorized));
        }
        self.after(delay, WorldEvent::Program(generation, ProgramEvent::Replied(Some(kind), reply)));
    }

    /// Lets a challenge of ours lapse if the program does not receive the reply to its creation.
    fn reply_lost(&mut self, reply: &Reply) {
        if let Reply::Created(Ok(id)) = reply {
            self.server.challenges.entry(*id).and_modify(|ours| ours.kept_by = None);
            self.lapses(*id);
        }
    }

    fn fate(&mut self, request: &Request) -> Fate {
        let is_misread = self.run.has(&laws::MISREAD_TOKEN) && matches!(request, Request::Token);
        if self.is_revoked() || is_misread {
            return Fate::Fails(HttpError::Unauthorized, Duration::from_millis(50));
        }
        if let Some(outage) = self.plan.outage(self.run.now) {
            let (kind, to) = (outage.kind, outage.to);
            self.disturbed = self.disturbed.max(to);
            let soon = self.run.millis(20..200);
            return match kind {
                OutageKind::Dead if self.run.rng.bool() => Fate::Fails(network(), TIMEOUT),
                OutageKind::Dead => Fate::Fails(network(), soon),
                OutageKind::BadGateway => Fate::Fails(HttpError::Server(502), soon),
                OutageKind::Limited(told) => Fate::Fails(limited(told), soon),
                OutageKind::Unauthorized if matches!(request, Request::Token) => Fate::Answered,
                OutageKind::Unauthorized => Fate::Fails(HttpError::Unauthorized, soon),
            };
        }
        if !self.has_fault(self.plan.request_faults) {
            return Fate::Answered;
        }
        let soon = self.run.millis(20..9000);
        match self.run.rng.u8(..9) {
            0 | 1 => Fate::AnswerLost,
            2 | 3 => Fate::Fails(network(), TIMEOUT),
            4 => Fate::Fails(HttpError::Server(500), soon),
            5 => Fate::Fails(refused(), soon),
            6 => Fate::Fails(HttpError::NotFound, soon),
            7 => {
                let told = self.run.rng.bool().then(|| self.run.secs(1..600));
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
                    known: Some(self.run.now),
                    is_answered: false,
                    kept_by: Some(self.generation),
                };
                self.server.challenges.insert(id, ours);
                let end = [ChallengeEnd::Accepted, ChallengeEnd::Declined][self.run.rng.usize(..2)].clone();
                if self.run.rng.u8(..4) != 0 {
                    self.after_secs(1..40, WorldEvent::Answered(id, end));
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
            JoinRequest::LookUp(id) => Reply::Tournament(id, Ok(self.server.tournament.state(self.run.now))),
            JoinRequest::Tournament(tournament, pair) => {
                self.server.tournament.is_joined = true;
                if pair && self.server.tournament.is_running(self.run.now) {
                    self.after_secs(2..30, WorldEvent::Paired);
                }
                Reply::Joined(tournament.id, Ok(()))
            }
        }
    }

    /// A reply reaches the program.
    pub(super) fn replied(&mut self, kind: Option<Kind>, reply: Reply) -> Checked {
        self.requests.ended(kind, &reply);
        match &reply {
            Reply::RunningGames(Ok(list)) => list.iter().for_each(|game| self.know_game(game.game_id)),
            Reply::ChallengeEnded(id, Some(ChallengeEnd::Accepted)) => self.ours_accepted(*id),
            Reply::Accepted(id, Ok(()) | Err(HttpError::Network(_) | HttpError::Server(_))) => {
                self.accepted(*id, true);
            }
            Reply::Accepted(id, Err(_)) => self.accepted(*id, false),
            _ => {}
        }
        self.tell(Input::Reply(reply))
    }

    /// Notes that a challenge of ours is accepted, unless the account has cancelled it.
    pub(super) fn ours_accepted(&mut self, id: ChallengeId) {
        self.know_game(id.into());
        let game = self.server.games.get(&id.into());
        if game.is_none_or(|game| game.is_correspondence || game.is_over()) {
            return;
        }
        if let Some(program) = &mut self.program
            && !program.tasks.contains_key(&id.into())
            && !program.cancelled.contains(&id)
        {
            // Whoever the owner challenges counts as a person until the game's task knows better.
            program.agreed.insert(id, Agreed { since: Some(self.run.now), is_bot: false });
        }
    }

    /// Notes the reply to an acceptance.
    pub(super) fn accepted(&mut self, id: ChallengeId, may_begin: bool) {
        if may_begin {
            self.know_game(id.into());
        }
        let Some(program) = &mut self.program else { return };
        if !may_begin {
            program.agreed.remove(&id);
        } else if let Some(agreed) = program.agreed.get_mut(&id) {
            agreed.since = Some(self.run.now);
        }
    }
}
