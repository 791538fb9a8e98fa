//! Histories of quiet moves, for move ordering and reductions: butterfly and continuation history, that of the first
//! plies, killers.
//!
//! Sources: Chess Programming Wiki, "History Heuristic", "Killer Heuristic" and "Continuation History"; the
//! gravity update and the history of the first plies as in Stockfish.

use std::{
    mem,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use arrayvec::ArrayVec;

use zeitnot_rules::{Color, PieceTo, Tactics};

use super::{MAX_PLY, Score, tunable::tunables};

/// Maximum magnitude of an entry.
const LIMIT: i32 = 16_384;

tunables! {
    /// Bonus of a cutoff: `BONUS_SLOPE · depth − BONUS_OFFSET`, at most `MAX_BONUS`.
    BONUS_SLOPE = HistoryBonusSlope: 230, 20..=600;
    BONUS_OFFSET = HistoryBonusOffset: -120, -300..=600;
    MAX_BONUS = HistoryBonusMax: 2000, 200..=8000;
    /// Bonus for each centipawn that the static evaluation gained.
    EVAL_FACTOR = HistoryEvalFactor: 4, 0..=30;
}

/// Largest bonus by evaluations.
const MAX_EVAL_BONUS: i32 = 1500;

/// Scores by piece and target square.
type ByMove = [i16; PieceTo::COUNT];
/// Scores by previous move and move.
type ByMoves = [ByMove; PieceTo::COUNT];

/// Number of previous moves that continuation history looks at.
const CONTINUATION_PLIES: usize = 2;

/// Plies from the root that have a history of their own.
const EARLY_PLIES: usize = 4;
/// Its weight: few searches fill it, but deep ones.
const EARLY_WEIGHT: i32 = 2;

/// Place in the line of the search that a history depends on.
#[derive(Copy, Clone, Debug, Default)]
pub(crate) struct Place {
    pub(crate) ply: u16,
    /// Previous moves, latest first; `None` for a null move or before the root.
    pub(crate) before: [Option<PieceTo>; CONTINUATION_PLIES],
}

/// History scores of the quiet moves of a position.
pub(crate) struct QuietScores<'h> {
    quiet: &'h ByMove,
    /// That of this ply, if it is one of the first.
    early: &'h ByMove,
    /// Continuation history of the previous moves, latest first.
    continued: [&'h ByMove; CONTINUATION_PLIES],
}

/// Stands for a history that does not exist: after a null move, before the root, or beyond the first plies.
static NO_HISTORY: ByMove = [0; PieceTo::COUNT];

impl QuietScores<'_> {
    pub(crate) fn score(&self, mv: PieceTo) -> i32 {
        let continued = self.continued.iter().map(|after| i32::from(after[mv.index()]));
        let early = EARLY_WEIGHT * i32::from(self.early[mv.index()]);
        i32::from(self.quiet[mv.index()]) + early + continued.sum::<i32>()
    }
}

/// Histories of one search thread. Every game in progress has some, so they are kept small: continuation
/// history does not distinguish colours, as the sides seldom move the same piece to the same square.
pub(crate) struct History<G: Tactics> {
    quiet: Box<[ByMove; 2]>,
    early: Box<[ByMove; EARLY_PLIES]>,
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
            early: bytemuck::zeroed_box(),
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

    /// Clears what belongs to the plies of the previous search.
    pub(crate) fn new_search(&mut self) {
        self.early.as_flattened_mut().fill(0);
        self.killers.fill([None; 2]);
    }

    pub(crate) fn killers(&self, ply: u16) -> [Option<G::Move>; 2] {
        self.killers[ply as usize]
    }

    pub(crate) fn score(&self, position: &G, mv: G::Move, place: &Place) -> i32 {
        self.quiet_scores(place, position.side_to_move()).score(position.piece_to(mv))
    }

