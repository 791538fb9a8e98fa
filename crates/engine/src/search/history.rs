//! Histories of quiet moves, for move ordering and reductions: butterfly and continuation history, killers.
//!
//! Sources: Chess Programming Wiki, "History Heuristic", "Killer Heuristic" and "Continuation History"; the
//! gravity update as in Stockfish.

use std::{
    mem,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use arrayvec::ArrayVec;

use zeitnot_rules::{Color, PieceTo, Tactics};

use super::{MAX_PLY, tunable::tunables};

/// Maximum magnitude of an entry.
const LIMIT: i32 = 16_384;

tunables! {
    /// Bonus of a cutoff: `BONUS_SLOPE · depth − BONUS_OFFSET`, at most `MAX_BONUS`.
    BONUS_SLOPE = HistoryBonusSlope: 160, 20..=600;
    BONUS_OFFSET = HistoryBonusOffset: 80, -300..=600;
    MAX_BONUS = HistoryBonusMax: 1600, 200..=8000;
}

/// Scores by piece and target square.
type ByMove = [i16; PieceTo::COUNT];
/// Scores by previous move and move.
type ByMoves = [ByMove; PieceTo::COUNT];

/// Number of previous moves that continuation history looks at.
const CONTINUATION_PLIES: usize = 2;

/// Previous moves, latest first; `None` for a null move or before the root.
pub(crate) type PreviousMoves = [Option<PieceTo>; CONTINUATION_PLIES];

/// History scores of the quiet moves of a position.
pub(crate) struct QuietScores<'h> {
    quiet: &'h ByMove,
    /// Continuation history of the previous moves, latest first.
    continued: [&'h ByMove; CONTINUATION_PLIES],
}

/// Continuation history after a null move or before the root.
static NO_HISTORY: ByMove = [0; PieceTo::COUNT];

impl QuietScores<'_> {
    pub(crate) fn score(&self, mv: PieceTo) -> i32 {
        let continued = self.continued.iter().map(|after| i32::from(after[mv.index()]));
        i32::from(self.quiet[mv.index()]) + continued.sum::<i32>()
    }
}

/// Histories of one search thread. Every game in progress has some, so they are kept small: continuation
/// history does not distinguish colours, as the sides seldom move the same piece to the same square.
pub(crate) struct History<G: Tactics> {
    quiet: Box<[ByMove; 2]>,
    continuation: Continuation,
    killers: Box<[[Option<G::Move>; 2]]>,
    history_pool: Arc<HistoryPool>,
}

/// One table for each of the [`CONTINUATION_PLIES`].
type Continuation = Box<[ByMoves]>;

/// Pool of continuation histories, reused between games: freed ones would stay with the allocator for a while,
/// and games that begin meanwhile would allocate more.
#[derive(Default)]
pub(crate) struct HistoryPool(Mutex<Vec<Continuation>>);

impl HistoryPool {
    /// Takes zeroed tables from the pool, or allocates them.
    fn take(&self) -> Continuation {
        let spare = self.lock().pop();
        let emptied = spare.map(|mut tables| {
            tables.as_flattened_mut().as_flattened_mut().fill(0);
            tables
        });
        emptied.unwrap_or_else(|| bytemuck::zeroed_slice_box(CONTINUATION_PLIES))
    }

    /// Locks the pool, also after a panic: the list stays valid.
    fn lock(&self) -> MutexGuard<'_, Vec<Continuation>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<G: Tactics> Drop for History<G> {
    fn drop(&mut self) {
        self.history_pool.lock().push(mem::take(&mut self.continuation));
    }
}

/// Quiet moves tried before the one that caused the cutoff; later ones are forgotten.
pub(crate) type TriedQuiets<M> = ArrayVec<M, MAX_TRIED>;
const MAX_TRIED: usize = 64;

