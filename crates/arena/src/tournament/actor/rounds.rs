//! From pairings to games: players are paired, asked whether they are ready, and begin.

use tokio::time::Instant;
use zeitnot_pairing::{Pairing, SeatNo, format::PairingKind};
use zeitnot_referee::{Adjudication, Allowance, MAX_MOVES, Referee, RefereeRules, TRANSIT};
use zeitnot_rules::{ByColor, Color, GameKind};

use super::{
    super::{players::Doing, restore::bye_fact},
    TournamentActor,
    endings::Departure,
};
use crate::{message::Notice, news::Event, online_game::OnlineGame};
use zeitnot_host::{
    database::Fact,
    game_info::{GameInfo, TournamentGameInfo},
    hosted_game::Host,
    live::view::Source,
    tag::GameTag,
};

impl TournamentActor {
    pub(super) fn pair(&mut self) {
        if self.progress.goes_on() {
            self.begin_round();
            for pairing in self.pairing.pair(&self.players.free()) {
                self.invite(pairing);
            }
            self.tell_those_without_games();
        }
    }

    /// Pairs the next round, if the last one is over. What comes later in the history does not change it.
    pub(super) fn begin_round(&mut self) {
        if let Some(round) = self.pairing.begin_round() {
            self.note(Fact::Round { round });
        }
        self.grant_byes();
    }

    /// Counts the points without a game.
    pub(super) fn grant_byes(&mut self) {
        for bye in self.pairing.take_byes() {
            let Some(player) = self.players.get(bye.seat) else { continue };
            let fact = bye_fact(&bye, &player.name);
            let Some(row) = self.record.apply_fact(&fact) else { continue };
            self.journal.note(fact);
            self.reports.end_pairing(row);
            if let Some(client) = player.client.as_ref().filter(|_| !bye.is_revoked) {
                client.tell_optional(Notice::Info("You have a bye: a point without a game".into()));
            }
        }
    }

    fn invite(&mut self, pairing: Pairing) {
        let Some(names) = self.players.names(pairing) else { return };
        let (game, kind, time_control) = (GameTag::random(), self.config.game, self.config.time);
        for color in Color::BOTH {
            self.players.set_doing(pairing.seats[color], Doing::Invited(game));
            let Some(client) = self.players.client(pairing.seats[color]) else { continue };
            client.info(format!("Paired with {} for game", names[!color]));
            client.tell(Notice::GamePaired { game, kind, names: names.clone(), time_control });
        }
        let is_silent = |seat| self.players.get(seat).is_some_and(|player| player.is_silent);
        let is_silent = ByColor(pairing.seats.0.map(is_silent));
        self.invitations.add(game, pairing, is_silent, self.config.ack_timeout);
        self.reports.note_change();
    }

    /// A player is ready; when both are, the game begins.
    pub(super) fn accept(&mut self, tag: GameTag, seat: SeatNo) {
        let Some(are_ready) = self.invitations.acknowledge(tag, seat) else { return };
        self.players.acknowledged(seat);
        if are_ready {
            self.begin(tag);
        } else if let Some(client) = self.players.client(seat) {
            client.info("Waiting for opponent to acknowledge game");
        }
    }

    fn begin(&mut self, tag: GameTag) {
        let Some(pairing) = self.invitations.take(tag) else { return };
        let (Some(names), Some(clients), Ok(board)) =
            (self.players.names(pairing), self.players.clients_of(pairing), self.boards.set_up(pairing))
        else {
            return;
        };
        for color in Color::BOTH {
            clients[color].info("Both players have acknowledged game. Starting...");
        }
        self.report(Event::GameStarted { game: tag, names: names.clone() });
        let tournament = TournamentGameInfo {
            name: self.config.name.to_string(),
            stored: self.journal.tournament(),
            numbering: self.config.pairing.into(),
            number: self.pairing.round().unwrap_or(self.boards.next_number()),
            opening: pairing.opening,
            repeats: self.boards.take_broken_off(&names),
        };
        let time = self.config.time;
        let info = GameInfo {
            players: self.config.persons(&names),
            tournament: Some(tournament),
            time_control: Some(time),
            ..GameInfo::new(Source::Contest, &board, names)
        };
        // Of all games only TUC-Chess has no rule that ends one without progress.
        let max_moves = (self.config.game == GameKind::Tuc).then_some(MAX_MOVES);
        let adjudication = Adjudication { max_moves, ..Adjudication::default() };
        let rules = RefereeRules { transit: TRANSIT, adjudication, ..RefereeRules::default() };
        let referee = Referee::new(board, ByColor::both(Allowance::Game(time)), rules, Instant::now());
        let host = Host { feed: self.reports.live().clone(), database: self.journal.database() };
        let max_illegal_moves = self.config.max_illegal_moves;
        let game = OnlineGame::start(tag, info, referee, clients, max_illegal_moves, host);
        self.boards.insert(tag, pairing, game);
        pairing.seats.0.into_iter().for_each(|seat| self.players.set_doing(seat, Doing::Playing(tag)));
    }

    /// A game that was paired does not take place.
    pub(super) fn call_off(&mut self, tag: GameTag, reason: &str) {
        let Some(pairing) = self.invitations.take(tag) else { return };
        self.reports.note_change();
        for seat in pairing.seats.0 {
            self.players.set_doing(seat, Doing::Waiting);
            if let Some(client) = self.players.client(seat) {
                client.tell(Notice::GameAborted { reason: reason.to_owned() });
            }
        }
    }

    /// Disconnects those who did not say `ACK` in time. The other one is paired again; in a Swiss, where all wait for the
    /// last game of a round, the other one wins. Two who are silent are paired again once: neither has earned a point, and
    /// the delay may have been ours.
    pub(super) fn dismiss_silent(&mut self, game: GameTag, silent: Vec<SeatNo>) {
        let (mut reason, mut again) = (String::new(), Vec::new());
        for seat in &silent {
            let Some(player) = self.players.get(*seat) else { continue };
            let name = player.name.clone();
            if let Some(client) = &player.client {
                client.throw_out("You did not acknowledge the game in time");
            }
            if self.players.note_silence(*seat) {
                again.push(*seat);
            }
            self.note_refusal(name.as_str(), &"Did not acknowledge a game in time");
            reason = format!("Player {name} did not acknowledge the game");
            self.part(*seat, name);
        }
        self.call_off(game, &reason);
        if self.config.pairing == PairingKind::Swiss {
            let out = if silent.len() == 1 { silent } else { again };
            out.into_iter().for_each(|seat| self.withdraw(seat, Departure::Silence));
        }
    }
}
