//! Quiescence search: captures and promotions are resolved before a position is evaluated.
//!
//! Source: Chess Programming Wiki, "Quiescence Search" and "Delta Pruning".

use zeitnot_rules::Packed;

use super::{MAX_PLY, NodeType, Score, Window, Worker, move_picker::Scope, tunable::tunables};
use crate::{
    Stopped,
    eval::{EngineGame, State},
    transposition_table::{Bound, Entry},
};

tunables! {
    /// Delta-pruning margin: captures that stay this far below alpha are skipped.
    DELTA = QuiescenceDelta: 120, 20..=500;
}

impl<G: EngineGame> Worker<'_, G> {
    /// Returns the score once the captures are played out.
    pub(super) fn quiesce<K: NodeType>(
        &mut self,
        position: &G,
        state: &State<G>,
        mut window: Window,
        ply: u16,
    ) -> Result<Score, Stopped> {
        self.count(ply)?;
        self.pv().clear(ply);
        if let Some(score) = self.terminal_score(position, ply) {
            return Ok(score);
        }
        let in_check = position.is_check();
        if ply >= MAX_PLY {
            return Ok(if in_check { Score::ZERO } else { self.raw_eval(state, position) });
        }
        let entry = self.shared.table.probe(position.table_key());
        if !K::PV
            && let Some(score) = entry.and_then(|e| e.cutoff_score(0, window, ply))
        {
            return Ok(score);
        }

        let alpha = window.alpha;
        let raw_eval = (!in_check).then(|| entry.map_or_else(|| self.raw_eval(state, position), |e| e.eval));
        let correction_key = self.correction_key(state, position, ply);
        let eval = raw_eval.map(|raw_eval| self.corrected_eval(raw_eval, &correction_key));
        let mut best = eval.unwrap_or(Score::NEG_INFINITE);
        if best >= window.beta {
            return Ok(best);
        }
        window.alpha = window.alpha.max(best);

        let scope = if in_check { Scope::All } else { Scope::Noisy };
        let tt_move = entry.and_then(|e| position.unpack(e.mv));
        let tt_move = tt_move.filter(|&mv| in_check || position.gain(mv) > 0);
        let mut picker = self.picker(scope, tt_move);
        let place = self.place(ply);
        let (mut best_move, mut count) = (None, 0);
        while let Some(pick) = self.pick(&mut picker, position, &place) {
            count += 1;
            let hope = eval.map(|eval| eval.offset(DELTA.get() + position.gain(pick.mv)));
            if let Some(hope) = hope.filter(|&hope| hope <= window.alpha) {
                best = best.max(hope);
                continue;
            }
            // One quiet evasion is enough to know that it is not mate.
            if in_check && pick.quiet && !best.is_loss() {
                continue;
            }
            let child = self.child(position, pick.mv);
            let score = -self.search_child((position, state, ply), pick.mv, &child, |worker, next| {
                worker.quiesce::<K::Child>(&child, next, -window, ply + 1)
            })?;
            best = best.max(score);
            if score > window.alpha {
                window.alpha = score;
                best_move = Some(pick.mv);
                if K::PV {
                    self.pv().update(ply, position.pack(pick.mv));
                }
                if score >= window.beta {
                    break;
                }
            }
        }
        self.finish_moves(picker);
        if in_check && count == 0 {
            return Ok(Score::from_outcome(position.no_moves_outcome(), position.side_to_move(), ply));
        }

        let bound = match best {
            _ if best >= window.beta => Bound::Lower,
            _ if best > alpha && K::PV => Bound::Exact,
            _ => Bound::Upper,
        };
        let mv = best_move.map_or(Packed::NONE, |mv| position.pack(mv));
        let (score, eval) = (best.to_tt(ply), raw_eval.unwrap_or(Score::NEG_INFINITE));
        self.shared.table.store(position.table_key(), Entry { mv, score, eval, depth: 0, bound });
        Ok(best)
    }
}
