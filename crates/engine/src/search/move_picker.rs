//! The order in which moves are tried: the table's move before any other is even generated, then
//! captures that win, and only then are the others generated: killers, quiet moves by their history, and
//! captures that lose.

use zeitnot_rules::{MAX_MOVES, Tactics};

use super::{
    MAX_PLY,
    history::{After, Before, History},
};

const WINNING: i32 = 1_000_000;
const KILLER: i32 = 900_000;
const SECOND_KILLER: i32 = KILLER - 1;
const LOSING: i32 = -1_000_000;

/// What is to be looked at: every move, or only what may win something at once.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    /// All legal moves.
    All,
    /// [`Tactics::noisy_moves`] whose exchange does not lose.
    Noisy,
}

/// A move and its place in the order.
#[derive(Copy, Clone, Debug)]
pub struct Pick<M> {
    /// The move.
    pub mv: M,
    /// Neither a capture nor a promotion.
    pub quiet: bool,
    /// Of a quiet move.
    pub history: i32,
}

/// What comes next.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Stage {
    TableMove,
    /// The noisy moves are to be generated.
    Start,
    /// They are here, the others are not.
    Noisy,
    /// All are here.
    Rest,
    /// So many were looked at that the others are in order by now, the best on top.
    Sorted,
}

/// So many of the last stage's moves are found by looking for the best; one of them often cuts.
const SEARCHED: u8 = 3;

/// The moves that are left of all nodes on the path, each with its place in the order; those of the deepest
/// node are on top. A list for each node would make the frames of the search as large as the longest.
pub struct MoveStack<M>(Vec<(i32, M)>);

impl<M> MoveStack<M> {
    /// Room for every line, allocated once; its memory comes as lines get long.
    pub fn new() -> Self {
        MoveStack(Vec::with_capacity((MAX_PLY as usize + 1) * MAX_MOVES))
    }

    /// A search that was stopped leaves what it had.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Is no node being searched?
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Hands out the moves of one node, the most promising first.
pub struct Picker<G: Tactics> {
    scope: Scope,
    table_move: Option<G::Move>,
    /// Where the moves of this node begin in the pile.
    bottom: usize,
    stage: Stage,
    /// How many of the last stage were handed out.
    handed: u8,
}

impl<G: Tactics> Picker<G> {
    /// The table's move must be legal.
    pub fn new(scope: Scope, table_move: Option<G::Move>, pile: &MoveStack<G::Move>) -> Self {
        Picker { scope, table_move, bottom: pile.0.len(), stage: Stage::TableMove, handed: 0 }
    }

    /// The next move. What the nodes below put on the pile is gone again.
    pub fn next(
        &mut self,
        position: &G,
        history: &History<G>,
        pile: &mut MoveStack<G::Move>,
        before: &Before,
        ply: u16,
    ) -> Option<Pick<G::Move>> {
        if self.stage == Stage::TableMove {
            self.stage = Stage::Start;
            if let Some(mv) = self.table_move {
                let quiet = position.gain(mv) == 0;
                let history = if quiet { history.of(position, mv, before) } else { 0 };
                return Some(Pick { mv, quiet, history });
            }
        }
        if self.stage == Stage::Start {
            self.generate_noisy(position, pile);
            self.stage = Stage::Noisy;
        }
        loop {
            let Some((rank, mv)) = self.take_best(pile) else {
                if self.stage != Stage::Noisy || self.scope == Scope::Noisy {
                    return None;
                }
                self.generate_rest(position, history, pile, before, ply);
                self.stage = Stage::Rest;
                continue;
            };
            if rank >= WINNING && !position.exchange(mv, 0) {
                if self.scope == Scope::All {
                    pile.0.push((rank - WINNING + LOSING, mv));
                }
                continue;
            }
            let quiet = position.gain(mv) == 0;
            let history = match rank {
                _ if !quiet => 0,
                KILLER | SECOND_KILLER => history.of(position, mv, before),
                // It was ranked by its history, and there is no need to look that up again.
                rank => rank,
            };
            return Some(Pick { mv, quiet, history });
        }
    }

