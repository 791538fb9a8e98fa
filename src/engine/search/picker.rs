//! The order in which moves are tried: the table's move before any other is even generated, then
//! captures that win, killers, quiet moves by their history, and captures that lose.

use arrayvec::ArrayVec;

use super::{Played, history::History};
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

/// Hands out the moves of one node, the most promising first.
pub struct Picker<G: Tactics> {
    scope: Scope,
    table_move: Option<G::Move>,
    /// Each with its place in the order; sorted as far as needed.
    rest: ArrayVec<(i32, G::Move), MAX_MOVES>,
    stage: Stage,
}

impl<G: Tactics> Picker<G> {
    /// The table's move must be legal.
    pub fn new(scope: Scope, table_move: Option<G::Move>) -> Self {
        Picker { scope, table_move, rest: ArrayVec::new(), stage: Stage::TableMove }
    }

    /// The next move.
    pub fn next(
        &mut self,
        position: &G,
        history: &History<G>,
        before: &[Option<Played>; 2],
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
            let all = self.scope == Scope::All;
            let moves = if all { position.moves() } else { position.noisy_moves() };
            let killers = history.killers(ply);
            // By reference: the list is long, and taking it apart by value would copy all of it.
            let others = moves.iter().copied().filter(|&mv| Some(mv) != self.table_move);
            self.rest.extend(others.map(|mv| (rank(position, mv, history, before, killers), mv)));
        }
        loop {
            let best = (0..self.rest.len()).max_by_key(|&i| self.rest[i].0)?;
            let (rank, mv) = self.rest.swap_remove(best);
            if rank >= WINNING && !position.exchange(mv, 0) {
                if self.scope == Scope::All {
                    self.rest.push((rank - WINNING + LOSING, mv));
                }
                continue;
            }
            let quiet = position.gain(mv) == 0;
            let history = if quiet { history.score(position, mv, before) } else { 0 };
            return Some(Pick { mv, quiet, history });
        }
    }
}

fn rank<G: Tactics>(
    position: &G,
    mv: G::Move,
    history: &History<G>,
    before: &[Option<Played>; 2],
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