    /// History scores of all quiet moves of a side in this place.
    pub(crate) fn quiet_scores(&self, place: &Place, side: Color) -> QuietScores<'_> {
        let continued = |back: usize| {
            place.before[back].map_or(&NO_HISTORY, |before| &self.continuation[back][before.index()])
        };
        QuietScores {
            quiet: &self.quiet[side as usize],
            early: self.early.get(place.ply as usize).unwrap_or(&NO_HISTORY),
            continued: std::array::from_fn(continued),
        }
    }

    /// Rewards a quiet move that caused a cutoff, and penalises those tried before it.
    pub(crate) fn cutoff(
        &mut self,
        position: &G,
        mv: G::Move,
        tried: &TriedQuiets<G::Move>,
        place: &Place,
        depth: i32,
    ) {
        let killers = &mut self.killers[place.ply as usize];
        if killers[0] != Some(mv) {
            *killers = [Some(mv), killers[0]];
        }
        let (side, bonus) = (position.side_to_move(), bonus(depth));
        self.add(side, position.piece_to(mv), place, bonus);
        for &other in tried {
            self.add(side, position.piece_to(other), place, -bonus);
        }
    }

    /// Adds a bonus, or a penalty if it is negative, to the histories of a quiet move of this side.
    pub(crate) fn add(&mut self, side: Color, mv: PieceTo, place: &Place, bonus: i32) {
        let index = mv.index();
        apply_bonus::<LIMIT>(&mut self.quiet[side as usize][index], bonus);
        if let Some(early) = self.early.get_mut(place.ply as usize) {
            apply_bonus::<LIMIT>(&mut early[index], bonus);
        }
        for (after, before) in self.continuation.iter_mut().zip(place.before) {
            if let Some(before) = before {
                apply_bonus::<LIMIT>(&mut after[before.index()][index], bonus);
            }
        }
    }
}

/// Bonus of a quiet move by the evaluations, each for the side to move, before and after it.
pub(crate) fn bonus_by_evals(before: Score, after: Score) -> i32 {
    let gain = -after.get() - before.get();
    (EVAL_FACTOR.get() * gain).clamp(-MAX_EVAL_BONUS, MAX_EVAL_BONUS)
}

/// Bonus for what a search of this depth has found.
pub(crate) fn bonus(depth: i32) -> i32 {
    (BONUS_SLOPE.get() * depth - BONUS_OFFSET.get()).clamp(0, MAX_BONUS.get())
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
        let place = Place { ply: 9, before: [Some(position.piece_to(moves[1])); CONTINUATION_PLIES] };
        let score = |history: &History<Chess>| history.score(&position, moves[0], &place);
        let mut history = History::new(history_pool.clone());
        let tables = history.continuation.as_ptr();
        history.cutoff(&position, moves[0], &TriedQuiets::new(), &place, 5);
        assert_eq!(score(&history), 3 * bonus(5));
        drop(history);
        let mut again = History::<Chess>::new(history_pool.clone());
        assert_eq!(again.continuation.as_ptr(), tables);
        assert_eq!(score(&again), 0);
        let other = History::<Chess>::new(history_pool.clone());
        again.cutoff(&position, moves[0], &TriedQuiets::new(), &place, 5);
        assert_eq!(score(&other), 0);
        drop((again, other));
        assert_eq!(history_pool.lock().len(), 2);
    }

    #[test]
    fn a_new_search_forgets_what_its_first_plies_had_found() {
        let position = Chess::start();
        let mv = position.moves()[0];
        let mut history = History::<Chess>::new(Arc::default());
        let [first, deep] = [0, EARLY_PLIES as u16].map(|ply| Place { ply, before: [None; 2] });
        history.cutoff(&position, mv, &TriedQuiets::new(), &first, 5);
        assert_eq!(history.score(&position, mv, &first), (1 + EARLY_WEIGHT) * bonus(5));
        assert_eq!(history.score(&position, mv, &deep), bonus(5));
        history.new_search();
        assert_eq!(history.score(&position, mv, &first), bonus(5));
    }

    #[test]
    fn a_move_that_improves_the_evaluation_is_rewarded() {
        let bonus = |before, after| bonus_by_evals(Score::cp(before), Score::cp(after));
        assert!(bonus(20, -70) > 0 && bonus(20, 10) < 0);
        assert_eq!(bonus(20, -20), 0);
        assert_eq!(bonus(-3000, -3000), MAX_EVAL_BONUS);
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
