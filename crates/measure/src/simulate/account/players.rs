//! Behaviour of other players and the server: challenges, games and their ends.

use std::time::Duration;

use zeitnot_clients::lichess::simulation::Reply;
use zeitnot_rules::Color;
use zeitnot_wire::lichess::{ChallengeEnd, ChallengeId, GameId, Status};

use super::{
    super::history::Broken,
    laws::Kind,
    plan::{millis, seconds},
    server::{Origin, PLAYERS, ServerChallenge, ServerGame},
    world::{Happening, SETTLE, World},
};

/// A challenge that nobody keeps open ends in this time.
const LAPSE: Duration = Duration::from_secs(20);

impl World<'_> {
    pub(super) fn challenged(&mut self) {
        let next = self.pause();
        if self.now < self.healed_at() + SETTLE / 2 {
            self.after(next, Happening::Challenge);
        }
        let id = self.server.new_id();
        let player = self.rng.usize(..PLAYERS);
        let is_correspondence = self.rng.u8(..6) == 0;
        let challenge =
            ServerChallenge { player, is_ours: false, is_correspondence, known: None, is_answered: false };
        self.server.challenges.insert(id, challenge);
        let event = self.server.challenge_event(id);
        self.tell_event(event);
        let until = seconds(&mut self.rng, 20..400);
        self.after(until, Happening::Withdrawn(id));
    }

    /// A challenge to us ends without a game.
    pub(super) fn withdrawn(&mut self, id: ChallengeId, end: &ChallengeEnd) -> Result<(), Broken> {
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
            true => seconds(&mut self.rng, 600..7200),
            false if self.plan.game_length.is_some() => self.plan.game_length.unwrap_or_default(),
            false if self.rng.u8(..8) == 0 => seconds(&mut self.rng, 1800..7200),
            false => seconds(&mut self.rng, 30..1200),
        };
        let game = ServerGame {
            opponent,
            color: if self.rng.bool() { Color::White } else { Color::Black },
            origin,
            is_correspondence,
            ends: self.now + length,
            status: Status::Started,
            winner: None,
            has_moved: false,
            is_my_turn: self.rng.bool(),
            is_unnoticed: !self.is_healed() && self.rng.u8(..8) == 0,
            known: None,
            is_begun: false,
        };
        self.history.note(self.now, format_args!("game {id} begins: {origin:?}, ends at {:?}", game.ends));
        self.server.begin(id, game);
        self.after(length, Happening::GameOver(id));
        let event = self.server.game_event(id);
        self.tell_event(event);
    }

    pub(super) fn paired(&mut self) {
        let tournament = &self.server.tournament;
        if tournament.is_running(self.now) && tournament.is_joined {
            let id = self.server.new_id().into();
            let opponent = self.rng.usize(..PLAYERS);
            self.game_begins(id, opponent, Origin::Tournament, false);
        }
    }

    pub(super) fn game_over(&mut self, id: GameId) -> Result<(), Broken> {
        self.check_played(id)?;
        let winner = [Some(Color::White), Some(Color::Black), None][self.rng.usize(..3)];
        let status = match winner {
            Some(_) => [Status::Mate, Status::Resign, Status::OutOfTime][self.rng.usize(..3)].clone(),
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
        self.history.note(self.now, format_args!("game {id} is over, winner {winner:?}"));
        let event = self.server.game_event(id);
        let is_unnoticed = self.server.games.get(&id).is_some_and(|game| game.is_unnoticed);
        if is_unnoticed {
            return;
        }
        self.tell_event(event);
        let seen = self.plan.outage(self.now).map_or(self.now, |outage| outage.to);
        let at = seen + millis(&mut self.rng, 50..3000);
        self.queue.add(at, Happening::TaskEnds(self.run, id));
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
        let delay = millis(&mut self.rng, 20..2000);
        let reply = Reply::ChallengeEnded(id, told);
        self.after(delay, Happening::Replied(self.run, Kind::Cancel, None, reply));
    }

    /// Our challenge ends, as nobody keeps it open any more, unless it is answered before.
    pub(super) fn lapses(&mut self, id: ChallengeId) {
        self.after(LAPSE, Happening::Answered(id, ChallengeEnd::Canceled));
    }

    /// Games as the account knows them are unknown to the next run of the program.
    pub(super) fn forget_known(&mut self) {
        self.server.games.values_mut().for_each(|game| (game.known, game.is_begun) = (None, false));
        let open = self.server.challenges.values_mut();
        open.filter(|challenge| !challenge.is_ours)
            .for_each(|challenge| (challenge.known, challenge.is_answered) = (None, false));
    }
}
