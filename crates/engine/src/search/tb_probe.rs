//! Endgame tables in the search: right after a capture or a pawn's move they are asked who wins.
//!
//! Source: Chess Programming Wiki, "Syzygy Bases".

use std::sync::atomic::Ordering::Relaxed;

use zeitnot_rules::Packed;

use super::{NodeType, Score, Window, Worker, worker::MAX_DEPTH};
use crate::{
    eval::{EngineGame, State},
    transposition_table::{Bound, Entry},
};

/// What a table says counts as this much deeper a search.
const DEEPER: i32 = 6;

/// What the tables say of a node.
pub(super) enum Known {
    /// They do not know, or are not to be asked.
    Nothing,
    /// Nothing is to be searched.
    All(Score),
    /// It is won, so it is worth this at least; a search may find a mate.
    AtLeast(Score),
}

impl<G: EngineGame> Worker<'_, G> {
    /// Asks the tables. Costs a glance where there are none.
    #[inline]
    pub(super) fn ask_tables<K: NodeType>(
        &mut self,
        position: &G,
        state: &State<G>,
        depth: i32,
        window: Window,
        ply: u16,
    ) -> Known {
        match self.shared.tables {
            Some(tables) if !K::ROOT && tables.may_know(position, depth) => {
                self.look_up(position, state, depth, window, ply)
            }
            _ => Known::Nothing,
        }
    }

    #[inline(never)]
    fn look_up(&mut self, position: &G, state: &State<G>, depth: i32, window: Window, ply: u16) -> Known {
        let Some(end) = self.shared.tables.and_then(|tables| tables.end(position)) else {
            return Known::Nothing;
        };
        self.shared.hits.fetch_add(1, Relaxed);
        // The disk may have been slow.
        self.look_soon();
        let score = Score::from_wdl(end, ply);
        let bound = match score {
            _ if !score.is_decisive() => Bound::Exact,
            _ if score > Score::ZERO => Bound::Lower,
            _ => Bound::Upper,
        };
        if bound == Bound::Lower && score < window.beta {
            return Known::AtLeast(score);
        }
        let eval = if position.is_check() { Score::NEG_INFINITE } else { self.judge(state, position) };
        let depth = (depth + DEEPER).min(MAX_DEPTH.into()) as u8;
        let entry = Entry { mv: Packed::NONE, score: score.to_tt(ply), eval, depth, bound };
        self.shared.table.store(position.key(), entry);
        Known::All(score)
    }
}
