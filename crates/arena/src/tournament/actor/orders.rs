//! Orders of the organiser, carried out. The state follows at once, in the order of the facts; the organiser, the players
//! and the page are told when the facts are settled (see the journal).

use zeitnot_host::{
    database::Fact,
    note::{Note, with_note},
    tag::GameTag,
};
use zeitnot_pairing::{Name, Pairing, SeatNo, format::PairingKind};
use zeitnot_referee::Cause;
use zeitnot_rules::{ByColor, GameResult};

use super::{
    super::{
        command::{Answer, CarriedOut, Command, CommandError, Effect},
        journal::Unplayed,
        past::GameScore,
        players::Doing,
    },
    TournamentActor,
    endings::Departure,
};
use crate::message::Notice;

/// Order that can be carried out.
#[derive(Debug)]
struct Order {
    facts: Vec<Fact>,
    /// A game that is decided without being played.
    game: Option<Unplayed>,
    effects: Vec<Effect>,
    /// Line for the players and the log.
    told: String,
}

impl Order {
    fn new(fact: Fact, told: String) -> Order {
        Order { facts: vec![fact], game: None, effects: Vec::new(), told }
    }
}

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
            Ok(Order { facts, game, effects, told }) => {
                facts.iter().for_each(|fact| self.progress.apply(fact));
                self.journal.order(facts, game, CarriedOut { told, effects, answer }, &mut self.past);
                self.grant_byes();
            }
            // An error means that the organiser waits no longer.
            Err(refusal) => drop(answer.send(Err(refusal))),
        }
    }

    /// Tells of an order that is settled.
    pub(super) fn confirm(&mut self, CarriedOut { told, effects, answer }: CarriedOut) {
        tracing::info!("{}: {told}", self.config.name);
        self.players.clients().for_each(|client| client.tell_optional(Notice::Info(told.clone())));
        for effect in effects {
            match effect {
                Effect::ThrowOut { seat, client, why } => {
                    if self.players.seated(seat, &client).is_some() {
                        self.players.leave(seat);
                    }
                    client.throw_out(why);
                }
                Effect::Correction(correction, note) => {
                    // Where there are rounds it is out already, and this finds nothing.
                    correction.take_back(&mut self.standings);
                    correction.count(&mut self.standings);
                    self.pairings.push(correction.row(&note.to_string()));
                }
                Effect::Forfeit(score) => score.count(&mut self.standings),
                Effect::Unplayed(row) => self.pairings.push(row),
                Effect::Refuse { player, why } => self.note_refusal(player.as_str(), &why),
                Effect::Withdraw(name) => self.standings.withdraw(&name),
            }
        }
        let _ = answer.send(Ok(()));
        self.publisher.note_change();
    }

    fn start(&mut self) -> Result<Order, CommandError> {
        let name = self.config.name.clone();
        let here = self.players.seats.len();
        let named = self.players.seats.values().filter(|player| self.config.gauntlet.contains(&player.name));
        let named = named.count();
        match self.config.pairing {
            _ if !self.progress.is_waiting() => Err(CommandError::HasBegun(name)),
            _ if self.progress.is_paused() => Err(CommandError::IsPaused(name)),
            _ if here < 2 => Err(CommandError::TooFew { name, here }),
            PairingKind::Gauntlet if named == 0 || named == here => Err(CommandError::NoGauntlet(name)),
            _ => Ok(Order::new(Fact::Started, format!("Tournament {name} begins with {here} players"))),
        }
    }

    /// A game that is paired and has not begun waits for the end of the pause.
    fn pause(&mut self) -> Result<Order, CommandError> {
        let name = self.config.name.clone();
        if self.progress.is_paused() {
            return Err(CommandError::IsPaused(name));
        }
        self.call_off_all(|_| true, "The tournament is paused");
        let told = format!("Tournament {name} is paused: running games go on, others wait");
        Ok(Order::new(Fact::Paused, told))
    }

    /// Gives those who are away as much time to come as at the beginning.
    fn resume(&mut self) -> Result<Order, CommandError> {
        let name = self.config.name.clone();
        if !self.progress.is_paused() {
            return Err(CommandError::NotPaused(name));
        }
        self.players.excuse_absence();
        Ok(Order::new(Fact::Resumed, format!("Tournament {name} goes on")))
    }

    fn let_late_in(&mut self, allowed: bool) -> Result<Order, CommandError> {
        let name = self.config.name.clone();
        if self.progress.is_open() {
            return Err(CommandError::IsOpen(name));
        }
        if allowed && self.config.pairing == PairingKind::Knockout {
            return Err(CommandError::NoLateEntries(name));
        }
        let told = if allowed { "lets late ones in" } else { "lets nobody in after its beginning" };
        Ok(Order::new(Fact::LateEntries { allowed }, format!("Tournament {name} {told}")))
    }

    /// Takes a player out: the running game is lost, and what is left is forfeited.
    fn remove(&mut self, player: Name, note: Option<Note>) -> Result<Order, CommandError> {
        if self.players.is_removed(&player).is_some() {
            return Err(CommandError::IsRemoved(player));
        }
        let seat = self.seat_of(&player)?;
        match self.players.seats.get(&seat).map(|seated| seated.doing) {
            Some(Doing::Invited(tag)) => self.call_off(tag, &format!("Player {player} is removed")),
            Some(Doing::Playing(tag)) => drop(self.decide(tag, seat, note.clone())),
            Some(Doing::Waiting) | None => {}
        }
        let told = format!("The organiser has taken player {player} out of the tournament");
        let mut order = Order::new(Fact::Removed { player: player.clone(), note: note.clone() }, told);
        let client = self.players.seats.get(&seat).and_then(|seated| seated.client.clone());
        let why = with_note("Removed by the organiser".to_owned(), note.as_ref());
        order.effects.push(Effect::Refuse { player: player.clone(), why: why.clone() });
        order.effects.extend(client.map(|client| Effect::ThrowOut { seat, client, why }));
        if self.is_dispensable(seat, &player) {
            self.free(seat, &player);
        } else {
            if self.progress.has_begun() {
                self.withdraw(seat, Departure::Removal);
            }
            self.pairing.exclude(seat);
            order.effects.push(Effect::Withdraw(player.clone()));
        }
        self.players.remove(&player, note);
        Ok(order)
    }

    /// Decides the running game, or the one that is paired and has not begun.
    fn forfeit(&mut self, player: Name, note: Option<Note>) -> Result<Order, CommandError> {
        let seat = self.seat_of(&player)?;
        let told = format!("Player {player} loses a game by the organiser's decision");
        let nothing = || CommandError::NothingToForfeit(player.clone());
        let pairing = match self.players.seats.get(&seat).map(|seated| seated.doing) {
            Some(Doing::Playing(tag)) if self.decide(tag, seat, note.clone()) => {
                return Ok(Order { facts: Vec::new(), game: None, effects: Vec::new(), told });
            }
            Some(Doing::Invited(tag)) => self.invitations.get(&tag).map(|invitation| invitation.pairing),
            Some(Doing::Waiting) => self.pairing.open_game(seat),
            Some(Doing::Playing(_)) | None => None,
        };
        let pairing = pairing.ok_or_else(nothing)?;
        let names = self.players.names(pairing).ok_or_else(nothing)?;
        let (winner, round) = (!pairing.color_of(seat), self.pairing.round());
        self.call_off_all(|other| other == pairing, &told);
        let result = GameResult::Won(winner);
        let counts = self.pairing.forfeited(pairing, result);
        let (score, opening) = (names.clone(), Some(pairing.opening));
        let score = GameScore { names: score, round: round.unwrap_or_default(), result, is_played: false };
        let reason = "Forfeit by the organiser";
        Ok(Order {
            facts: Vec::new(),
            game: Some(Unplayed { names, winner, opening, round, reason, note }),
            effects: counts.then_some(Effect::Forfeit(score)).into_iter().collect(),
            told,
        })
    }

    /// Pairs two players; whoever waits for a game of a round loses the one they had.
    fn pair_by_hand(&mut self, white: Name, black: Name) -> Result<Order, CommandError> {
        if self.progress.is_waiting() {
            return Err(CommandError::NotBegun(self.config.name.clone()));
        }
        if white == black {
            return Err(CommandError::Alone(white));
        }
        let seats = ByColor([self.seat_of(&white)?, self.seat_of(&black)?]);
        self.begin_round();
        let busy = self.at_board();
        if let Err(why) = self.pairing.pair_by_hand(seats, &busy) {
            return Err(CommandError::NotPaired { white, black, why });
        }
        if self.pairing.round().is_some() {
            let is_theirs = |pairing: Pairing| pairing.seats.0.iter().any(|seat| seats.0.contains(seat));
            self.call_off_all(is_theirs, "The organiser has paired anew");
        }
        let told = format!("The organiser has paired {white} with {black}");
        Ok(Order::new(Fact::PairedByHand { white, black }, told))
    }

    /// Gives a game another result, or has it played again.
    fn correct(&mut self, id: String, result: Option<GameResult>, note: Note) -> Result<Order, CommandError> {
        if GameTag::read(&id).is_some_and(|tag| self.running.contains_key(&tag)) {
            return Err(CommandError::Running(id));
        }
        let Some((names, before)) = self.past.get(&id) else { return Err(CommandError::UnknownGame(id)) };
        // The standings do not have its result yet.
        if self.journal.has_orders() || !self.past.is_played(&id) && !self.journal.is_settled() {
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
        let busy = self.at_board().into_iter().filter(|pairing| is_theirs(*pairing)).count() as u32;
        let (pairing, players) = (&mut *self.pairing, &self.players);
        if let Err(why) = self.past.correct(&id, result, pairing, players, busy) {
            return Err(CommandError::NotCorrected { game: id, why });
        }
        // Somebody who had played all may have a game to play again.
        self.players.expect_back();
        // Their next game may fall out, or come later.
        self.call_off_all(is_theirs, "The organiser has corrected a result");
        let [white, black] = &names.0;
        let now = result.map_or("does not count", GameResult::as_str);
        let told = format!("The organiser has corrected {white} against {black}: {now} ({note})");
        let correction = self.past.swap(&id, result);
        // A bye may take its place at once. Without rounds there are no byes, and equal results have an order.
        if let Some(correction) = correction.as_ref().filter(|_| self.config.pairing.has_rounds()) {
            correction.take_back(&mut self.standings);
        }
        let effect = correction.map(|correction| Effect::Correction(correction, note.clone()));
        let mut order = Order::new(Fact::Corrected { game: id.into(), result, note }, told);
        order.effects.extend(effect);
        Ok(order)
    }

    /// Decides a running game against a player; returns whether it was running.
    fn decide(&mut self, tag: GameTag, seat: SeatNo, note: Option<Note>) -> bool {
        let Some(running) = self.running.get_mut(&tag).filter(|running| running.end.is_none()) else {
            return false;
        };
        running.note = note;
        let color = running.pairing.color_of(seat);
        running.game.lose(color, Cause::Organiser);
        self.conclude_games();
        true
    }

    fn seat_of(&self, player: &Name) -> Result<SeatNo, CommandError> {
        let seat = self.players.seat_of(player.as_str());
        seat.ok_or_else(|| CommandError::UnknownPlayer(player.clone()))
    }

    /// Games that go on.
    fn at_board(&self) -> Vec<Pairing> {
        let going_on = self.running.values().filter(|running| running.end.is_none());
        going_on.map(|running| running.pairing).collect()
    }

    /// Aborts such games that are paired and have not begun.
    pub(super) fn call_off_all(&mut self, is_it: impl Fn(Pairing) -> bool, reason: &str) {
        let those = self.invitations.iter().filter(|(_, invitation)| is_it(invitation.pairing));
        for tag in those.map(|(tag, _)| *tag).collect::<Vec<_>>() {
            self.call_off(tag, reason);
        }
    }
}
