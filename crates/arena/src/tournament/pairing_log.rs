//! Pairings of a tournament that have come to an end, as the page shows them.

use zeitnot_pairing::Name;

use zeitnot_host::{
    database::{Fact, GameEnd, GameHeader, History, Step},
    live::{MAX_PAIRINGS, view::PairingRow},
};

/// A game that is over or broken off, or that was not played.
pub(super) fn game_row(header: &GameHeader, end: &GameEnd) -> PairingRow {
    let [white, black] = header.players.0.each_ref().map(|player| player.name.clone());
    PairingRow {
        round: header.round.unwrap_or_default(),
        white,
        black: Some(black),
        game: Some(header.id.to_string()),
        result: Some(end.result_text().to_owned()),
        forfeit: !end.is_played(),
        note: match &end.note {
            Some(note) => Some(note.to_string()),
            None => end.result.is_none().then(|| end.reason.clone()),
        },
    }
}

/// A point without a game.
pub(super) fn bye_row(round: u32, player: &Name) -> PairingRow {
    PairingRow {
        round,
        white: player.to_string(),
        black: None,
        game: None,
        result: Some("1-0".to_owned()),
        forfeit: false,
        note: None,
    }
}

/// A bye that is taken back.
pub(super) fn revoked_row(round: u32, player: &Name) -> PairingRow {
    PairingRow { result: None, ..bye_row(round, player) }
}

/// Returns the byes and the games of a history in their order, and then the games without a result: the latest, which the
/// page shows.
pub(super) fn rows(history: &History) -> Vec<PairingRow> {
    let row = |step: &Step<'_>| match step {
        Step::Fact(Fact::Bye { player, round }) => Some(bye_row(*round, player)),
        Step::Fact(Fact::ByeRevoked { player, round }) => Some(revoked_row(*round, player)),
        Step::Fact(_) => None,
        Step::Result(header, end, _) => Some(game_row(header, end)),
    };
    let without_result = history.games.iter().rev().filter_map(|game| {
        let end = game.end.as_ref().filter(|end| end.result.is_none() || end.place.is_none())?;
        Some(game_row(&game.header, end))
    });
    let with_result = history.steps();
    let latest = without_result.chain(with_result.iter().rev().filter_map(row)).take(MAX_PAIRINGS);
    let mut rows: Vec<_> = latest.collect();
    rows.reverse();
    rows
}
