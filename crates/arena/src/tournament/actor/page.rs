//! Reports to the page: standings, and the pairings that are new or have no result yet.

use std::{collections::BTreeMap, mem::take};

use zeitnot_host::{
    live::{
        TournamentReport,
        view::{PairingRow, TournamentState},
    },
    tag::GameTag,
};
use zeitnot_pairing::{Name, OpenRound, Pairing};
use zeitnot_rules::ByColor;

use super::{super::view::view, TournamentActor};

impl TournamentActor {
    /// Shows standings and pairings on the page, once they have changed and it is time.
    pub(super) fn publish(&mut self, complete: bool) {
        if self.journal.has_orders() {
            return;
        }
        let (mut publisher, mut pairings) = (take(&mut self.publisher), take(&mut self.pairings));
        let actor = &*self;
        publisher.publish(&actor.reports.live, complete, || {
            let TournamentActor { config, progress, players, standings, reports, .. } = actor;
            let state = if complete { TournamentState::Complete } else { progress.state() };
            let (ended, is_first) = pairings.take();
            let edition = (config, reports.edition);
            let summary = view(edition, progress, Some(players), standings, state, &reports.joins);
            TournamentReport { summary, ended, open: actor.open_pairings(), is_first }
        });
        (self.publisher, self.pairings) = (publisher, pairings);
    }

    /// Returns the games that run, and those that are to begin: of the present round, or those that wait for `ACK`.
    pub(super) fn open_pairings(&self) -> Vec<PairingRow> {
        let running: BTreeMap<_, _> =
            self.running.iter().map(|(tag, running)| (running.pairing.seats.0, *tag)).collect();
        let paired = |(round, pairing): (u32, &Pairing)| {
            Some(row(round, &self.players.names(*pairing)?, running.get(&pairing.seats.0).copied()))
        };
        if let Some(OpenRound { number, pairings }) = self.pairing.open() {
            return pairings.iter().filter_map(|pairing| paired((number, pairing))).collect();
        }
        let begun = self.running.iter().map(|(tag, running)| {
            let round = running.game.hosted.info.tournament.as_ref().map_or(0, |it| it.number);
            row(round, &running.names, Some(*tag))
        });
        // Games are numbered as they begin.
        let next = self.rounds.saturating_add(1)..;
        let invited = self.invitations.values().map(|invitation| &invitation.pairing);
        begun.chain(next.zip(invited).filter_map(paired)).collect()
    }
}

fn row(round: u32, names: &ByColor<Name>, game: Option<GameTag>) -> PairingRow {
    let [white, black] = names.0.each_ref().map(ToString::to_string);
    PairingRow {
        round,
        white,
        black: Some(black),
        game: game.map(|game| game.to_string()),
        result: None,
        forfeit: false,
        note: None,
    }
}
