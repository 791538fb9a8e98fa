//! The soft limit while the search runs: earlier where the search is certain of its move, later where it is not.
//!
//! Source of the three signals: Chess Programming Wiki, "Time Management"; the numbers are ours.

use std::{
    ops::ControlFlow,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use zeitnot_rules::{GameHistory, Packed, Tactics};

use super::budget::Budget;
use crate::{score::Score, thinker::Progress};

/// Factor by the number of iterations in a row with the same best move.
const STABILITY: [f64; 5] = [1.7, 1.25, 1.0, 0.85, 0.75];
/// Score drop since the last iteration, in centipawns, at which the factor is [`MAX_DROP_FACTOR`].
const MAX_DROP: f64 = 60.0;
const MAX_DROP_FACTOR: f64 = 1.6;
/// Share of the nodes on the best move at which the factor is 1; it falls as the share grows.
const NEUTRAL_SHARE: f64 = 0.6;
const MIN_SHARE_FACTOR: f64 = 0.65;
const MAX_SHARE_FACTOR: f64 = 1.35;
/// A recapture that was best in this many iterations, …
const EASY_STABILITY: usize = 6;
/// … with this share of the nodes, in thousandths, …
const EASY_SHARE: u16 = 900;
/// … needs only this part of the soft limit.
const EASY_FACTOR: f64 = 0.1;

/// Time manager of one search. Decides after each iteration whether another starts.
///
/// Clones share their state: the search reports its iterations, its owner sets the budget. While pondering the
/// budget comes later than the search, and the time used by then counts.
#[derive(Clone, Debug)]
pub(crate) struct TimeManager(Arc<Mutex<State>>);

impl TimeManager {
    /// Creates the time manager of a search that started then; `None`: no limit yet.
    pub(crate) fn new(started_at: Instant, budget: Option<Budget>) -> Self {
        TimeManager(Arc::new(Mutex::new(State::new(started_at, budget))))
    }

    /// Takes note of a finished iteration. Breaks if no other should start.
    pub(crate) fn update(&self, iteration: Iteration) -> ControlFlow<()> {
        self.lock().update(iteration, Instant::now())
    }

    /// Sets the budget, counted from the start of the search. Breaks if it is used up already.
    pub(crate) fn set_budget(&self, budget: Budget, now: Instant) -> ControlFlow<()> {
        let mut state = self.lock();
        state.budget = Some(budget);
        state.verdict(now)
    }

    /// Held for a few instructions; after a panic at worst an iteration was not counted.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Signals of an iteration for the time manager.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Iteration {
    best: Packed,
    score: Score,
    depth: u16,
    /// Share of the nodes spent on the best move, in thousandths.
    best_move_share: u16,
    /// Whether the best move captures where the opponent has just captured.
    is_recapture: bool,
}

impl Iteration {
    /// Extracts the signals of an iteration.
    pub(crate) fn new<G: Tactics>(game: &GameHistory<G>, progress: &Progress<G>) -> Self {
        let (root, best) = (game.now(), progress.pv.first().copied());
        let captured = game.last().filter(|(before, mv)| before.gain(*mv) > 0);
        let captured_at = captured.map(|(before, mv)| before.target(mv));
        Iteration {
            best: best.map_or(Packed::NONE, |mv| root.pack(mv)),
            score: progress.score,
            depth: progress.depth,
            best_move_share: progress.best_move_share,
            is_recapture: best.is_some_and(|mv| captured_at == Some(root.target(mv))),
        }
    }
}

#[derive(Clone, Debug)]
struct State {
    started_at: Instant,
    /// `None`: no move is asked for yet.
    budget: Option<Budget>,
    last: Option<Iteration>,
    /// Iterations in a row before the last one that had its best move.
    stability: usize,
    /// Score drop since the iteration before.
    drop: i32,
}

impl State {
    fn new(started_at: Instant, budget: Option<Budget>) -> State {
        State { started_at, budget, last: None, stability: 0, drop: 0 }
    }

    fn update(&mut self, iteration: Iteration, now: Instant) -> ControlFlow<()> {
        match self.last {
            Some(last) => {
                self.stability = if last.best == iteration.best { self.stability + 1 } else { 0 };
                self.drop = last.score.get() - iteration.score.get();
            }
            None => self.stability = 0,
        }
        self.last = Some(iteration);
        self.verdict(now)
    }

    /// Breaks if the search has used its time.
    fn verdict(&self, now: Instant) -> ControlFlow<()> {
        let (Some(budget), Some(last)) = (self.budget, self.last) else { return ControlFlow::Continue(()) };
        // A mate seen well within the depth is the shortest.
        let mate = last.score.mate_moves().map(|moves| 2 * moves.unsigned_abs() + 2);
        let is_certain = mate.is_some_and(|plies| plies <= last.depth);
        if is_certain || now.saturating_duration_since(self.started_at) >= self.soft(budget, last) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }

    fn soft(&self, budget: Budget, last: Iteration) -> Duration {
        if budget.soft == budget.hard {
            return budget.hard;
        }
        let is_easy =
            last.is_recapture && self.stability >= EASY_STABILITY && last.best_move_share >= EASY_SHARE;
        let factor = match is_easy {
            true => EASY_FACTOR,
            false => self.stability_factor() * self.drop_factor() * share_factor(last.best_move_share),
        };
        budget.soft.mul_f64(factor).min(budget.hard)
    }

    fn stability_factor(&self) -> f64 {
        STABILITY[self.stability.min(STABILITY.len() - 1)]
    }

    fn drop_factor(&self) -> f64 {
        1.0 + (MAX_DROP_FACTOR - 1.0) * (f64::from(self.drop) / MAX_DROP).clamp(0.0, 1.0)
    }
}

fn share_factor(share: u16) -> f64 {
    (1.0 + NEUTRAL_SHARE - f64::from(share) / 1000.0).clamp(MIN_SHARE_FACTOR, MAX_SHARE_FACTOR)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);
    const BUDGET: Budget = Budget { soft: SECOND, hard: Duration::from_secs(4) };

    fn iteration(best: u16, score: i32, share: u16) -> Iteration {
        Iteration {
            best: Packed(best),
            score: Score::cp(score),
            depth: 8,
            best_move_share: share,
            is_recapture: false,
        }
    }

    /// Soft limit after these iterations.
    fn soft(iterations: &[Iteration]) -> Duration {
        let began = Instant::now();
        let mut state = State::new(began, Some(BUDGET));
        for iteration in iterations {
            let _ = state.update(*iteration, began);
        }
        state.soft(BUDGET, iterations[iterations.len() - 1])
    }

    #[test]
    fn a_move_that_stays_takes_less_and_a_new_one_more() {
        let stays = soft(&[iteration(1, 0, 600); 8]);
        let mut changed = [iteration(1, 0, 600); 8];
        changed[7].best = Packed(2);
        assert!(stays < SECOND && SECOND < soft(&changed), "{stays:?}");
    }

    #[test]
    fn a_falling_score_takes_more_and_a_rising_one_no_less() {
        let calm = [iteration(1, 0, 600); 4];
        let (mut falls, mut rises) = (calm, calm);
        (falls[3].score, rises[3].score) = (Score::cp(-50), Score::cp(50));
        assert!(soft(&falls) > soft(&calm));
        assert_eq!(soft(&rises), soft(&calm));
    }

    #[test]
    fn many_nodes_on_one_move_take_less() {
        assert!(soft(&[iteration(1, 0, 950); 4]) < soft(&[iteration(1, 0, 600); 4]));
        assert!(soft(&[iteration(1, 0, 600); 4]) < soft(&[iteration(1, 0, 200); 4]));
    }

    #[test]
    fn a_clear_recapture_is_played_soon() {
        let clear = Iteration { is_recapture: true, ..iteration(1, 0, 950) };
        assert_eq!(soft(&[clear; 8]), SECOND.mul_f64(EASY_FACTOR));
        assert!(soft(&[clear; 3]) > SECOND / 2, "not after so few iterations");
        assert!(
            soft(&[Iteration { best_move_share: 700, ..clear }; 8]) > SECOND / 2,
            "not while others are looked at"
        );
    }

    #[test]
    fn a_certain_mate_needs_no_more_time_but_one_at_the_horizon_does() {
        let began = Instant::now();
        let mut state = State::new(began, Some(BUDGET));
        let mate = Iteration { score: Score::mate_in(5), ..iteration(1, 0, 600) };
        assert!(state.update(Iteration { depth: 7, ..mate }, began).is_continue());
        assert!(state.update(Iteration { depth: 8, ..mate }, began).is_break());
    }

    #[test]
    fn before_the_move_is_asked_for_there_is_no_limit_and_then_all_counts() {
        let began = Instant::now();
        let mut state = State::new(began, None);
        let hour = began + 3600 * SECOND;
        for _ in 0..4 {
            assert!(state.update(iteration(1, 0, 600), hour).is_continue());
        }
        state.budget = Some(BUDGET);
        assert!(state.verdict(hour).is_break());
        assert!(state.verdict(began + SECOND / 10).is_continue());
    }

    #[test]
    fn a_fixed_time_is_used_whatever_the_search_says() {
        let began = Instant::now();
        let mut state = State::new(began, Some(Budget::exactly(SECOND)));
        for _ in 0..20 {
            assert!(state.update(iteration(1, 0, 990), began + SECOND * 9 / 10).is_continue());
        }
        assert!(state.update(iteration(1, 0, 990), began + SECOND).is_break());
    }

    proptest! {
        #[test]
        fn never_behind_the_hard_limit(
            iterations in prop::collection::vec((0u16..3, -300i32..300, 0u16..=1000, any::<bool>()), 1..20),
            soft in 0u64..5_000, more in 1u64..5_000,
        ) {
            let budget = Budget { soft: Duration::from_millis(soft), hard: Duration::from_millis(soft + more) };
            let began = Instant::now();
            let mut state = State::new(began, Some(budget));
            for (best, score, share, recapture) in iterations {
                let iteration = Iteration { is_recapture: recapture, ..iteration(best, score, share) };
                let _ = state.update(iteration, began);
                prop_assert!(state.soft(budget, iteration) <= budget.hard);
                prop_assert!(state.verdict(began + budget.hard).is_break());
            }
        }
    }
}
