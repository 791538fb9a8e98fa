//! Results of a cell, and the table of results.

use std::{collections::HashMap, fmt::Write, time::Duration};

use zeitnot_bot::{Answer, MoveOrigin};
use zeitnot_rules::{ByColor, Color, TimeControl};

use super::grid::{Budget, Cell};
use crate::output::quantile;

/// Games of a cell, as counted by the arena.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Games {
    pub over: usize,
    /// Finished games that were lost on time.
    pub forfeits: usize,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Measured {
    games: Games,
    answers: Vec<Answer>,
    time: Option<TimeControl>,
}

pub(super) const HEADER: &str = "\
condition  thinker   clock   games |   moves  late  over forfeits | at hard limit  p50 ms  p99 ms  max ms | used  clock
-----------------------------------+------------------------------+---------------------------------------+------------";

/// Resolution of the arena's clocks, which are rounded down.
const CLOCK_STEP: Duration = Duration::from_millis(10);
/// Move by which the time of a game should be used.
const MOVE: usize = 60;

impl Measured {
    pub(super) fn new(games: Games, answers: Vec<Answer>, time: TimeControl) -> Self {
        Measured { games, answers, time: Some(time) }
    }

    /// Adds the results of another cell, except for the use of the clocks.
    pub(super) fn add(&mut self, other: Measured) {
        self.games.over += other.games.over;
        self.games.forfeits += other.games.forfeits;
        self.answers.extend(other.answers);
    }

    /// Number of answers sent after our clock had run out, within the resolution of the clock.
    pub(super) fn late(&self) -> usize {
        let late = |a: &&Answer| a.left.is_some_and(|left| a.sent_at > a.asked_at + left + CLOCK_STEP);
        self.answers.iter().filter(late).count()
    }

    pub(super) fn forfeits(&self) -> usize {
        self.games.forfeits
    }

    pub(super) fn row(&self, cell: &Cell) -> String {
        let Cell { budget, games, under, thinker } = cell;
        let mut row = format!(
            "{:<9}  {:<8} {:>7}  {games:>5} |",
            under.to_string(),
            thinker.to_string(),
            budget.to_string()
        );
        self.columns(&mut row);
        let clock = match budget {
            Budget::Game(_) => self.clock_used(),
            Budget::AMove(_) => None,
        };
        let _ = match clock {
            Some(used) => write!(row, "  {:>4.0}%", 100.0 * used),
            None => write!(row, "      –"),
        };
        row
    }

    pub(super) fn total(&self) -> String {
        let mut row = format!("{:<34} |", "all");
        self.columns(&mut row);
        row
    }

    fn columns(&self, row: &mut String) {
        let lateness = self.lateness();
        let late = |part| quantile(&lateness, part).map_or_else(|| "–".to_owned(), |ms| format!("{ms:.2}"));
        // Writing to a string does not fail.
        let _ = write!(
            row,
            " {:>7} {:>5} {:>5} {:>8} | {:>13}  {:>6}  {:>6}  {:>6} | {:>3.0}%",
            self.answers.len(),
            self.late(),
            self.games.over,
            self.games.forfeits,
            lateness.len(),
            late(0.5),
            late(0.99),
            late(1.0),
            100.0 * self.used(),
        );
    }

    /// Delay after the hard limit of the answers sent at that limit, sorted.
    fn lateness(&self) -> Vec<Duration> {
        let at_hard = self.answers.iter().filter(|answer| answer.origin == MoveOrigin::HardLimit);
        let behind = |a: &Answer| a.sent_at.saturating_duration_since(a.asked_at + a.budget.hard);
        let mut lateness: Vec<_> = at_hard.map(behind).collect();
        lateness.sort_unstable();
        lateness
    }

    /// Time used, as a fraction of the soft limits.
    fn used(&self) -> f64 {
        let sum =
            |time: fn(&Answer) -> Duration| self.answers.iter().map(time).sum::<Duration>().as_secs_f64();
        let used = sum(|a| a.sent_at.saturating_duration_since(a.asked_at));
        used / sum(|a| a.budget.soft).max(1e-9)
    }

    /// Fraction of the time before the sixtieth move used by the side that used more; the median of the games that
    /// lasted that long.
    fn clock_used(&self) -> Option<f64> {
        let time = self.time?;
        let mut left: HashMap<&str, ByColor<Option<Duration>>> = HashMap::new();
        for answer in self.answers.iter().filter(|answer| answer.ply / 2 == MOVE - 1) {
            left.entry(&answer.game).or_default()[answer.side] = answer.left;
        }
        let had = time.initial + time.increment * (MOVE as u32 - 1);
        let least =
            |left: &ByColor<Option<Duration>>| Color::BOTH.iter().filter_map(|&side| left[side]).min();
        let mut used: Vec<_> =
            left.values().filter_map(least).map(|left| 1.0 - left.div_duration_f64(had)).collect();
        used.sort_by(f64::total_cmp);
        used.get(used.len() / 2).copied()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;
    use zeitnot_engine::time as clock;

    const MS: Duration = Duration::from_millis(1);

    fn answer(origin: MoveOrigin, left: u32, took: u32, ply: usize) -> Answer {
        let asked_at = Instant::now();
        Answer {
            game: "g".into(),
            side: if ply.is_multiple_of(2) { Color::White } else { Color::Black },
            ply,
            origin,
            asked_at,
            budget: clock::Budget { soft: 20 * MS, hard: 50 * MS },
            left: Some(left * MS),
            lag: Duration::ZERO,
            sent_at: asked_at + took * MS,
        }
    }

    fn measured(answers: Vec<Answer>) -> Measured {
        Measured::new(Games { over: 1, forfeits: 0 }, answers, "1+0".parse().unwrap())
    }

    #[test]
    fn late_is_what_left_after_the_flag() {
        let answers = vec![answer(MoveOrigin::Searched, 30, 40, 0), answer(MoveOrigin::HardLimit, 52, 63, 1)];
        assert_eq!(measured(answers).late(), 1);
    }

    #[test]
    fn lateness_is_told_of_answers_at_the_hard_limit() {
        let mut answers: Vec<_> = (0..100).map(|i| answer(MoveOrigin::HardLimit, 900, 50 + i, 0)).collect();
        answers.push(answer(MoveOrigin::Searched, 900, 10, 0));
        let lateness = measured(answers).lateness();
        assert_eq!(lateness.len(), 100);
        let rounded = |part| quantile(&lateness, part).map(f64::round);
        assert_eq!([0.5, 0.99, 1.0].map(rounded), [Some(49.0), Some(98.0), Some(99.0)]);
        assert_eq!(quantile(&[], 0.5), None);
    }

    #[test]
    fn the_clock_is_that_of_the_side_that_used_more() {
        let answers =
            vec![answer(MoveOrigin::Searched, 400, 10, 118), answer(MoveOrigin::Searched, 100, 10, 119)];
        let used = measured(answers).clock_used().unwrap();
        assert!((used - 0.9).abs() < 1e-9, "{used}");
        assert_eq!(measured(vec![answer(MoveOrigin::Searched, 1, 1, 10)]).clock_used(), None);
    }
}
