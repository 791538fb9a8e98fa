//! Orders of the organiser, carried out. The state follows at once, in the order of the facts; the organiser, the players
//! and the page are told when the facts are settled (see the journal).

use zeitnot_pairing::{Name, Pairing, SeatNo, format::PairingKind};
use zeitnot_rules::{ByColor, GameResult};

use super::{
    super::{
        command::{Answer, CarriedOut, Command, CommandError},
        journal::Unplayed,
        players::Doing,
    },
    TournamentActor,
    endings::Departure,
};
use crate::message::Notice;
use zeitnot_host::{
    database::Fact,
    note::{Note, with_note},
    tag::GameTag,
};

impl TournamentActor {
    /// Carries out an order or refuses it.
    pub(in crate::tournament) fn command(&mut self, command: Command, answer: Answer) {
        let is_over = self.progress.is_over();
        let order = match command {
            Command::Correct { game, result, note } => self.correct(game, result, note),
            _ if is_over => Err(CommandError::Over(self.config.name.to_string())),
            Command::Start => self.start(),
            Command::Pause => self.pause(),
            Command::Resume => self.resume(),
            Command::LateEntries(allowed) => self.let_late_in(allowed),
            Command::Remove { player, note } => self.remove(player, note),
            Command::Forfeit { player, note } => self.forfeit(player, note),
            Command::Pair { white, black } => self.pair_by_hand(white, black),
        };
        match order {
            Ok(order) => {
                order.fact.iter().for_each(|fact| self.progress.apply(fact));
                self.journal.order(order, answer);
                self.grant_byes();
            }
            // An error means that the organiser waits no longer.
            Err(refusal) => drop(answer.send(Err(refusal))),
        }
    }

    /// Tells of an order that is settled.
    pub(super) fn confirm(&mut self, order: CarriedOut, answer: Answer) {
        let CarriedOut { fact, game, removed, told, .. } = order;
        tracing::info!("{}: {told}", self.config.name);
        self.players.clients().for_each(|client| client.tell_optional(Notice::Info(told.clone())));
        if let Some(Fact::Removed { player, note }) = &fact {
            let why = with_note("Removed by the organiser".to_owned(), note.as_ref());
            self.note_refusal(player.as_str(), &why);
            if let Some((seat, client)) = removed {
                if self.players.seated(seat, &client).is_some() {
                    self.players.leave(seat);
                }
                client.throw_out(why);
            }
        }
        let changed = fact.and_then(|fact| self.record.apply_fact(&fact));
        let decided = game.and_then(|game| self.record.add(&game));
        changed.into_iter().chain(decided).for_each(|row| self.reports.end_pairing(row));
        let _ = answer.send(Ok(()));
        self.reports.note_change();
    }

    fn start(&mut self) -> Result<CarriedOut, CommandError> {
        let name = self.config.name.clone();
        let here = self.players.len();
        let named = self.players.iter().filter(|(_, player)| self.config.gauntlet.contains(&player.name));
        let named = named.count();
        match self.config.pairing {
            _ if !self.progress.is_waiting() => Err(CommandError::HasBegun(name)),
            _ if self.progress.is_paused() => Err(CommandError::IsPaused(name)),
            _ if here < 2 => Err(CommandError::TooFew { name, here }),
            PairingKind::Gauntlet if named == 0 || named == here => Err(CommandError::NoGauntlet(name)),
            _ => Ok(CarriedOut::new(Fact::Started, format!("Tournament {name} begins with {here} players"))),
        }
    }

    /// A game that is paired and has not begun waits for the end of the pause.
    fn pause(&mut self) -> Result<CarriedOut, CommandError> {
        let name = self.config.name.clone();
        if self.progress.is_paused() {
            return Err(CommandError::IsPaused(name));
        }
        self.call_off_all(|_| true, "The tournament is paused");
        let told = format!("Tournament {name} is paused: running games continue, no others begin");
        Ok(CarriedOut::new(Fact::Paused, told))
    }

