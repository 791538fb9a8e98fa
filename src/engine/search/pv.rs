//! The principal variation: the line both sides are expected to play.
//!
//! Source: Chess Programming Wiki, "Triangular PV-Table".

use super::MAX_PLY;

/// One line for each ply of the search, each a move longer at its front than the one below it.
pub struct PvTable<M> {
    lines: Box<[Vec<M>]>,
}

impl<M: Copy> PvTable<M> {
    /// Room for every line, allocated once.
    pub fn new() -> Self {
        let lines = (0..=MAX_PLY).map(|ply| Vec::with_capacity((MAX_PLY - ply) as usize + 1));
        PvTable { lines: lines.collect() }
    }

    /// Nothing is known at this ply yet.
    pub fn clear(&mut self, ply: u16) {
        self.lines[ply as usize].clear();
    }

    /// At this ply `mv` is best, and goes on as found one ply below.
    pub fn raise(&mut self, ply: u16, mv: M) {
        if let [line, below, ..] = &mut self.lines[ply as usize..] {
            line.clear();
            line.push(mv);
            line.extend_from_slice(below);
        }
    }

    /// The line from the root.
    pub fn root(&self) -> &[M] {
        &self.lines[0]
    }
}
