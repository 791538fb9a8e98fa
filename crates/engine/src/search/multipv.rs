//! The root lines of an iteration.
//!
//! Source: Stockfish's implementation of the UCI option `MultiPV`.

use zeitnot_rules::Packed;

use super::Score;

pub(super) struct RootLine<M> {
    pub(crate) mv: Packed,
    pub(crate) score: Score,
    pub(crate) seldepth: u16,
    /// Share of the iteration's nodes, in permille.
    pub(crate) share: u16,
    pub(crate) pv: Vec<M>,
}

/// The lines of this iteration and of the previous one, best first.
pub(super) struct MultiPv<M> {
    pub(crate) wanted: usize,
    pub(crate) found: Vec<RootLine<M>>,
    pub(crate) previous: Vec<RootLine<M>>,
}

impl<M> MultiPv<M> {
    /// Searches this many lines in each iteration.
    pub(crate) fn new(wanted: usize) -> Self {
        MultiPv { wanted, found: Vec::new(), previous: Vec::new() }
    }

    /// Returns whether a line other than the first is being searched.
    pub(crate) fn is_secondary(&self) -> bool {
        !self.found.is_empty()
    }

    /// Returns whether a line that begins with this move has been found.
    pub(crate) fn has(&self, mv: Packed) -> bool {
        self.found.iter().any(|line| line.mv == mv)
    }

    /// The best line of the previous iteration that has not been found again.
    pub(crate) fn next_previous(&self) -> Option<&RootLine<M>> {
        self.previous.iter().find(|line| !self.has(line.mv))
    }

    /// Likely first move of a secondary line; the transposition table knows only that of the first line.
    pub(crate) fn hint(&self) -> Option<Packed> {
        self.next_previous().filter(|_| self.is_secondary()).map(|line| line.mv)
    }
}
