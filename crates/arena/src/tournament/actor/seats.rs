//! Coming and going: who gets a seat, and what becomes of it.

use zeitnot_pairing::{Name, SeatNo};
use zeitnot_rules::ByColor;

use super::{
    super::{
        admission::{Applicant, JoinError},
        config::StartKind,
        players::Doing,
    },
    TournamentActor,
};
use crate::{client::Client, message::Notice, news::Event};
use zeitnot_host::{database::Fact, origin::Origin};

impl TournamentActor {
    pub(in crate::tournament) fn join(&mut self, applicant: Applicant) -> Result<SeatNo, JoinError> {
        if self.progress.is_over() {
            return Err(JoinError::Over(self.config.name.to_string()));
        }
        let name = applicant.name.clone();
        let joined = self.try_join(applicant);
        if let Err(error) = &joined {
            self.note_refusal(name.as_str(), error);
        }
        joined
    }

    /// Notes on the page and in the database that somebody was refused, or thrown out.
    pub(in crate::tournament) fn note_refusal(&mut self, player: &str, reason: &impl ToString) {
        self.reports.refuse(player, reason);
    }

    /// Answers a player who has joined.
    fn greet(&self, seat: SeatNo) {
        let Some(client) = self.players.client(seat) else {
            return;
        };
        let (name, active) = (&self.config.name, self.players.clients().count());
        let begins = match self.config.start() {
            _ if !self.progress.is_waiting() => "",
            StartKind::Full => "; play begins when it is full",
            _ => "; play begins when the organiser says so",
        };
        client.tell_optional(Notice::Info(format!(
            "You joined tournament {name} ({active} active players){begins}"
        )));
    }

    /// Tells the players of an open tournament who have played all their games against everybody here, each once.
    pub(super) fn tell_those_without_games(&mut self) {
        if !self.progress.is_open() {
            return;
        }
        let is_here = |seat: &SeatNo| self.players.client(*seat).is_some();
        let here: Vec<_> = self.players.seats().into_iter().filter(is_here).collect();
        for seat in self.players.free() {
            let Some(player) = self.players.get(seat).filter(|player| !player.was_told_to_wait) else {
                continue;
            };
            let has_game = |other: &SeatNo| self.pairing.awaits(ByColor([seat, *other])) > 0;
            // A player who is alone knows that from the greeting, or from the last one to leave.
            if here.len() < 2 || here.iter().any(|other| *other != seat && has_game(other)) {
                continue;
            }
            if let Some(client) = &player.client {
                let text =
                    "You have played all your games here; the next one starts when another player joins";
                client.tell_optional(Notice::Info(text.into()));
            }
            self.players.note_told_to_wait(seat);
        }
    }

    fn try_join(&mut self, applicant: Applicant) -> Result<SeatNo, JoinError> {
        let admitted = self.admission.admit(&self.config.name, applicant)?;
        let name = admitted.name.clone();
        if let Some(note) = self.players.is_removed(&name) {
            return Err(JoinError::Removed { name, note });
        }
        let known = self.players.seat_of(name.as_str());
        if known.is_none() {
            self.check_newcomer(&name)?;
        }
        let holder = known.and_then(|seat| self.players.get(seat)).and_then(|player| player.holder);
        let is_noted = known.is_some() && holder == admitted.holder;
        // In a tournament with an end every seat counts.
        if self.progress.is_open() && known.is_none() {
            self.vacate(admitted.holder);
        }
        let holder = admitted.holder;
        let seat = self.players.join(&self.config.name, admitted, self.progress.has_begun())?;
        self.progress.seated(self.players.len());
        if known.is_none() {
            self.players.expect_back();
        }
        if !is_noted {
            self.note(Fact::Seated { player: name.clone(), seat: seat.0, holder });
        }
        self.pairing.enter(seat, &name);
        // A player of a Swiss who stayed away for too long comes into the next round.
        if self.pairing.readmit(seat) {
            self.players.readmit(seat);
            self.note(Fact::Returned { player: name.clone() });
        }
        self.greet(seat);
        let active = self.players.clients().count();
        self.players.tell_others(seat, &format!("Player {name} joined tournament ({active} active players)"));
        self.report(Event::Joined(name));
        Ok(seat)
    }

