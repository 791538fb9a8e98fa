//! Quiescence: the captures are played out before a position is judged, so that no score is taken in
//! the middle of an exchange.
//!
//! Source: Chess Programming Wiki, "Quiescence Search" and "Delta Pruning".

use zeitnot_rules::Packed;

use super::{MAX_PLY, NodeType, Score, Window, Worker, move_picker::Scope};
use crate::{
    Stopped,
    eval::{EngineGame, State},
    transposition_table::{Bound, Entry},
};

/// A capture that stays below alpha by more than this is not tried.
const DELTA: i32 = 180;

impl<G: EngineGame> Worker<'_, G> {
    /// The score of a position once nothing hangs any more.
    pub(super) fn quiesce<K: NodeType>(
        &mut self,
        position: &G,
        state: &State<G>,
        mut window: Window,
        ply: u16,
    ) -> Result<Score, Stopped> {
        self.count(ply)?;
        self.pv().clear(ply);
        if let Some(score) = self.settled(position, ply) {
            return Ok(score);
        }
        let check = position.is_check();
        if ply >= MAX_PLY {
            return Ok(if check { Score::ZERO } else { self.judge(state, position) });
        }
        let entry = self.shared.table.probe(position.key());
        if !K::PV
            && let Some(score) = entry.and_then(|e| e.settles(0, window, ply))
        {
            return Ok(score);
        }

        let alpha = window.alpha;
        let judged = (!check).then(|| entry.map_or_else(|| self.judge(state, position), |e| e.eval));
        let like = self.likeness(state, position, ply);
        let eval = judged.map(|judged| self.corrected(judged, &like));
        let mut best = eval.unwrap_or(Score::NEG_INFINITE);
        if best >= window.beta {
            return Ok(best);
        }
        window.alpha = window.alpha.max(best);

        let scope = if check { Scope::All } else { Scope::Noisy };
        let table_move = entry.and_then(|e| position.unpack(e.mv));
        let table_move = table_move.filter(|&mv| check || position.gain(mv) > 0);
        let mut picker = self.picker(scope, table_move);
        let before = self.before(ply);
        let (mut best_move, mut count) = (None, 0);
        while let Some(pick) = self.pick(&mut picker, position, &before, ply) {
            count += 1;
            let hope = eval.map(|eval| eval.offset(DELTA + position.gain(pick.mv)));
            if let Some(hope) = hope.filter(|&hope| hope <= window.alpha) {
                best = best.max(hope);
                continue;
            }
            // Out of check one quiet way is enough to know that it is no mate.
            if check && pick.quiet && !best.is_loss() {
                continue;
            }
            let child = self.child(position, pick.mv);
            let score = -self.follow((position, state, ply), pick.mv, &child, |worker, next| {
                worker.quiesce::<K::Child>(&child, next, -window, ply + 1)
            })?;
            best = best.max(score);
            if score > window.alpha {
                window.alpha = score;
                best_move = Some(pick.mv);
                if K::PV {
                    self.pv().raise(ply, position.pack(pick.mv));
                }
                if score >= window.beta {
                    break;
                }
            }
        }
        self.leave_moves(picker);
        if check && count == 0 {
            return Ok(Score::from_outcome(position.stuck(), position.side(), ply));
        }

        let bound = match best {
            _ if best >= window.beta => Bound::Lower,
            _ if best > alpha && K::PV => Bound::Exact,
            _ => Bound::Upper,
        };
        let mv = best_move.map_or(Packed::NONE, |mv| position.pack(mv));
        let (score, eval) = (best.to_tt(ply), judged.unwrap_or(Score::NEG_INFINITE));
        self.shared.table.store(position.key(), Entry { mv, score, eval, depth: 0, bound });
        Ok(best)
    }
}
