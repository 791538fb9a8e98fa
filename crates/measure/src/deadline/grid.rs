//! The grid of cells: clocks, numbers of games, conditions, thinkers.

use std::{fmt, str::FromStr, time::Duration};

use zeitnot_engine::{Fault, Kind};
use zeitnot_rules::TimeControl;

use super::Args;

/// Maximum delay of a round trip under jitter.
pub(super) const ROUND_TRIP: Duration = Duration::from_millis(80);
/// Shorter times for a move are measured, but may be exceeded.
const MIN_COUNTED: Duration = Duration::from_millis(20);

/// A clock of the grid.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Budget {
    /// Initial time, which is also the increment.
    AMove(Duration),
    /// Initial time and increment.
    Game(TimeControl),
}

/// Error of a text that is no [`Budget`].
const BAD_BUDGET: &str = "expected a time for a move, such as 20ms, or for a game in seconds, such as 1+0.01";

impl FromStr for Budget {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.contains('+') {
            return text.parse().map(Budget::Game).map_err(|_| BAD_BUDGET);
        }
        let a_move = humantime::parse_duration(text).map_err(|_| BAD_BUDGET)?;
        let sensible = Duration::from_millis(1)..=Duration::from_secs(3600);
        if sensible.contains(&a_move) { Ok(Budget::AMove(a_move)) } else { Err(BAD_BUDGET) }
    }
}

impl fmt::Display for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Budget::AMove(time) => humantime::format_duration(*time).fmt(f),
            Budget::Game(time) => time.fmt(f),
        }
    }
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Under {
    /// Idle machine.
    Idle,
    /// Two busy processes per core.
    Overload,
    /// Network with random delays.
    Jitter,
    /// Server with Nagle's algorithm and late acknowledgements.
    Nagle,
}

impl fmt::Display for Under {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Under::Idle => "idle",
            Under::Overload => "overload",
            Under::Jitter => "jitter",
            Under::Nagle => "nagle",
        })
    }
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct Cell {
    pub budget: Budget,
    pub games: usize,
    pub under: Under,
    pub thinker: Kind,
}

impl Cell {
    pub(super) fn time(&self) -> TimeControl {
        let network = if self.under == Under::Jitter { ROUND_TRIP } else { Duration::ZERO };
        match self.budget {
            Budget::AMove(time) => TimeControl { initial: time + network, increment: time + network },
            Budget::Game(time) => TimeControl { increment: time.increment + network, ..time },
        }
    }

    /// Returns whether late moves count as failures.
    pub(super) fn counts(&self) -> bool {
        !matches!(self.budget, Budget::AMove(time) if time < MIN_COUNTED)
    }
}

pub(super) fn thinker(name: &str) -> Result<Kind, String> {
    let all = || Kind::named().chain(Fault::ALL.map(Kind::Faulty));
    all().find(|kind| kind.to_string() == name).ok_or_else(|| {
        let known: Vec<_> = all().map(|kind| kind.to_string()).collect();
        format!("known: {}", known.join(", "))
    })
}

const fn a_move(millis: u64) -> Budget {
    Budget::AMove(Duration::from_millis(millis))
}

const fn game(initial: u64, increment_millis: u64) -> Budget {
    Budget::Game(TimeControl {
        initial: Duration::from_secs(initial),
        increment: Duration::from_millis(increment_millis),
    })
}

const BUDGETS: [Budget; 8] =
    [a_move(10), a_move(20), a_move(50), a_move(100), a_move(500), game(1, 0), game(1, 10), game(3, 0)];
const GAMES: [u8; 3] = [1, 8, 32];
const CONDITIONS: [Under; 4] = [Under::Idle, Under::Overload, Under::Jitter, Under::Nagle];
const SEARCH: Kind = Kind::Search;

/// Cells of `--quick`.
const QUICK: [Cell; 10] = [
    Cell { budget: a_move(20), games: 1, under: Under::Idle, thinker: SEARCH },
    Cell { budget: a_move(100), games: 32, under: Under::Idle, thinker: SEARCH },
    Cell { budget: game(1, 10), games: 8, under: Under::Idle, thinker: SEARCH },
    Cell { budget: a_move(20), games: 8, under: Under::Overload, thinker: SEARCH },
    Cell { budget: game(1, 10), games: 1, under: Under::Overload, thinker: SEARCH },
    Cell { budget: a_move(20), games: 8, under: Under::Jitter, thinker: SEARCH },
    Cell { budget: game(1, 0), games: 1, under: Under::Jitter, thinker: SEARCH },
    Cell { budget: a_move(20), games: 8, under: Under::Nagle, thinker: SEARCH },
    Cell { budget: game(1, 10), games: 1, under: Under::Nagle, thinker: SEARCH },
    Cell { budget: a_move(100), games: 1, under: Under::Idle, thinker: Kind::Faulty(Fault::Deaf) },
];

pub(super) fn cells(args: &Args) -> Vec<Cell> {
    if args.quick {
        return QUICK.to_vec();
    }
    fn or<T: Clone>(asked: &[T], default: &[T]) -> Vec<T> {
        if asked.is_empty() { default.to_vec() } else { asked.to_vec() }
    }
    let budgets = or(&args.budget, &BUDGETS);
    let games = or(&args.games, &GAMES);
    let mut cells = Vec::new();
    for thinker in or(&args.thinker, &[SEARCH]) {
        for under in or(&args.under, &CONDITIONS) {
            for games in games.iter().map(|&games| games.into()) {
                cells.extend(budgets.iter().map(|&budget| Cell { budget, games, under, thinker }));
            }
        }
    }
    let everything = args.budget.is_empty() && args.games.is_empty() && args.under.is_empty();
    if everything && args.thinker.is_empty() {
        // For broken thinkers, one clock of each kind is enough.
        for fault in Fault::ALL {
            let cell =
                Cell { budget: a_move(100), games: 1, under: Under::Idle, thinker: Kind::Faulty(fault) };
            cells.extend([cell, Cell { budget: game(1, 10), games: 8, ..cell }]);
        }
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn budgets_are_read_as_they_are_written() {
        for text in ["20ms", "1+0.01", "500ms", "3+0"] {
            assert_eq!(text.parse::<Budget>().unwrap().to_string(), text);
        }
        for text in ["", "20", "0ms", "-1+0", "1 year", "x+y"] {
            assert!(text.parse::<Budget>().is_err(), "{text}");
        }
    }

    #[test]
    fn under_jitter_every_move_gets_the_networks_time() {
        let time = |budget, under| Cell { budget, games: 1, under, thinker: SEARCH }.time().to_string();
        assert_eq!(time(a_move(20), Under::Idle), "0.02+0.02");
        assert_eq!(time(a_move(20), Under::Jitter), "0.1+0.1");
        assert_eq!(time(game(1, 10), Under::Overload), "1+0.01");
        assert_eq!(time(game(1, 10), Under::Jitter), "1+0.09");
    }

    #[test]
    fn thinkers_have_names() {
        assert_eq!(thinker("search"), Ok(Kind::Search));
        assert_eq!(thinker("deaf"), Ok(Kind::Faulty(Fault::Deaf)));
        assert!(thinker("stockfish").unwrap_err().contains("search, mcts, uct, random, minimax, "));
    }
}
