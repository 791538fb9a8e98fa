//! Tournament as the hub knows it: the state that its task reports, and the pairings that its games tell.

use std::collections::VecDeque;

use super::view::{GameSummary, PairingRow, RefusalRow, Tournament, TournamentSummary};

/// Games of a tournament that are shown, the latest.
const MAX_PAIRINGS: usize = 2000;

#[derive(Debug, Default)]
pub(super) struct TournamentEntry {
    /// `None` until its task has reported it.
    pub(super) summary: Option<TournamentSummary>,
    pairings: VecDeque<PairingRow>,
    refusals: Vec<RefusalRow>,
    /// It has changed since the last message about it.
    pub(super) is_dirty: bool,
}

impl TournamentEntry {
    pub(super) fn update(&mut self, summary: TournamentSummary) {
        self.summary = Some(summary);
        self.is_dirty = true;
    }

    /// Adds a game, or its result.
    pub(super) fn note(&mut self, game: &GameSummary) {
        let row = PairingRow {
            round: game.round.unwrap_or_default(),
            white: game.white.name.clone(),
            black: game.black.name.clone(),
            game: Some(game.id.clone()),
            result: game.result.clone(),
            note: game.reason.clone().filter(|_| game.result.as_deref() == Some("*")),
        };
        match self.pairings.iter_mut().rev().find(|known| known.game == row.game) {
            Some(known) => *known = row,
            None => push(&mut self.pairings, row, MAX_PAIRINGS),
        }
        self.is_dirty = true;
    }

    pub(super) fn set_refusals(&mut self, rows: Vec<RefusalRow>) {
        self.refusals = rows;
        self.is_dirty = true;
    }

    pub(super) fn view(&self) -> Option<Tournament> {
        Some(Tournament {
            summary: self.summary.clone()?,
            pairings: self.pairings.iter().cloned().collect(),
            refusals: self.refusals.clone(),
        })
    }
}

fn push<T>(rows: &mut VecDeque<T>, row: T, max: usize) {
    if rows.len() >= max {
        rows.pop_front();
    }
    rows.push_back(row);
}
