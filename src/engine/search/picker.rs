//! The order in which moves are tried: the table's move before any other is even generated, then
//! captures that win, killers, quiet moves by their history, and captures that lose.

use super::{
    MAX_PLY,
    history::{Before, History},
};
use crate::game::{MAX_MOVES, Tactics};

const WINNING: i32 = 1_000_000;
const KILLER: i32 = 900_000;
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
    Generate,
    Rest,
}

/// The moves that are left of all nodes on the path, each with its place in the order; those of the deepest
/// node are on top. A list for each node would make the frames of the search as large as the longest.
pub struct Pile<M>(Vec<(i32, M)>);

impl<M> Pile<M> {
    /// Room for every line, allocated once; its memory comes as lines get long.
    pub fn new() -> Self {
        Pile(Vec::with_capacity((MAX_PLY as usize + 1) * MAX_MOVES))
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
}

impl<G: Tactics> Picker<G> {
    /// The table's move must be legal.
    pub fn new(scope: Scope, table_move: Option<G::Move>, pile: &Pile<G::Move>) -> Self {
        Picker { scope, table_move, bottom: pile.0.len(), stage: Stage::TableMove }
    }

    /// The next move. What the nodes below put on the pile is gone again.
    pub fn next(
        &mut self,
        position: &G,
        history: &History<G>,
        pile: &mut Pile<G::Move>,
        before: &Before,
        ply: u16,
    ) -> Option<Pick<G::Move>> {
        if self.stage == Stage::TableMove {
            self.stage = Stage::Generate;
            if let Some(mv) = self.table_move {
                let quiet = position.gain(mv) == 0;
                let history = if quiet { history.score(position, mv, before) } else { 0 };
                return Some(Pick { mv, quiet, history });
            }
        }
        if self.stage == Stage::Generate {
            self.stage = Stage::Rest;
            self.generate(position, history, pile, before, ply);
        }
        loop {
            let best = (self.bottom..pile.0.len()).max_by_key(|&i| pile.0[i].0)?;
            let (rank, mv) = pile.0.swap_remove(best);
            if rank >= WINNING && !position.exchange(mv, 0) {
                if self.scope == Scope::All {
                    pile.0.push((rank - WINNING + LOSING, mv));
                }
                continue;
            }
            let quiet = position.gain(mv) == 0;
            let history = if quiet { history.score(position, mv, before) } else { 0 };
            return Some(Pick { mv, quiet, history });
        }
    }

    /// Not inlined: the list is long, and shall not stay on the stack while the nodes below are searched.
    #[inline(never)]
    fn generate(
        &self,
        position: &G,
        history: &History<G>,
        pile: &mut Pile<G::Move>,
        before: &Before,
        ply: u16,
    ) {
        let all = self.scope == Scope::All;
        let moves = if all { position.moves() } else { position.noisy_moves() };
        let killers = history.killers(ply);
        // By reference: taking it apart by value would copy all of it.
        let others = moves.iter().copied().filter(|&mv| Some(mv) != self.table_move);
        pile.0.extend(others.map(|mv| (rank(position, mv, history, before, killers), mv)));
    }

    /// The node is done with: takes the moves that are left off the pile.
    pub fn leave(self, pile: &mut Pile<G::Move>) {
        pile.0.truncate(self.bottom);
    }
}

fn rank<G: Tactics>(
    position: &G,
    mv: G::Move,
    history: &History<G>,
    before: &Before,
    killers: [Option<G::Move>; 2],
) -> i32 {
    let gain = position.gain(mv);
    if gain > 0 {
        // The most valuable victim, then the least valuable attacker.
        WINNING + 16 * gain - position.worth(mv)
    } else if killers[0] == Some(mv) {
        KILLER
    } else if killers[1] == Some(mv) {
        KILLER - 1
    } else {
        history.score(position, mv, before)
    }
}
