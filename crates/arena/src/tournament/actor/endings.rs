//! Ends: of games, whose results are told when they are settled, of players who stay away, of the tournament.

use std::sync::Arc;

use tokio::select;
use tokio_util::sync::CancellationToken;
use zeitnot_host::{database::GameState, pgn, timer::until};
use zeitnot_pairing::{Name, SeatNo, format::PairingKind};
use zeitnot_rules::{ByColor, Color, GameResult};

use super::{
    super::{
        journal::{Settled, Unplayed},
        pairing_log::game_row,
        restore::BrokenOff,
    },
    Running, TournamentActor,
};
use crate::news::Event;

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
        let Some(player) = self.players.seats.get_mut(&seat) else { return };
        player.absent_since = None;
        let name = player.name.clone();
        let round = self.pairing.round();
        let forfeited = self.pairing.withdraw(seat, &self.players.seats.keys().copied().collect::<Vec<_>>());
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
            .filter_map(|(opponent, games)| Some((self.players.seats.get(&opponent)?.name.clone(), games)));
        let reason = departure.reason();
        let game = |opponent: Name| Unplayed {
            names: ByColor([opponent, name.clone()]),
            winner: Color::White,
            opening: None,
            round,
            reason,
            note: None,
        };
        let games =
            opponents.flat_map(|(opponent, games)| vec![opponent; games as usize]).map(game).collect();
        if let Some(player) = self.players.seats.get_mut(&seat) {
            player.is_withdrawn = true;
        }
        let told = departure.told(&name);
        self.journal.withdraw((seat, name), games, told, &mut self.past);
    }

    /// Hands over the results of the games that are over. They are told when they are settled.
    pub(super) fn conclude_games(&mut self) {
        for (tag, Running { pairing, game, end, note, counts, .. }) in &mut self.running {
            if let Some(ended) = self.journal.end_game(*tag, &mut game.hosted, note.clone()) {
                // The next changes are based on this result.
                *counts = ended.result.is_some_and(|result| self.pairing.played(*pairing, result));
                *end = Some(ended);
            }
        }
        self.grant_byes();
    }

    /// Tells what is settled.
    pub(super) async fn settle(&mut self, settled: Settled) {
        match settled {
            Settled::Withdrawal { seat, name, opponents, round, rows, told } => {
                let round = round.unwrap_or_default();
                for opponent in &opponents {
                    let names = ByColor([opponent, &name]);
                    self.standings.forfeit(round, names, GameResult::Won(Color::White));
                }
                rows.into_iter().for_each(|row| self.pairings.push(row));
                // A player who has joined again meanwhile is not out.
                if self.players.seats.get(&seat).is_some_and(|player| player.is_withdrawn) {
                    self.standings.withdraw(&name);
                }
                self.players.tell_others(seat, &told);
                self.report(Event::Withdrawn(name));
            }
            Settled::Order(order) => self.confirm(order),
            Settled::Game(tag) => {
                let Some(running) = self.running.remove(&tag) else { return };
                for seat in running.pairing.seats.0 {
                    self.players.rest(seat, self.config.pause);
                }
                self.record(running).await;
            }
        }
    }

    async fn record(&mut self, Running { names, mut game, end, counts, .. }: Running) {
        let Some(end) = end else { return };
        game.finish();
        let state = GameState { end: Some(end.clone()), ..game.hosted.state() };
        let header = state.header.clone();
        self.pairings.push(game_row(&header, &end));
        self.report(Event::GameEnded {
            names: names.clone(),
            result: end.result,
            reason: end.reason.clone(),
            plies: game.hosted.referee.plies.len(),
        });
        match end.result {
            Some(result) => {
                self.past.add(&header, true, result);
                if counts {
                    let round = header.round.unwrap_or_default();
                    self.standings.record(round, ByColor(names.0.each_ref()), result);
                }
            }
            None => self.broken_off.extend(BrokenOff::of(&header)),
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
                Some(settled) = self.journal.settled() => self.settle(settled).await,
            }
            self.show_on_page();
        }
        while let Some(settled) = self.journal.settled().await {
            self.settle(settled).await;
        }
    }

    /// Aborts running games, and closes all connections.
    pub(super) async fn close(&mut self, complete: bool) {
        self.running.values_mut().for_each(|running| running.game.shut_down());
        self.conclude_games();
        while let Some(settled) = self.journal.settled().await {
            self.settle(settled).await;
        }
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
        for tag in self.invitations.keys().copied().collect::<Vec<_>>() {
            self.call_off(tag, &goodbye);
        }
        self.players.clients().for_each(|client| client.hang_up(goodbye.clone()));
        if complete {
            self.report(Event::Over(Arc::new(self.standings.clone())));
        }
    }
}
