//! Probing WDL tablebases in the search, right after captures and pawn moves.
//!
//! Source: Chess Programming Wiki, "Syzygy Bases".

use std::sync::atomic::Ordering::Relaxed;

use zeitnot_rules::Packed;

use super::{NodeType, Score, Window, Worker, worker::MAX_DEPTH};
use crate::{
    eval::{EngineGame, State},
    transposition_table::{Bound, Entry},
};

/// Extra depth at which a tablebase result is stored in the transposition table, as in Stockfish.
const DEPTH_BONUS: i32 = 6;

pub(super) enum TbResult {
    /// Not covered by the tables.
    Unknown,
    /// Exact, or outside the window: no search is needed.
    Cutoff(Score),
    /// Won: worth at least this; the search may find a mate.
    LowerBound(Score),
}

impl<G: EngineGame> Worker<'_, G> {
    /// Probes the tablebases; cheap where there are none.
    #[inline]
    pub(super) fn probe_tablebases<K: NodeType>(
        &mut self,
        position: &G,
        state: &State<G>,
        depth: i32,
        window: Window,
        ply: u16,
    ) -> TbResult {
        match self.shared.tables {
            Some(tables) if !K::ROOT && tables.covers(position, depth) => {
                self.probe_wdl(position, state, depth, window, ply)
            }
            _ => TbResult::Unknown,
        }
    }

    #[inline(never)]
    fn probe_wdl(
        &mut self,
        position: &G,
        state: &State<G>,
        depth: i32,
        window: Window,
        ply: u16,
    ) -> TbResult {
        let Some(wdl) = self.shared.tables.and_then(|tables| tables.wdl(position)) else {
            return TbResult::Unknown;
        };
        self.shared.hits.fetch_add(1, Relaxed);
        // Disk access may have been slow.
        self.check_limits_soon();
        let score = Score::from_wdl(wdl, ply);
        let bound = match score {
            _ if !score.is_decisive() => Bound::Exact,
            _ if score > Score::ZERO => Bound::Lower,
            _ => Bound::Upper,
        };
        if bound == Bound::Lower && score < window.beta {
            return TbResult::LowerBound(score);
        }
        let eval = if position.is_check() { Score::NEG_INFINITE } else { self.raw_eval(state, position) };
        let depth = (depth + DEPTH_BONUS).min(MAX_DEPTH.into()) as u8;
        let entry = Entry { mv: Packed::NONE, score: score.to_tt(ply), eval, depth, bound };
        self.shared.table.store(position.table_key(), entry);
        TbResult::Cutoff(score)
    }
}
