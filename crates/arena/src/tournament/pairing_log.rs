//! Pairings of a tournament that have come to an end, on their way to the page.

use zeitnot_pairing::Name;
use zeitnot_rules::ByColor;

use crate::{
    database::{Fact, GameEnd, GameHeader, History},
    live::view::PairingRow,
};

/// Rows that the page does not know yet. Without a page there are none.
#[derive(Debug, Default)]
pub(super) struct PairingLog {
    is_on: bool,
    unsent: Vec<PairingRow>,
    /// The page knows the tournament.
    is_known: bool,
}

impl PairingLog {
    pub(super) fn new(is_on: bool) -> PairingLog {
        PairingLog { is_on, ..PairingLog::default() }
    }

    /// Adds all that has happened before a restart.
    pub(super) fn replay(&mut self, history: &History) {
        if self.is_on {
            self.unsent.extend(byes(history));
            let ended =
                history.games.iter().filter_map(|game| Some(game_row(&game.header, game.end.as_ref()?)));
            self.unsent.extend(ended);
        }
    }

    /// Adds a pairing, or changes the one with the same game.
    pub(super) fn push(&mut self, row: PairingRow) {
        if self.is_on {
            self.unsent.push(row);
        }
    }

    /// Returns what the page does not know yet, and whether it knows nothing at all.
    pub(super) fn take(&mut self) -> (Vec<PairingRow>, bool) {
        (std::mem::take(&mut self.unsent), !std::mem::replace(&mut self.is_known, true))
    }
}

/// A game that is over or broken off, or that was not played.
pub(super) fn game_row(header: &GameHeader, end: &GameEnd) -> PairingRow {
    let ByColor([white, black]) = header.names.clone();
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

/// Returns the byes of a history, and those taken back.
fn byes(history: &History) -> impl Iterator<Item = PairingRow> {
    history.facts().filter_map(|fact| match fact {
        Fact::Bye { player, round } => Some(bye_row(*round, player)),
        Fact::ByeRevoked { player, round } => Some(revoked_row(*round, player)),
        _ => None,
    })
}