    /// Takes the move with the highest rank off the pile, of those whose turn has come.
    fn take_best(&mut self, pile: &mut MoveStack<G::Move>) -> Option<(i32, G::Move)> {
        let left = &mut pile.0[self.bottom..];
        if self.stage == Stage::Rest && self.handed == SEARCHED {
            left.sort_unstable_by_key(|(rank, _)| *rank);
            self.stage = Stage::Sorted;
        }
        if self.stage == Stage::Sorted {
            return if left.is_empty() { None } else { pile.0.pop() };
        }
        let (best, &(rank, _)) = left.iter().enumerate().max_by_key(|(_, (rank, _))| *rank)?;
        if rank < WINNING {
            if self.stage == Stage::Noisy {
                return None;
            }
            self.handed += 1;
        }
        Some(pile.0.swap_remove(self.bottom + best))
    }

    /// Not inlined: the list is long, and shall not stay on the stack while the nodes below are searched.
    #[inline(never)]
    fn generate_noisy(&self, position: &G, pile: &mut MoveStack<G::Move>) {
        let moves = position.noisy_moves();
        // By reference: taking it apart by value would copy all of it.
        let others = moves.iter().copied().filter(|&mv| Some(mv) != self.table_move);
        pile.0.extend(others.map(|mv| (promise(position, mv), mv)));
    }

    /// As above.
    #[inline(never)]
    fn generate_rest(
        &self,
        position: &G,
        history: &History<G>,
        pile: &mut MoveStack<G::Move>,
        before: &Before,
        ply: u16,
    ) {
        let moves = position.moves();
        let (killers, history) = (history.killers(ply), history.after(before, position.side()));
        let is_new = |&mv: &G::Move| Some(mv) != self.table_move && !position.is_noisy(mv);
        let others = moves.iter().copied().filter(is_new);
        pile.0.extend(others.map(|mv| (rank(position, mv, &history, killers), mv)));
    }

    /// The node is done with: takes the moves that are left off the pile.
    pub fn leave(self, pile: &mut MoveStack<G::Move>) {
        pile.0.truncate(self.bottom);
    }
}

/// The place of a capture or a promotion: the most valuable victim, then the least valuable attacker.
fn promise<G: Tactics>(position: &G, mv: G::Move) -> i32 {
    WINNING + 16 * position.gain(mv) - position.worth(mv)
}

fn rank<G: Tactics>(position: &G, mv: G::Move, history: &After<'_>, killers: [Option<G::Move>; 2]) -> i32 {
    if position.gain(mv) > 0 {
        promise(position, mv)
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
    use crate::search::history::Tried;
    use zeitnot_rules::{Game, Packed, chess::Chess};

    /// All that is handed out in a position, by a history in which moves have cut at many depths.
    fn picked(
        position: &Chess,
        table_move: Option<<Chess as Game>::Move>,
    ) -> Vec<Pick<<Chess as Game>::Move>> {
        let mut history = History::new(Arc::default());
        let before = Before::default();
        for (depth, mv) in position.moves().into_iter().filter(|&mv| position.gain(mv) == 0).enumerate() {
            history.cutoff(position, mv, &Tried::new(), &before, (0, depth as i32 * 7 % 10));
        }
        let mut pile = MoveStack::new();
        let mut picker = Picker::new(Scope::All, table_move, &pile);
        let mut all = Vec::new();
        while let Some(pick) = picker.next(position, &history, &mut pile, &before, 0) {
            assert!(!pick.quiet || pick.history == history.of(position, pick.mv, &before));
            all.push(pick);
        }
        picker.leave(&mut pile);
        assert!(pile.is_empty());
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
            for table_move in [None, moves.first().copied(), moves.last().copied()] {
                let all = picked(&position, table_move);
                assert!(table_move.is_none_or(|mv| all[0].mv == mv));
                assert_eq!(packed(all.iter().map(|pick| pick.mv).collect()), packed(moves.to_vec()), "{fen}");
                // The two killers come before the others, wherever their history would put them.
                let others = all.iter().skip(usize::from(table_move.is_some())).filter(|pick| pick.quiet);
                assert!(others.skip(2).is_sorted_by(|one, next| one.history >= next.history), "{fen}");
            }
        }
    }
}
