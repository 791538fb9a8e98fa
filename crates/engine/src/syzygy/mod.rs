//! Endgame tables in Syzygy's format: who wins where few men are left, and how far it is to the next capture or
//! move of a pawn.
//!
//! A search asks an [`TablebaseProbe`] and knows of no files; [`files`] are those on the disk, by the crate
//! `shakmaty-syzygy`. Below the root the search is told who wins (WDL), at the root [`RootProbe`] keeps the moves that
//! hold the best end, by the distance (DTZ) and the rule of fifty moves.
//!
//! Source: Chess Programming Wiki, "Syzygy Bases".

use std::{path::PathBuf, sync::Arc};

use serde::Deserialize;
pub use shakmaty_syzygy::Wdl;

use zeitnot_rules::{Game, GameHistory, Packed, Tactics};

use super::Score;

mod files;
mod root_probe;
#[cfg(test)]
mod tests;

pub use files::{TablebaseError, Tablebases};
pub use root_probe::RootProbe;

/// The most men that any of these tables has.
pub const MAX_PIECES: usize = 7;

/// The `[engine.syzygy]` table of the configuration.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SyzygyConfig {
    /// The folders with the files; none: no tables.
    pub folders: Vec<PathBuf>,
    /// Nobody is asked where there are more men.
    pub max_pieces: usize,
    /// Where there are as many men as in the largest table, only searches of this depth ask, or deeper ones.
    pub min_depth: u16,
}

impl Default for SyzygyConfig {
    fn default() -> Self {
        SyzygyConfig { folders: Vec::new(), max_pieces: MAX_PIECES, min_depth: 1 }
    }
}

/// Who knows how endgames of one game end. Asked by all threads of all searches at once.
pub trait TablebaseProbe<G: Game>: Send + Sync {
    /// The most men that it knows anything of.
    fn men(&self) -> usize;

    /// The end for the side to move, with the best play of both, if the last move was a capture or a pawn's;
    /// `None`: it does not know.
    fn end(&self, position: &G) -> Option<Wdl>;

    /// Plies until the side to move can force a capture, a move of a pawn or the end of the game and keep what it
    /// has: above zero where it wins, and by more than a hundred where the rule of fifty moves prevents that; below
    /// where it loses. Where it may be one more, it is. `None`: it does not know.
    fn distance(&self, position: &G) -> Option<i32>;
}

/// An oracle, and when a search asks it.
pub struct LimitedProbe<G> {
    oracle: Arc<dyn TablebaseProbe<G>>,
    men: usize,
    depth: i32,
}

impl<G> Clone for LimitedProbe<G> {
    fn clone(&self) -> Self {
        LimitedProbe { oracle: self.oracle.clone(), ..*self }
    }
}

impl<G: Tactics> LimitedProbe<G> {
    /// Asks within these bounds.
    pub fn new(oracle: Arc<dyn TablebaseProbe<G>>, config: &SyzygyConfig) -> Self {
        LimitedProbe { men: oracle.men().min(config.max_pieces), depth: config.min_depth.into(), oracle }
    }

    /// May a node of this depth ask? Right after a capture or a pawn's move only: before that, the rule of fifty
    /// moves may know better.
    pub(super) fn may_know(&self, position: &G, depth: i32) -> bool {
        let men = position.men();
        men <= self.men && (men < self.men || depth >= self.depth) && position.reversible_plies() == 0
    }

    /// See [`TablebaseProbe::end`].
    pub(super) fn end(&self, position: &G) -> Option<Wdl> {
        self.oracle.end(position)
    }

    /// What is known at the root of a search, where only `wanted` moves are asked for; empty: all of them.
    pub(super) fn root(
        &self,
        line: &GameHistory<G>,
        wanted: &[Packed],
        stop: impl Fn() -> bool,
    ) -> Option<RootProbe> {
        if line.now().men() > self.men {
            return None;
        }
        RootProbe::of(&*self.oracle, line, wanted, stop)
    }
}

impl Score {
    /// What this end is worth to the side to move, `ply` from the root.
    pub(super) fn from_wdl(end: Wdl, ply: u16) -> Score {
        match end {
            Wdl::Win => Score::tb_win_in(ply),
            Wdl::Loss => Score::tb_loss_in(ply),
            // Drawn by the rule of fifty moves, if the other side knows how.
            Wdl::CursedWin => Score::cp(1),
            Wdl::BlessedLoss => Score::cp(-1),
            Wdl::Draw => Score::ZERO,
        }
    }
}
