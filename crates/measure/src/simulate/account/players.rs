//! Behaviour of other players and the server: challenges, games and their ends.

use std::time::Duration;

use zeitnot_clients::lichess::simulation::Reply;
use zeitnot_rules::Color;
use zeitnot_wire::lichess::{ChallengeEnd, ChallengeId, GameId, Status};

use super::{
    super::run::Checked,
    server::{Origin, PLAYERS, ServerChallenge, ServerGame},
    world::{ProgramEvent, SETTLE, World, WorldEvent},
};

/// A challenge that nobody keeps open ends in this time.
const LAPSE: Duration = Duration::from_secs(20);

impl World<'_> {
    pub(super) fn challenged(&mut self) {
        let next = self.pause();
        if self.run.now < self.faults_end() + SETTLE / 2 {
            self.after(next, WorldEvent::Challenge);
        }
        let id = self.server.new_id();
        let player = self.run.rng.usize(..PLAYERS);
        let is_correspondence = self.run.one_in(6);
        let challenge = ServerChallenge {
            player,
            is_ours: false,
            is_correspondence,
            known: None,
            is_answered: false,
            kept_by: None,
        };
        self.server.challenges.insert(id, challenge);
        let event = self.server.challenge_event(id);
        self.tell_event(event);
        self.after_secs(20..400, WorldEvent::Withdrawn(id));
    }

    /// A challenge to us ends without a game.
    pub(super) fn withdrawn(&mut self, id: ChallengeId, end: &ChallengeEnd) -> Checked {
        self.check_answered(id)?;
        let event = self.server.end_challenge(id, end);
        self.tell_event(event);
        Ok(())
    }

    /// Begins a game on the server.
    pub(super) fn game_begins(
        &mut self,
        id: GameId,
        opponent: usize,
        origin: Origin,
        is_correspondence: bool,
    ) {
        let length = match is_correspondence {
            true => self.run.secs(600..7200),
            false if self.plan.game_length.is_some() => self.plan.game_length.unwrap_or_default(),
            false if self.run.one_in(8) => self.run.secs(1800..7200),
            false => self.run.secs(30..1200),
        };
        let game = ServerGame {
            opponent,
            color: if self.run.rng.bool() { Color::White } else { Color::Black },
            origin,
            is_correspondence,
            ends: self.run.now + length,
            status: Status::Started,
            winner: None,
            has_moved: false,
            is_my_turn: self.run.rng.bool(),
            is_unnoticed: !self.is_faultless() && self.run.one_in(8),
            known: None,
            is_begun: false,
        };
        self.run.note(format_args!("game {id} begins: {origin:?}, ends at {:?}", game.ends));
        self.server.begin(id, game);
        self.after(length, WorldEvent::GameOver(id));
        let event = self.server.game_event(id);
        self.tell_event(event);
    }

    pub(super) fn paired(&mut self) {
        let tournament = &self.server.tournament;
        if tournament.is_running(self.run.now) && tournament.is_joined {
            let id = self.server.new_id().into();
            let opponent = self.run.rng.usize(..PLAYERS);
            self.game_begins(id, opponent, Origin::Tournament, false);
        }
    }

    pub(super) fn game_over(&mut self, id: GameId) -> Checked {
        self.check_played(id)?;
        let winner = [Some(Color::White), Some(Color::Black), None][self.run.rng.usize(..3)];
        let status = match winner {
            Some(_) => [Status::Mate, Status::Resign, Status::OutOfTime][self.run.rng.usize(..3)].clone(),
            None => Status::Draw,
        };
        self.end_game(id, status, winner);
        Ok(())
    }

    /// Ends a game on the server. Its task learns it from its own stream, unless nobody tells it.
    pub(super) fn end_game(&mut self, id: GameId, status: Status, winner: Option<Color>) {
        if !self.server.end(id, status, winner) {
            return;
        }
        self.run.note(format_args!("game {id} is over, winner {winner:?}"));
        let event = self.server.game_event(id);
        let is_unnoticed = self.server.games.get(&id).is_some_and(|game| game.is_unnoticed);
        if is_unnoticed {
            return;
        }
        self.tell_event(event);
        let seen = self.plan.outage(self.run.now).map_or(self.run.now, |outage| outage.to);
        let delay = seen - self.run.now + self.run.millis(50..3000);
        self.in_program(delay, ProgramEvent::TaskEnds(id));
    }

    /// The opponent of our challenge has answered, or it was cancelled.
    pub(super) fn our_challenge_ends(&mut self, id: ChallengeId, end: &ChallengeEnd) {
        let Some(challenge) = self.server.challenges.get(&id).cloned() else { return };
        if *end == ChallengeEnd::Accepted {
            self.server.challenges.remove(&id);
            self.game_begins(id.into(), challenge.player, Origin::Ours, challenge.is_correspondence);
        } else {
            let event = self.server.end_challenge(id, end);
            self.tell_event(event);
        }
        // The connection that keeps it open tells its end, if it has not broken.
        let told = (!self.has_fault(self.plan.request_faults)).then(|| end.clone());
        let delay = self.run.millis(20..2000);
        let replied = ProgramEvent::Replied(None, Reply::ChallengeEnded(id, told));
        if let Some(generation) = challenge.kept_by {
            self.after(delay, WorldEvent::Program(generation, replied));
        }
    }

    /// Our challenge ends, as nobody keeps it open any more, unless it is answered before.
    pub(super) fn lapses(&mut self, id: ChallengeId) {
        self.after(LAPSE, WorldEvent::Answered(id, ChallengeEnd::Canceled));
    }

    /// Games as the account knows them are unknown to the next run of the program.
    pub(super) fn forget_known(&mut self) {
        self.server.games.values_mut().for_each(|game| (game.known, game.is_begun) = (None, false));
        let open = self.server.challenges.values_mut();
        open.filter(|challenge| !challenge.is_ours)
            .for_each(|challenge| (challenge.known, challenge.is_answered) = (None, false));
    }
}