impl<G: Tactics> History<G> {
    /// Creates empty histories; the large tables come from the pool and return to it.
    pub(crate) fn new(history_pool: Arc<HistoryPool>) -> Self {
        History {
            quiet: bytemuck::zeroed_box(),
            continuation: history_pool.take(),
            killers: vec![[None; 2]; MAX_PLY as usize + 1].into_boxed_slice(),
            history_pool,
        }
    }

    pub(crate) fn clear(&mut self) {
        self.quiet.as_flattened_mut().fill(0);
        self.continuation.as_flattened_mut().as_flattened_mut().fill(0);
        self.new_search();
    }

    /// Clears the killers: they belong to the plies of the previous search.
    pub(crate) fn new_search(&mut self) {
        self.killers.fill([None; 2]);
    }

    pub(crate) fn killers(&self, ply: u16) -> [Option<G::Move>; 2] {
        self.killers[ply as usize]
    }

    pub(crate) fn score(&self, position: &G, mv: G::Move, before: &PreviousMoves) -> i32 {
        self.quiet_scores(before, position.side_to_move()).score(position.piece_to(mv))
    }

    /// History scores of all quiet moves of a side after these previous moves.
    pub(crate) fn quiet_scores(&self, before: &PreviousMoves, side: Color) -> QuietScores<'_> {
        let continued =
            |back: usize| before[back].map_or(&NO_HISTORY, |before| &self.continuation[back][before.index()]);
        QuietScores { quiet: &self.quiet[side as usize], continued: std::array::from_fn(continued) }
    }

    /// Rewards a quiet move that caused a cutoff, and penalises those tried before it.
    pub(crate) fn cutoff(
        &mut self,
        position: &G,
        mv: G::Move,
        tried: &TriedQuiets<G::Move>,
        before: &PreviousMoves,
        (ply, depth): (u16, i32),
    ) {
        let killers = &mut self.killers[ply as usize];
        if killers[0] != Some(mv) {
            *killers = [Some(mv), killers[0]];
        }
        let bonus = (BONUS_SLOPE.get() * depth - BONUS_OFFSET.get()).clamp(0, MAX_BONUS.get());
        self.add(position, mv, before, bonus);
        for &other in tried {
            self.add(position, other, before, -bonus);
        }
    }

    fn add(&mut self, position: &G, mv: G::Move, before: &PreviousMoves, bonus: i32) {
        let index = position.piece_to(mv).index();
        apply_bonus::<LIMIT>(&mut self.quiet[position.side_to_move() as usize][index], bonus);
        for (after, before) in self.continuation.iter_mut().zip(before) {
            if let Some(before) = before {
                apply_bonus::<LIMIT>(&mut after[before.index()][index], bonus);
            }
        }
    }
}

/// Adds a bonus with gravity: it weighs less the nearer the entry is to its limit.
pub(crate) fn apply_bonus<const LIMIT: i32>(entry: &mut i16, bonus: i32) {
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
        let before = [Some(position.piece_to(moves[1])); CONTINUATION_PLIES];
        let score = |history: &History<Chess>| history.score(&position, moves[0], &before);
        let mut history = History::new(history_pool.clone());
        let tables = history.continuation.as_ptr();
        history.cutoff(&position, moves[0], &TriedQuiets::new(), &before, (0, 5));
        assert_eq!(score(&history), 3 * 720);
        drop(history);
        let mut again = History::<Chess>::new(history_pool.clone());
        assert_eq!(again.continuation.as_ptr(), tables);
        assert_eq!(score(&again), 0);
        let other = History::<Chess>::new(history_pool.clone());
        again.cutoff(&position, moves[0], &TriedQuiets::new(), &before, (0, 5));
        assert_eq!(score(&other), 0);
        drop((again, other));
        assert_eq!(history_pool.lock().len(), 2);
    }

    #[test]
    fn entries_stay_within_their_limit() {
        let mut entry = 0;
        for bonus in [1600; 100].into_iter().chain([-1600; 300]) {
            apply_bonus::<LIMIT>(&mut entry, bonus);
            assert!(i32::from(entry).abs() <= LIMIT);
        }
        assert!(entry < -10_000);
    }
}
