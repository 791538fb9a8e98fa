//! The soft limit while the search runs: earlier where it is sure of its move, later where it is not.
//!
//! Source of the three signs: Chess Programming Wiki, "Time Management"; the numbers are ours.

use std::{
    ops::ControlFlow,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use zeitnot_rules::{GameHistory, Packed};

use super::Budget;
use crate::{Playable, Progress, Score};

/// The factor after so many iterations with the same best move.
const STABLE: [f64; 5] = [1.7, 1.25, 1.0, 0.85, 0.75];
/// The score fell by this many centipawns since the iteration before: the factor is [`MOST_FOR_DROP`].
const DROP: f64 = 60.0;
const MOST_FOR_DROP: f64 = 1.6;
/// With this share of the nodes on the best move the factor is 1; it falls as the share grows …
const USUAL_SHARE: f64 = 0.6;
/// … and stays between these two.
const LEAST_FOR_SHARE: f64 = 0.65;
const MOST_FOR_SHARE: f64 = 1.35;
/// A recapture is the only move to think of where it was best in so many iterations, …
const EASY_STABLE: usize = 6;
/// … with this share of the nodes, in thousandths; …
const EASY_SHARE: u16 = 900;
/// … then this part of the soft limit is enough.
const EASY: f64 = 0.1;

/// Says after each iteration of a search whether another is wanted: the search's thread tells it of the
/// iterations, its owner when the move is asked for. That may be later than the search began: while we
/// think on the opponent's time there need be no limit, and what was thought then counts.
#[derive(Clone, Debug)]
pub struct Pacer<G: Playable> {
    root: G,
    /// Where the last move has taken something.
    taken_at: Option<usize>,
    pace: Arc<Mutex<Pace>>,
}

impl<G: Playable> Pacer<G> {
    /// For a search of this position that begins now with this budget; `None`: nobody has asked yet.
    pub fn new(line: &GameHistory<G>, began: Instant, budget: Option<Budget>) -> Self {
        let taken = line.last().filter(|(before, mv)| before.gain(*mv) > 0);
        let taken_at = taken.map(|(before, mv)| before.target(mv));
        let pace = Pace { began, budget, last: None, stable: 0, drop: 0 };
        Pacer { root: line.now().clone(), taken_at, pace: Arc::new(Mutex::new(pace)) }
    }

    /// An iteration is done: is another one wanted?
    pub fn hear(&self, progress: &Progress<G>) -> ControlFlow<()> {
        let best = progress.pv.first().copied();
        let sign = Sign {
            best: best.map_or(Packed::NONE, |mv| self.root.pack(mv)),
            score: progress.score,
            depth: progress.depth,
            share: progress.share,
            recapture: best.is_some_and(|mv| self.taken_at == Some(self.root.target(mv))),
        };
        self.lock().hear(sign, Instant::now())
    }

    /// Now the move is asked for. Has there been thought enough already?
    pub fn ask(&self, budget: Budget, now: Instant) -> ControlFlow<()> {
        let mut pace = self.lock();
        pace.budget = Some(budget);
        pace.verdict(now)
    }

    /// Held for a few instructions; a holder that panicked has at worst not counted an iteration.
    fn lock(&self) -> MutexGuard<'_, Pace> {
        self.pace.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What an iteration says of how sure the search is.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
struct Sign {
    best: Packed,
    score: Score,
    depth: u16,
    /// The part of the nodes spent on the best move, in thousandths.
    share: u16,
    /// Does the best move take back where the opponent has just taken?
    recapture: bool,
}

#[derive(Clone, Debug)]
struct Pace {
    /// When the search began.
    began: Instant,
    /// `None`: not asked for a move yet.
    budget: Option<Budget>,
    last: Option<Sign>,
    /// Iterations in a row that had the same best move before the last one.
    stable: usize,
    /// Of the score, against the iteration before.
    drop: i32,
}

impl Pace {
    fn hear(&mut self, sign: Sign, now: Instant) -> ControlFlow<()> {
        match self.last {
            Some(last) => {
                self.stable = if last.best == sign.best { self.stable + 1 } else { 0 };
                self.drop = last.score.get() - sign.score.get();
            }
            None => self.stable = 0,
        }
        self.last = Some(sign);
        self.verdict(now)
    }

    /// Has the search had its time, as far as it got?
    fn verdict(&self, now: Instant) -> ControlFlow<()> {
        let (Some(budget), Some(sign)) = (self.budget, self.last) else { return ControlFlow::Continue(()) };
        // A mate seen well within the depth is the shortest.
        let mate = sign.score.mate_moves().map(|moves| 2 * moves.unsigned_abs() + 2);
        let certain = mate.is_some_and(|plies| plies <= sign.depth);
        if certain || now.saturating_duration_since(self.began) >= self.soft(budget, sign) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }

    fn soft(&self, budget: Budget, sign: Sign) -> Duration {
        if budget.soft == budget.hard {
            return budget.hard;
        }
        let easy = sign.recapture && self.stable >= EASY_STABLE && sign.share >= EASY_SHARE;
        let factor = if easy { EASY } else { self.stability() * self.trouble() * uncertainty(sign.share) };
        budget.soft.mul_f64(factor).min(budget.hard)
    }

    fn stability(&self) -> f64 {
        STABLE[self.stable.min(STABLE.len() - 1)]
    }

    fn trouble(&self) -> f64 {
        1.0 + (MOST_FOR_DROP - 1.0) * (f64::from(self.drop) / DROP).clamp(0.0, 1.0)
    }
}

fn uncertainty(share: u16) -> f64 {
    (1.0 + USUAL_SHARE - f64::from(share) / 1000.0).clamp(LEAST_FOR_SHARE, MOST_FOR_SHARE)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);
    const BUDGET: Budget = Budget { soft: SECOND, hard: Duration::from_secs(4) };

    fn sign(best: u16, score: i32, share: u16) -> Sign {
        Sign { best: Packed(best), score: Score::cp(score), depth: 8, share, recapture: false }
    }

    fn starting(began: Instant, budget: Option<Budget>) -> Pace {
        Pace { began, budget, last: None, stable: 0, drop: 0 }
    }

    /// When a search that says this after each of its iterations has had enough.
    fn soft(signs: &[Sign]) -> Duration {
        let began = Instant::now();
        let mut pace = starting(began, Some(BUDGET));
        for sign in signs {
            let _ = pace.hear(*sign, began);
        }
        pace.soft(BUDGET, signs[signs.len() - 1])
    }

    #[test]
    fn a_move_that_stays_takes_less_and_a_new_one_more() {
        let stays = soft(&[sign(1, 0, 600); 8]);
        let mut changed = [sign(1, 0, 600); 8];
        changed[7].best = Packed(2);
        assert!(stays < SECOND && SECOND < soft(&changed), "{stays:?}");
    }

    #[test]
    fn a_falling_score_takes_more_and_a_rising_one_no_less() {
        let calm = [sign(1, 0, 600); 4];
        let (mut falls, mut rises) = (calm, calm);
        (falls[3].score, rises[3].score) = (Score::cp(-50), Score::cp(50));
        assert!(soft(&falls) > soft(&calm));
        assert_eq!(soft(&rises), soft(&calm));
    }

    #[test]
    fn many_nodes_on_one_move_take_less() {
        assert!(soft(&[sign(1, 0, 950); 4]) < soft(&[sign(1, 0, 600); 4]));
        assert!(soft(&[sign(1, 0, 600); 4]) < soft(&[sign(1, 0, 200); 4]));
    }

    #[test]
    fn a_clear_recapture_is_played_soon() {
        let clear = Sign { recapture: true, ..sign(1, 0, 950) };
        assert_eq!(soft(&[clear; 8]), SECOND.mul_f64(EASY));
        assert!(soft(&[clear; 3]) > SECOND / 2, "not after so few iterations");
        assert!(soft(&[Sign { share: 700, ..clear }; 8]) > SECOND / 2, "not while others are looked at");
    }

    #[test]
    fn a_certain_mate_needs_no_more_time_but_one_at_the_horizon_does() {
        let began = Instant::now();
        let mut pace = starting(began, Some(BUDGET));
        let mate = Sign { score: Score::mate_in(5), ..sign(1, 0, 600) };
        assert!(pace.hear(Sign { depth: 7, ..mate }, began).is_continue());
        assert!(pace.hear(Sign { depth: 8, ..mate }, began).is_break());
    }

    #[test]
    fn before_the_move_is_asked_for_there_is_no_limit_and_then_all_counts() {
        let began = Instant::now();
        let mut pace = starting(began, None);
        let hour = began + 3600 * SECOND;
        for _ in 0..4 {
            assert!(pace.hear(sign(1, 0, 600), hour).is_continue());
        }
        pace.budget = Some(BUDGET);
        assert!(pace.verdict(hour).is_break());
        assert!(pace.verdict(began + SECOND / 10).is_continue());
    }

    #[test]
    fn a_fixed_time_is_used_whatever_the_search_says() {
        let began = Instant::now();
        let mut pace = starting(began, Some(Budget::exactly(SECOND)));
        for _ in 0..20 {
            assert!(pace.hear(sign(1, 0, 990), began + SECOND * 9 / 10).is_continue());
        }
        assert!(pace.hear(sign(1, 0, 990), began + SECOND).is_break());
    }

    proptest! {
        #[test]
        fn never_behind_the_hard_limit(
            signs in prop::collection::vec((0u16..3, -300i32..300, 0u16..=1000, any::<bool>()), 1..20),
            soft in 0u64..5_000, more in 1u64..5_000,
        ) {
            let budget = Budget { soft: Duration::from_millis(soft), hard: Duration::from_millis(soft + more) };
            let began = Instant::now();
            let mut pace = starting(began, Some(budget));
            for (best, score, share, recapture) in signs {
                let sign = Sign { recapture, ..sign(best, score, share) };
                let _ = pace.hear(sign, began);
                prop_assert!(pace.soft(budget, sign) <= budget.hard);
                prop_assert!(pace.verdict(began + budget.hard).is_break());
            }
        }
    }
}
