//! Staged move ordering: the table's move before any are generated, then captures that do not lose material,
//! killers, quiet moves by history, and losing captures.
//!
//! Sources: Chess Programming Wiki, "Move Ordering" and "MVV-LVA"; staged generation as in Stockfish.

use zeitnot_rules::{MAX_MOVES, Tactics};

use super::{
    MAX_PLY,
    history::{History, Place, QuietScores},
};

/// Score offsets of the classes of moves; histories stay between them.
const GOOD_NOISY: i32 = 1_000_000;
const KILLER: i32 = 900_000;
const SECOND_KILLER: i32 = KILLER - 1;
const BAD_NOISY: i32 = -1_000_000;
/// Weight of the victim against the attacker in MVV-LVA.
const VICTIM_WEIGHT: i32 = 16;

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    All,
    /// [`Tactics::noisy_moves`] that do not lose material by static exchange evaluation.
    Noisy,
}

#[derive(Copy, Clone, Debug)]
pub(crate) struct PickedMove<M> {
    pub(crate) mv: M,
    /// Neither a capture nor a promotion.
    pub(crate) quiet: bool,
    /// A capture or promotion that loses material by static exchange evaluation.
    pub(crate) losing: bool,
    pub(crate) history: i32,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Stage {
    TtMove,
    /// Noisy moves are generated next.
    GenerateNoisy,
    /// Noisy moves are being picked.
    Noisy,
    /// All moves are generated; the best is selected each time.
    Remaining,
    /// The remaining moves are sorted, best on top.
    RemainingSorted,
}

/// Moves of the last stage found by selection before the rest is sorted; one of them often causes a cutoff.
const SELECTION_PICKS: u8 = 3;

/// The remaining moves of all nodes on the current line, with their scores; those of the deepest node are on
/// top. A list in each stack frame would take far more memory.
pub(crate) struct MoveStack<M>(Vec<(i32, M)>);

impl<M> MoveStack<M> {
    /// Reserves room for the longest line; the system commits the pages on first use.
    pub(crate) fn new() -> Self {
        MoveStack(Vec::with_capacity((MAX_PLY as usize + 1) * MAX_MOVES))
    }

    /// Removes what a stopped search left.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// Returns whether no node holds moves.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Picks the moves of one node, most promising first.
pub(crate) struct MovePicker<G: Tactics> {
    scope: Scope,
    tt_move: Option<G::Move>,
    /// Start of this node's moves in the move stack.
    bottom: usize,
    stage: Stage,
    /// Moves of the last stage picked so far.
    picked: u8,
}

impl<G: Tactics> MovePicker<G> {
    /// Starts with the table's move, which must be legal.
    pub(crate) fn new(scope: Scope, tt_move: Option<G::Move>, move_stack: &MoveStack<G::Move>) -> Self {
        MovePicker { scope, tt_move, bottom: move_stack.0.len(), stage: Stage::TtMove, picked: 0 }
    }

    /// Returns the next move. The nodes below must have removed their moves from the stack.
    pub(crate) fn next(
        &mut self,
        position: &G,
        history: &History<G>,
        move_stack: &mut MoveStack<G::Move>,
        place: &Place,
    ) -> Option<PickedMove<G::Move>> {
        if self.stage == Stage::TtMove {
            self.stage = Stage::GenerateNoisy;
            if let Some(mv) = self.tt_move {
                let quiet = position.gain(mv) == 0;
                let history = if quiet { history.score(position, mv, place) } else { 0 };
                return Some(PickedMove { mv, quiet, losing: false, history });
            }
        }
        if self.stage == Stage::GenerateNoisy {
            self.generate_noisy(position, move_stack);
            self.stage = Stage::Noisy;
        }
        loop {
            let Some((rank, mv)) = self.take_best(move_stack) else {
                if self.stage != Stage::Noisy || self.scope == Scope::Noisy {
                    return None;
                }
                self.generate_remaining(position, history, move_stack, place);
                self.stage = Stage::Remaining;
                continue;
            };
            if rank >= GOOD_NOISY && !position.see_ge(mv, 0) {
                if self.scope == Scope::All {
                    move_stack.0.push((rank - GOOD_NOISY + BAD_NOISY, mv));
                }
                continue;
            }
            let quiet = position.gain(mv) == 0;
            let history = match rank {
                _ if !quiet => 0,
                KILLER | SECOND_KILLER => history.score(position, mv, place),
                // Its score is its history.
                rank => rank,
            };
            return Some(PickedMove { mv, quiet, losing: !quiet && rank < 0, history });
        }
    }

