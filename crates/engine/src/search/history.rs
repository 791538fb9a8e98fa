//! What earlier cutoffs tell of quiet moves: where they go in the order, and how much they are reduced.
//!
//! Sources: Chess Programming Wiki, "History Heuristic", "Killer Heuristic" and "Continuation History";
//! the update with gravity as in Stockfish.

use std::{
    mem,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use arrayvec::ArrayVec;

use zeitnot_rules::{Color, PieceTo, Tactics};

use super::MAX_PLY;

/// No entry grows beyond this.
const LIMIT: i32 = 16_384;

/// Scores by what piece goes where.
type ByMove = [i16; PieceTo::COUNT];
/// The same for each move before.
type ByMoves = [ByMove; PieceTo::COUNT];

/// How many plies back a move is looked at as the context of the next.
const CONTEXTS: usize = 2;

/// The moves before one, the latest first; `None`: a pass, or the game had not begun to be searched.
pub type Before = [Option<PieceTo>; CONTEXTS];

/// How good each quiet move of a position was elsewhere.
pub struct After<'h> {
    quiet: &'h ByMove,
    /// After the moves played before it, the latest first.
    continued: [&'h ByMove; CONTEXTS],
}

/// After a pass, or before the game had begun to be searched.
static UNKNOWN: ByMove = [0; PieceTo::COUNT];

impl After<'_> {
    /// Of one of them.
    pub fn score(&self, mv: PieceTo) -> i32 {
        let continued = self.continued.iter().map(|after| i32::from(after[mv.index()]));
        i32::from(self.quiet[mv.index()]) + continued.sum::<i32>()
    }
}

/// The memory of one search thread. Each game that searches has one, so it is kept small: the large tables do
/// not tell colours apart. The sides seldom send the same kind of piece to the same square.
pub struct History<G: Tactics> {
    /// For each side by the move itself.
    quiet: Box<[ByMove; 2]>,
    /// By the move so many plies earlier, then by the move itself.
    continuation: Continuation,
    killers: Box<[[Option<G::Move>; 2]]>,
    history_pool: Arc<HistoryPool>,
}

/// Tables for each of the [`CONTEXTS`].
type Continuation = Box<[ByMoves]>;

/// Large tables that no game needs any more, for the next ones: there are never more than were in use at once.
/// The allocator would keep them in memory for a second, and take others for the games that begin meanwhile.
#[derive(Default)]
pub struct HistoryPool(Mutex<Vec<Continuation>>);

impl HistoryPool {
    /// Empty tables.
    fn take(&self) -> Continuation {
        let spare = self.lock().pop();
        let emptied = spare.map(|mut tables| {
            tables.as_flattened_mut().as_flattened_mut().fill(0);
            tables
        });
        emptied.unwrap_or_else(|| bytemuck::zeroed_slice_box(CONTEXTS))
    }

    /// Held for a few instructions; a holder that panicked has at worst lost a spare.
    fn lock(&self) -> MutexGuard<'_, Vec<Continuation>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<G: Tactics> Drop for History<G> {
    fn drop(&mut self) {
        self.history_pool.lock().push(mem::take(&mut self.continuation));
    }
}

/// The quiet moves tried before the one that cut.
pub type Tried<M> = ArrayVec<M, 64>;

impl<G: Tactics> History<G> {
    /// An empty memory; its tables come from the history_pool, and go there.
    pub fn new(history_pool: Arc<HistoryPool>) -> Self {
        History {
            quiet: bytemuck::zeroed_box(),
            continuation: history_pool.take(),
            killers: vec![[None; 2]; MAX_PLY as usize + 1].into_boxed_slice(),
            history_pool,
        }
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.quiet.as_flattened_mut().fill(0);
        self.continuation.as_flattened_mut().as_flattened_mut().fill(0);
        self.new_search();
    }

    /// A new search begins at another position: killers belong to plies of the old one.
    pub fn new_search(&mut self) {
        self.killers.fill([None; 2]);
    }

    /// The quiet moves that last cut at this ply.
    pub fn killers(&self, ply: u16) -> [Option<G::Move>; 2] {
        self.killers[ply as usize]
    }

    /// How good a quiet move was elsewhere.
    pub fn of(&self, position: &G, mv: G::Move, before: &Before) -> i32 {
        self.after(before, position.side()).score(position.piece_to(mv))
    }

    /// What is known of the quiet moves of this side after these.
    pub fn after(&self, before: &Before, side: Color) -> After<'_> {
        let continued =
            |back: usize| before[back].map_or(&UNKNOWN, |before| &self.continuation[back][before.index()]);
        After { quiet: &self.quiet[side as usize], continued: std::array::from_fn(continued) }
    }

    /// A quiet move cut; the ones tried before it did not.
    pub fn cutoff(
        &mut self,
        position: &G,
        mv: G::Move,
        tried: &Tried<G::Move>,
        before: &Before,
        (ply, depth): (u16, i32),
    ) {
        let killers = &mut self.killers[ply as usize];
        if killers[0] != Some(mv) {
            *killers = [Some(mv), killers[0]];
        }
        let bonus = (160 * depth - 80).clamp(0, 1600);
        self.add(position, mv, before, bonus);
        for &other in tried {
            self.add(position, other, before, -bonus);
        }
    }

    fn add(&mut self, position: &G, mv: G::Move, before: &Before, bonus: i32) {
        let index = position.piece_to(mv).index();
        pull::<LIMIT>(&mut self.quiet[position.side() as usize][index], bonus);
        for (after, before) in self.continuation.iter_mut().zip(before) {
            if let Some(before) = before {
                pull::<LIMIT>(&mut after[before.index()][index], bonus);
            }
        }
    }
}

/// Adds a bonus that weighs less the nearer the entry is to its limit.
pub fn pull<const LIMIT: i32>(entry: &mut i16, bonus: i32) {
    let old = i32::from(*entry);
    *entry = (old + bonus - old * bonus.abs() / LIMIT) as i16;
}

#[cfg(test)]
mod tests {
    use super::*;
    use zeitnot_rules::{Game, chess::Chess};

    #[test]
    fn spare_tables_are_used_again_and_empty() {
        let history_pool = Arc::new(HistoryPool::default());
        let position = Chess::start();
        let moves = position.moves();
        let before = [Some(position.piece_to(moves[1])); CONTEXTS];
        let score = |history: &History<Chess>| history.of(&position, moves[0], &before);
        let mut history = History::new(history_pool.clone());
        let tables = history.continuation.as_ptr();
        history.cutoff(&position, moves[0], &Tried::new(), &before, (0, 5));
        assert_eq!(score(&history), 3 * 720);
        drop(history);
        let mut again = History::<Chess>::new(history_pool.clone());
        assert_eq!(again.continuation.as_ptr(), tables);
        assert_eq!(score(&again), 0);
        let other = History::<Chess>::new(history_pool.clone());
        again.cutoff(&position, moves[0], &Tried::new(), &before, (0, 5));
        assert_eq!(score(&other), 0);
        drop((again, other));
        assert_eq!(history_pool.lock().len(), 2);
    }

    #[test]
    fn entries_stay_within_their_limit() {
        let mut entry = 0;
        for bonus in [1600; 100].into_iter().chain([-1600; 300]) {
            pull::<LIMIT>(&mut entry, bonus);
            assert!(i32::from(entry).abs() <= LIMIT);
        }
        assert!(entry < -10_000);
    }
}
