//! Syzygy endgame tablebases.
//!
//! The search probes through [`TablebaseProbe`]; [`files`] implements it with the crate `shakmaty-syzygy`. Below
//! the root the search probes WDL; at the root, [`RootProbe`] keeps the best moves by DTZ and the fifty-move rule.
//!
//! Source: Chess Programming Wiki, "Syzygy Bases".

use std::{path::PathBuf, sync::Arc};

pub use shakmaty_syzygy::Wdl;

use zeitnot_rules::{Game, GameHistory, Packed, Tactics};
use zeitnot_settings::settings;

use super::Score;

mod files;
mod root_probe;
#[cfg(test)]
mod tests;

pub use files::{TablebaseError, Tablebases};
pub use root_probe::{Kept, RootProbe};

/// Most pieces of any Syzygy table.
pub const MAX_PIECES: usize = 7;

settings! {
    /// Syzygy endgame tables of chess, atomic and antichess.
    #[derive(PartialEq, Eq)]
    pub struct SyzygyConfig {
        /// Folders with the files: .rtbw and .rtbz for chess, see docs/sources.md for atomic and antichess.
        folders: Vec<PathBuf> = Vec::new(),
        /// Maximum number of pieces to probe.
        #[schemars(range(min = 3, max = MAX_PIECES))]
        max_pieces: usize = MAX_PIECES,
        /// Minimum depth to probe positions with as many pieces as the largest table.
        min_depth: u16 = 1,
    }
}

/// Tablebases of one game, probed by all search threads at once.
pub trait TablebaseProbe<G: Game>: Send + Sync {
    /// Largest number of pieces covered in the game of this position.
    fn max_pieces(&self, position: &G) -> usize;

    /// Result for the side to move if the last move was a capture or a pawn move; `None` if unknown.
    fn wdl(&self, position: &G) -> Option<Wdl>;

    /// Distance to zeroing in plies: positive for a win, above 100 if the fifty-move rule prevents it, negative for a
    /// loss, rounded up in magnitude where inexact; `None` if unknown.
    fn dtz(&self, position: &G) -> Option<i32>;
}

/// Tablebases with the limits of probing.
pub(crate) struct LimitedProbe<G> {
    probe: Arc<dyn TablebaseProbe<G>>,
    max_pieces: usize,
    depth: i32,
}

impl<G> Clone for LimitedProbe<G> {
    fn clone(&self) -> Self {
        LimitedProbe { probe: self.probe.clone(), ..*self }
    }
}

impl<G: Tactics> LimitedProbe<G> {
    /// Probes within the configured limits.
    pub(crate) fn new(probe: Arc<dyn TablebaseProbe<G>>, config: &SyzygyConfig) -> Self {
        LimitedProbe { max_pieces: config.max_pieces, depth: config.min_depth.into(), probe }
    }

    fn max_pieces(&self, position: &G) -> usize {
        self.max_pieces.min(self.probe.max_pieces(position))
    }

    /// Returns whether a node may be probed: only right after a capture or pawn move, as WDL ignores the fifty-move
    /// counter.
    pub(super) fn covers(&self, position: &G, depth: i32) -> bool {
        let pieces = position.piece_count();
        // First without asking the tables, which few nodes need.
        if pieces > self.max_pieces || position.reversible_plies() > 0 {
            return false;
        }
        let max_pieces = self.max_pieces(position);
        pieces < max_pieces || pieces == max_pieces && depth >= self.depth
    }

    /// See [`TablebaseProbe::wdl`].
    pub(super) fn wdl(&self, position: &G) -> Option<Wdl> {
        self.probe.wdl(position)
    }

    /// Probes the root, restricted to `wanted` moves unless empty.
    pub(super) fn root(
        &self,
        line: &GameHistory<G>,
        wanted: &[Packed],
        stop: impl Fn() -> bool,
    ) -> Option<RootProbe> {
        if line.now().piece_count() > self.max_pieces(line.now()) {
            return None;
        }
        RootProbe::of(&*self.probe, line, wanted, Kept::All, stop)
    }
}

impl Score {
    /// Score of a tablebase result, `ply` from the root.
    pub(super) fn from_wdl(wdl: Wdl, ply: u16) -> Score {
        match wdl {
            Wdl::Win => Score::tb_win_in(ply),
            Wdl::Loss => Score::tb_loss_in(ply),
            // Drawn by the fifty-move rule, if the opponent plays well.
            Wdl::CursedWin => Score::cp(1),
            Wdl::BlessedLoss => Score::cp(-1),
            Wdl::Draw => Score::ZERO,
        }
    }
}
