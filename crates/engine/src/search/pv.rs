//! The principal variation.
//!
//! Source: Chess Programming Wiki, "Triangular PV-Table".

use zeitnot_rules::{Game, Packed};

use super::MAX_PLY;

/// Number of lines: one for the root and for each ply below it.
const LINES: usize = MAX_PLY as usize + 1;

/// Triangular table with one line for each ply.
pub(crate) struct PvTable {
    lines: Box<[[Packed; LINES]]>,
    lengths: [u8; LINES],
}

impl PvTable {
    /// Allocates all lines; the system commits their pages on first use.
    pub(crate) fn new() -> Self {
        PvTable { lines: bytemuck::zeroed_slice_box(LINES), lengths: [0; LINES] }
    }

    pub(crate) fn clear(&mut self, ply: u16) {
        self.lengths[ply as usize] = 0;
    }

    /// Sets the line of a ply to `mv` followed by the line of the next ply.
    pub(crate) fn update(&mut self, ply: u16, mv: Packed) {
        let ply = ply as usize;
        if let [line, below, ..] = &mut self.lines[ply..] {
            let length = self.lengths[ply + 1] as usize;
            line[0] = mv;
            line[1..=length].copy_from_slice(&below[..length]);
            self.lengths[ply] = length as u8 + 1;
        }
    }

    pub(crate) fn root<G: Game>(&self, root: &G) -> Vec<G::Move> {
        let mut now = root.clone();
        let line = self.lines[0].iter().take(self.lengths[0].into());
        let unpacked = line.map_while(|&packed| {
            let mv = now.unpack(packed)?;
            now.play(mv);
            Some(mv)
        });
        unpacked.collect()
    }
}
