//! Ends: of games, whose results are told when they are settled, of players who stay away, of the tournament.

use std::sync::Arc;

use tokio::select;
use tokio_util::sync::CancellationToken;
use zeitnot_net::wait::until;
use zeitnot_pairing::{Name, SeatNo, format::PairingKind};
use zeitnot_rules::{ByColor, Color};

use super::{
    super::{
        journal::{Settled, Unplayed},
        record::names,
    },
    TournamentActor,
};
use crate::news::Event;
use zeitnot_host::{
    database::{Fact, GameEnd},
    pgn,
    tag::GameTag,
};

/// Way in which a player goes for good.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Departure {
    Absence,
    /// No `ACK`.
    Silence,
    Removal,
}

impl Departure {
    /// Reason why the games are not played.
    fn reason(self) -> &'static str {
        match self {
            Departure::Absence => "Absence",
            Departure::Silence => "No acknowledgement",
            Departure::Removal => "Removed by the organiser",
        }
    }

    fn told(self, name: &Name) -> String {
        match self {
            Departure::Absence => format!("Player {name} stayed away for too long and is out"),
            Departure::Silence => format!("Player {name} did not acknowledge the game and loses it"),
            Departure::Removal => format!("Player {name} forfeits the remaining games"),
        }
    }
}

impl TournamentActor {
    /// A player who is out forfeits the rest.
    pub(super) fn withdraw(&mut self, seat: SeatNo, departure: Departure) {
        let Some(player) = self.players.get(seat) else { return };
        let name = player.name.clone();
        self.players.give_up(seat);
        let round = self.pairing.round();
        let forfeited = self.pairing.withdraw(seat, &self.players.seats());
        let Some(forfeited) = forfeited else { return };
        if departure == Departure::Absence {
            let why = match self.config.pairing {
                PairingKind::Swiss => "Stayed away for too long: out until it joins again",
                _ => "Stayed away for too long and forfeits the remaining games",
            };
            self.note_refusal(name.as_str(), &why);
        }
        let opponents = forfeited
            .into_iter()
            .filter_map(|(opponent, games)| Some((self.players.get(opponent)?.name.clone(), games)));
        let reason = departure.reason();
        let kind = self.config.game;
        let game = |opponent: Name| Unplayed {
            kind,
            players: self.config.persons(&ByColor([opponent, name.clone()])),
            winner: Color::White,
            opening: None,
            round,
            reason,
            note: None,
        };
        let games =
            opponents.flat_map(|(opponent, games)| vec![opponent; games as usize]).map(game).collect();
        self.players.withdraw(seat);
        let told = departure.told(&name);
        self.journal.withdraw((seat, name), games, told);
    }

    /// Hands over the results of the games that are over. They are told when they are settled.
    pub(super) fn conclude_games(&mut self) {
        self.boards.hand_over_ends(&mut self.journal, &mut *self.pairing);
        self.grant_byes();
    }

    /// Tells what is settled.
    pub(super) fn settle(&mut self, settled: Settled) {
        match settled {
            Settled::Withdrawal { seat, name, games, told } => {
                let rows = games.iter().filter_map(|game| self.record.add(game));
                rows.for_each(|row| self.reports.end_pairing(row));
                // A player who has joined again meanwhile is not out.
                if self.players.get(seat).is_some_and(|player| player.is_withdrawn) {
                    self.record.apply_fact(&Fact::Withdrawn { player: name.clone() });
                }
                self.players.tell_others(seat, &told);
                self.report(Event::Withdrawn(name));
            }
            Settled::Order(order, answer) => self.confirm(*order, answer),
            Settled::Game(tag) => self.conclude(tag),
        }
    }

    fn conclude(&mut self, tag: GameTag) {
        let Some((pairing, game, state)) = self.boards.conclude(tag) else { return };
        for seat in pairing.seats.0 {
            self.players.rest(seat, self.config.pause);
        }
        self.record.add(&state).into_iter().for_each(|row| self.reports.end_pairing(row));
        if let (Some(GameEnd { result, reason, .. }), Some(names)) = (state.end.clone(), names(&state.header))
        {
            let plies = game.hosted.referee.plies.len();
            self.report(Event::GameEnded { game: tag, names, result, reason, plies });
        }
        let name = self.config.name.to_string();
        self.store.write(move || pgn::print_or_explain(Some(name), &state));
    }

    /// Takes corrections of results once all is played, until `stop`: the page goes on showing the standings.
    pub(super) async fn take_corrections(&mut self, stop: &CancellationToken) {
        self.progress.end();
        loop {
            let deadline = self.deadline();
            select! {
                () = stop.cancelled() => break,
                Some(job) = self.jobs.recv() => self.contain(job),
                () = until(deadline) => {}
                Some(settled) = self.journal.settled() => self.contain(|actor| actor.settle(settled)),
            }
            self.show_on_page(false);
        }
        self.settle_all().await;
    }

    /// Tells the ends that are on their way to the disk.
    async fn settle_all(&mut self) {
        while let Some(settled) = self.journal.settled().await {
            self.contain_last(|actor| actor.settle(settled));
        }
    }

    /// Aborts running games, and closes all connections.
    pub(super) async fn close(&mut self, complete: bool) {
        self.contain_last(|actor| actor.boards.shut_down());
        self.contain_last(Self::conclude_games);
        self.settle_all().await;
        let name = &self.config.name;
        let goodbye = if complete {
            self.journal.complete().await;
            format!("Tournament {name} is over")
        } else if self.progress.is_deleted() {
            self.journal.delete().await;
            format!("Tournament {name} has been deleted by the organiser")
        } else {
            "The arena is shutting down".to_owned()
        };
        self.contain_last(|actor| actor.call_off_all(|_| true, &goodbye));
        self.players.clients().for_each(|client| client.hang_up(goodbye.clone()));
        if complete {
            self.report(Event::Over(Arc::new(self.record.standings().clone())));
        }
    }
}
