//! The principal variation: the line both sides are expected to play.
//!
//! Source: Chess Programming Wiki, "Triangular PV-Table".

use zeitnot_rules::{Game, Packed};

use super::MAX_PLY;

/// A line for the root, and for each ply below it.
const LINES: usize = MAX_PLY as usize + 1;

/// One line for each ply of the search, each a move longer at its front than the one below it.
pub struct PvTable {
    lines: Box<[[Packed; LINES]]>,
    lengths: [u8; LINES],
}

impl PvTable {
    /// Room for every line, allocated once; its memory comes as lines get long.
    pub fn new() -> Self {
        PvTable { lines: bytemuck::zeroed_slice_box(LINES), lengths: [0; LINES] }
    }

    /// Nothing is known at this ply yet.
    pub fn clear(&mut self, ply: u16) {
        self.lengths[ply as usize] = 0;
    }

    /// At this ply `mv` is best, and goes on as found one ply below.
    pub fn raise(&mut self, ply: u16, mv: Packed) {
        let ply = ply as usize;
        if let [line, below, ..] = &mut self.lines[ply..] {
            let length = self.lengths[ply + 1] as usize;
            line[0] = mv;
            line[1..=length].copy_from_slice(&below[..length]);
            self.lengths[ply] = length as u8 + 1;
        }
    }

    /// The line from the root.
    pub fn root<G: Game>(&self, root: &G) -> Vec<G::Move> {
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