    /// Checks whether there is a seat for somebody new: seats are kept for those whom a gauntlet names, and for engines.
    fn check_newcomer(&self, name: &Name) -> Result<(), JoinError> {
        let (seats, max) = (self.players.len(), self.config.max_players());
        let tournament = || self.config.name.clone();
        let is_here = |wanted: &Name| self.players.iter().any(|(_, player)| player.name == *wanted);
        let kept = self.config.expected().filter(|wanted| !is_here(wanted)).count();
        match self.progress.has_begun() {
            // There, newcomers take the seats of those who have left.
            _ if self.progress.is_open() => Ok(()),
            _ if seats >= self.config.most_players() => Err(JoinError::Full(tournament())),
            false if self.config.expected().any(|wanted| wanted == name) || seats + kept < max => Ok(()),
            true if !self.progress.lets_late_in() && seats < max => Err(JoinError::HasBegun(tournament())),
            true if self.progress.lets_late_in() && !self.pairing.takes_late_entries() => {
                Err(JoinError::TooLate(tournament()))
            }
            // The number with which it begins is no limit for those who come late.
            true if self.progress.lets_late_in()
                && (seats < max || self.config.start() == StartKind::Full) =>
            {
                Ok(())
            }
            _ => Err(JoinError::Full(tournament())),
        }
    }

    /// Makes room for a newcomer from that address where names are used up: somebody who has left is forgotten.
    fn vacate(&mut self, holder: Option<Origin>) {
        let games =
            |name: &Name| (!self.journal.has_order_about(name)).then(|| self.record.standings().games(name));
        let Some(seat) = self.players.to_vacate(holder, games) else { return };
        if let Some(name) = self.players.get(seat).map(|player| player.name.clone()) {
            tracing::info!("{}: {name} is gone and makes room for others", self.config.name);
            self.free(seat, &name);
        }
    }

    /// Forgets a player and all results against others, who keep their points.
    pub(super) fn free(&mut self, seat: SeatNo, name: &Name) {
        self.players.vacate(seat);
        self.pairing.forget(seat);
        self.note(Fact::Freed { player: name.clone() });
    }

    /// Returns whether an absent player's seat is free for somebody else: a player who has played keeps it, and in a
    /// tournament with an end, so does everybody once it has begun. An order about a game would find no player.
    pub(super) fn is_dispensable(&self, seat: SeatNo, name: &Name) -> bool {
        let is_playing =
            self.players.get(seat).is_some_and(|player| matches!(player.doing, Doing::Playing(_)));
        let has_played = self.record.standings().games(name) > 0 || self.journal.has_order_about(name);
        !self.progress.has_begun() && !is_playing && !has_played
    }

    /// A connection is gone, and with it the game that was played on it.
    pub(in crate::tournament) fn leave(&mut self, seat: SeatNo, client: &Client) {
        let Some(player) = self.players.seated(seat, client) else { return };
        let (doing, name) = (player.doing, player.name.clone());
        if let Some(fault) = client.fault() {
            self.note_refusal(name.as_str(), &fault);
        }
        match doing {
            Doing::Waiting => {}
            Doing::Invited(tag) => self.call_off(tag, &format!("Player {name} left")),
            Doing::Playing(tag) => {
                if let Some((game, color)) = self.boards.game(tag, seat) {
                    game.leave(color);
                }
            }
        }
        self.part(seat, name);
    }

    /// Empties a seat, and frees it for somebody else if nothing has happened on it.
    pub(super) fn part(&mut self, seat: SeatNo, name: Name) {
        self.players.leave(seat);
        if self.is_dispensable(seat, &name) {
            self.free(seat, &name);
        }
        let active = self.players.clients().count();
        self.players.tell_others(seat, &format!("Player {name} left tournament ({active} active players)"));
        self.report(Event::Left(name));
    }
}