    /// Removes the best-scored move of the current stage.
    fn take_best(&mut self, move_stack: &mut MoveStack<G::Move>) -> Option<(i32, G::Move)> {
        let left = &mut move_stack.0[self.bottom..];
        if self.stage == Stage::Remaining && self.picked == SELECTION_PICKS {
            left.sort_unstable_by_key(|(rank, _)| *rank);
            self.stage = Stage::RemainingSorted;
        }
        if self.stage == Stage::RemainingSorted {
            return if left.is_empty() { None } else { move_stack.0.pop() };
        }
        let (best, &(rank, _)) = left.iter().enumerate().max_by_key(|(_, (rank, _))| *rank)?;
        if rank < GOOD_NOISY {
            if self.stage == Stage::Noisy {
                return None;
            }
            self.picked += 1;
        }
        Some(move_stack.0.swap_remove(self.bottom + best))
    }

    /// Not inlined: the long move list must not stay on the stack while the nodes below are searched.
    #[inline(never)]
    fn generate_noisy(&self, position: &G, move_stack: &mut MoveStack<G::Move>) {
        let moves = position.noisy_moves();
        // By reference: consuming the list would copy all of it.
        let others = moves.iter().copied().filter(|&mv| Some(mv) != self.tt_move);
        move_stack.0.extend(others.map(|mv| (mvv_lva(position, mv), mv)));
    }

    /// Not inlined, as above.
    #[inline(never)]
    fn generate_remaining(
        &self,
        position: &G,
        history: &History<G>,
        move_stack: &mut MoveStack<G::Move>,
        place: &Place,
    ) {
        let moves = position.moves();
        let (killers, history) =
            (history.killers(place.ply), history.quiet_scores(place, position.side_to_move()));
        let is_new = |&mv: &G::Move| Some(mv) != self.tt_move && !position.is_noisy(mv);
        let others = moves.iter().copied().filter(is_new);
        move_stack.0.extend(others.map(|mv| (score_move(position, mv, &history, killers), mv)));
    }

    /// Removes the node's remaining moves from the stack.
    pub(crate) fn finish(self, move_stack: &mut MoveStack<G::Move>) {
        move_stack.0.truncate(self.bottom);
    }
}

/// Scores a noisy move: most valuable victim, then least valuable attacker.
fn mvv_lva<G: Tactics>(position: &G, mv: G::Move) -> i32 {
    GOOD_NOISY + VICTIM_WEIGHT * position.gain(mv) - position.piece_value(mv)
}

fn score_move<G: Tactics>(
    position: &G,
    mv: G::Move,
    history: &QuietScores<'_>,
    killers: [Option<G::Move>; 2],
) -> i32 {
    if position.gain(mv) > 0 {
        mvv_lva(position, mv)
    } else if killers[0] == Some(mv) {
        KILLER
    } else if killers[1] == Some(mv) {
        SECOND_KILLER
    } else {
        history.score(position.piece_to(mv))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::search::history::TriedQuiets;
    use zeitnot_rules::{Game, Packed, chess::Chess};

    /// All moves picked in a position, with a history of cutoffs at many depths.
    fn picked(
        position: &Chess,
        tt_move: Option<<Chess as Game>::Move>,
    ) -> Vec<PickedMove<<Chess as Game>::Move>> {
        let mut history = History::new(Arc::default());
        let place = Place::default();
        for (depth, mv) in position.moves().into_iter().filter(|&mv| position.gain(mv) == 0).enumerate() {
            history.cutoff(position, mv, &TriedQuiets::new(), &place, depth as i32 * 7 % 10);
        }
        let mut move_stack = MoveStack::new();
        let mut picker = MovePicker::new(Scope::All, tt_move, &move_stack);
        let mut all = Vec::new();
        while let Some(pick) = picker.next(position, &history, &mut move_stack, &place) {
            assert!(!pick.quiet || pick.history == history.score(position, pick.mv, &place));
            all.push(pick);
        }
        picker.finish(&mut move_stack);
        assert!(move_stack.is_empty());
        all
    }

    #[test]
    fn every_move_comes_once_and_in_order() {
        for fen in [
            "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
            "r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1",
            "n1n5/PPPk4/8/8/8/8/4Kppp/5N1N b - - 0 1",
            "4k3/8/8/8/7b/8/8/4K2R w K - 0 1",
        ] {
            let position = Chess::parse(fen).unwrap();
            let packed = |moves: Vec<_>| {
                let mut packed: Vec<Packed> = moves.into_iter().map(|mv| position.pack(mv)).collect();
                packed.sort_by_key(|mv| mv.0);
                packed
            };
            let moves = position.moves();
            for tt_move in [None, moves.first().copied(), moves.last().copied()] {
                let all = picked(&position, tt_move);
                assert!(tt_move.is_none_or(|mv| all[0].mv == mv));
                assert_eq!(packed(all.iter().map(|pick| pick.mv).collect()), packed(moves.to_vec()), "{fen}");
                // The two killers come before the others, wherever their history would put them.
                let others = all.iter().skip(usize::from(tt_move.is_some())).filter(|pick| pick.quiet);
                assert!(others.skip(2).is_sorted_by(|one, next| one.history >= next.history), "{fen}");
            }
        }
    }
}
