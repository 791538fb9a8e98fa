//! Reports to the page: standings, and the pairings that are new or have no result yet.

use std::collections::BTreeMap;

use zeitnot_pairing::{OpenRound, Pairing, PairingSystem};
use zeitnot_rules::ByColor;

use super::{
    super::{boards::Boards, invitations::Invitations, players::Players, view::view},
    TournamentActor,
};
use zeitnot_host::{
    live::view::{PairingRow, TournamentState},
    tag::GameTag,
};

impl TournamentActor {
    /// Shows standings and pairings on the page, once they have changed and it is time.
    pub(super) fn publish(&mut self, complete: bool) {
        if self.journal.has_orders() {
            return;
        }
        self.reports.publish(complete, |edition, joins| {
            let state = if complete { TournamentState::Complete } else { self.progress.state() };
            let (edition, players) = ((&self.config, edition), Some(&self.players));
            let summary = view(edition, &self.progress, players, self.record.standings(), state, joins);
            let open = open_pairings(&self.boards, &self.invitations, &*self.pairing, &self.players);
            (summary, open)
        });
    }
}

/// Returns the games that run, and those that are to begin: of the present round, or those that wait for `ACK`.
fn open_pairings(
    boards: &Boards,
    invitations: &Invitations,
    pairing: &dyn PairingSystem,
    players: &Players,
) -> Vec<PairingRow> {
    let running: BTreeMap<_, _> = boards.iter().map(|(tag, pairing, _)| (pairing.seats.0, tag)).collect();
    let paired = |(round, pairing): (u32, Pairing)| {
        Some(row(round, players.names(pairing)?, running.get(&pairing.seats.0).copied()))
    };
    if let Some(OpenRound { number, pairings }) = pairing.open() {
        return pairings.into_iter().filter_map(|pairing| paired((number, pairing))).collect();
    }
    let begun = boards.iter().map(|(tag, _, game)| {
        let round = game.hosted.info.tournament.as_ref().map_or(0, |it| it.number);
        row(round, game.names(), Some(tag))
    });
    // Games are numbered as they begin.
    let next = boards.next_number()..;
    let invited = invitations.iter().map(|(_, pairing)| pairing);
    begun.chain(next.zip(invited).filter_map(paired)).collect()
}

fn row(round: u32, names: ByColor<impl ToString>, game: Option<GameTag>) -> PairingRow {
    let [white, black] = names.0.map(|name| name.to_string());
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