    /// Gives those who are away as much time to come as at the beginning.
    fn resume(&mut self) -> Result<CarriedOut, CommandError> {
        let name = self.config.name.clone();
        if !self.progress.is_paused() {
            return Err(CommandError::NotPaused(name));
        }
        self.players.excuse_absence();
        Ok(CarriedOut::new(Fact::Resumed, format!("Tournament {name} continues")))
    }

    fn let_late_in(&mut self, allowed: bool) -> Result<CarriedOut, CommandError> {
        let name = self.config.name.clone();
        if self.progress.is_open() {
            return Err(CommandError::IsOpen(name));
        }
        if allowed && self.config.pairing == PairingKind::Knockout {
            return Err(CommandError::NoLateEntries(name));
        }
        let told = if allowed {
            "admits players after its beginning"
        } else {
            "admits no players after its beginning"
        };
        Ok(CarriedOut::new(Fact::LateEntries { allowed }, format!("Tournament {name} {told}")))
    }

    /// Takes a player out: the running game is lost, and what is left is forfeited.
    fn remove(&mut self, player: Name, note: Option<Note>) -> Result<CarriedOut, CommandError> {
        if self.players.is_removed(&player).is_some() {
            return Err(CommandError::IsRemoved(player));
        }
        let seat = self.seat_of(&player)?;
        match self.players.get(seat).map(|seated| seated.doing) {
            Some(Doing::Invited(tag)) => self.call_off(tag, &format!("Player {player} is removed")),
            Some(Doing::Playing(tag)) => drop(self.decide(tag, seat, note.clone())),
            Some(Doing::Waiting) | None => {}
        }
        let told = format!("The organiser has removed player {player} from the tournament");
        let mut order = CarriedOut::new(Fact::Removed { player: player.clone(), note: note.clone() }, told);
        let client = self.players.client(seat).cloned();
        order.removed = client.map(|client| (seat, client));
        if self.is_dispensable(seat, &player) {
            self.free(seat, &player);
        } else {
            if self.progress.has_begun() {
                self.withdraw(seat, Departure::Removal);
            }
            self.pairing.exclude(seat);
        }
        self.players.remove(&player, note);
        Ok(order)
    }

    /// Decides the running game, or the one that is paired and has not begun.
    fn forfeit(&mut self, player: Name, note: Option<Note>) -> Result<CarriedOut, CommandError> {
        let seat = self.seat_of(&player)?;
        let told = format!("Player {player} loses a game by the organiser's decision");
        let nothing = || CommandError::NothingToForfeit(player.clone());
        let pairing = match self.players.get(seat).map(|seated| seated.doing) {
            Some(Doing::Playing(tag)) if self.decide(tag, seat, note.clone()) => {
                return Ok(CarriedOut { fact: None, game: None, players: None, removed: None, told });
            }
            Some(Doing::Invited(tag)) => self.invitations.get(tag),
            Some(Doing::Waiting) => self.pairing.open_game(seat),
            Some(Doing::Playing(_)) | None => None,
        };
        let pairing = pairing.ok_or_else(nothing)?;
        let names = self.players.names(pairing).ok_or_else(nothing)?;
        let (winner, round) = (!pairing.color_of(seat), self.pairing.round());
        self.call_off_all(|other| other == pairing, &told);
        self.pairing.forfeited(pairing, GameResult::Won(winner));
        let (opening, reason) = (Some(pairing.opening), "Forfeit by the organiser");
        let (kind, players) = (self.config.game, self.config.persons(&names));
        let game = self.journal.unplayed(Unplayed { kind, players, winner, opening, round, reason, note });
        Ok(CarriedOut { fact: None, game: Some(game), players: Some(names), removed: None, told })
    }

    /// Pairs two players; whoever waits for a game of a round loses the one they had.
    fn pair_by_hand(&mut self, white: Name, black: Name) -> Result<CarriedOut, CommandError> {
        if self.progress.is_waiting() {
            return Err(CommandError::NotBegun(self.config.name.clone()));
        }
        if white == black {
            return Err(CommandError::Alone(white));
        }
        if let Some(removed) =
            [&white, &black].into_iter().find(|name| self.players.is_removed(name).is_some())
        {
            return Err(CommandError::IsRemoved(removed.clone()));
        }
        let seats = ByColor([self.seat_of(&white)?, self.seat_of(&black)?]);
        self.begin_round();
        let busy: Vec<_> = self.boards.going_on().collect();
        if let Err(why) = self.pairing.pair_by_hand(seats, &busy) {
            return Err(CommandError::NotPaired { white, black, why });
        }
        if self.pairing.round().is_some() {
            let is_theirs = |pairing: Pairing| pairing.seats.0.iter().any(|seat| seats.0.contains(seat));
            self.call_off_all(is_theirs, "The organiser has paired anew");
        }
        let told = format!("The organiser has paired {white} with {black}");
        Ok(CarriedOut::new(Fact::PairedByHand { white, black }, told))
    }

    /// Gives a game another result, or has it played again.
    fn correct(
        &mut self,
        id: String,
        result: Option<GameResult>,
        note: Note,
    ) -> Result<CarriedOut, CommandError> {
        if GameTag::read(&id).is_some_and(|tag| self.boards.contains(tag)) {
            return Err(CommandError::Running(id));
        }
        let Some((names, before)) = self.record.get(&id) else { return Err(CommandError::UnknownGame(id)) };
        // The record does not have an earlier correction yet.
        if self.journal.has_orders() {
            return Err(CommandError::Unsettled(id));
        }
        if before == result {
            return Err(CommandError::Unchanged(id));
        }
        let is_played_again = result.is_none()
            || self.config.pairing == PairingKind::Knockout && result == Some(GameResult::Draw);
        if self.progress.is_over() && is_played_again {
            return Err(CommandError::NotAgain(id));
        }
        let names = names.clone();
        let seats = names.0.each_ref().map(|name| self.players.seat_of(name.as_str()));
        let is_theirs = |pairing: Pairing| pairing.seats.0.iter().all(|seat| seats.contains(&Some(*seat)));
        let busy: Vec<_> = self.boards.going_on().filter(|pairing| is_theirs(*pairing)).collect();
        let (pairing, players) = (&mut *self.pairing, &self.players);
        if let Err(why) = self.record.correct(&id, result, pairing, players, &busy) {
            return Err(CommandError::NotCorrected { game: id, why });
        }
        // Somebody who had played all may have a game to play again.
        self.players.expect_back();
        // Their next game may fall out, or come later.
        self.call_off_all(is_theirs, "The organiser has corrected a result");
        let [white, black] = &names.0;
        let now = result.map_or("does not count", GameResult::as_str);
        let told = format!("The organiser has corrected {white} against {black}: {now} ({note})");
        // A bye may take its place at once. Without rounds there are no byes, and equal results have an order.
        if self.config.pairing.has_rounds() {
            self.record.take_back(&id);
        }
        let fact = Fact::Corrected { game: id.into(), result, note };
        Ok(CarriedOut { players: Some(names), ..CarriedOut::new(fact, told) })
    }

    /// Decides a running game against a player; returns whether it was running.
    fn decide(&mut self, tag: GameTag, seat: SeatNo, note: Option<Note>) -> bool {
        let was_running = self.boards.decide(tag, seat, note);
        if was_running {
            self.conclude_games();
        }
        was_running
    }

    fn seat_of(&self, player: &Name) -> Result<SeatNo, CommandError> {
        let seat = self.players.seat_of(player.as_str());
        seat.ok_or_else(|| CommandError::UnknownPlayer(player.clone()))
    }

    /// Aborts such games that are paired and have not begun.
    pub(super) fn call_off_all(&mut self, is_it: impl Fn(Pairing) -> bool, reason: &str) {
        let those = self.invitations.iter().filter(|(_, pairing)| is_it(*pairing));
        for tag in those.map(|(tag, _)| tag).collect::<Vec<_>>() {
            self.call_off(tag, reason);
        }
    }
}
