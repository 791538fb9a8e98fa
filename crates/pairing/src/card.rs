//! Rounds of a player: opponents, colours, points and byes.

use std::{
    fmt::{self, Display},
    iter::Sum,
    ops::{Add, AddAssign},
};

use zeitnot_rules::{Color, GameResult};

/// Seat of a player in one tournament, counted from 0 in the order of joining: the pairing number less one.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SeatNo(pub usize);

/// Points, counted in halves so that they add up exactly.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Score {
    halves: u32,
}

impl Score {
    pub const LOSS: Score = Score { halves: 0 };
    pub const DRAW: Score = Score { halves: 1 };
    pub const WIN: Score = Score { halves: 2 };

    pub const fn from_halves(halves: u32) -> Score {
        Score { halves }
    }

    pub const fn halves(self) -> u32 {
        self.halves
    }

    pub fn points(self) -> f64 {
        f64::from(self.halves) / 2.0
    }
}

impl Add for Score {
    type Output = Score;

    fn add(self, other: Score) -> Score {
        Score { halves: self.halves.saturating_add(other.halves) }
    }
}

impl AddAssign for Score {
    fn add_assign(&mut self, other: Score) {
        *self = *self + other;
    }
}

impl Sum for Score {
    fn sum<I: Iterator<Item = Score>>(scores: I) -> Score {
        scores.fold(Score::default(), Add::add)
    }
}

impl Display for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.points().to_string())
    }
}

/// One round of one player.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Cell {
    /// A game as its player sees it. One that was not played is neither a meeting nor a colour.
    Game {
        opponent: SeatNo,
        color: Color,
        score: Score,
        is_played: bool,
    },
    Bye(Bye),
}

/// Round without an opponent.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Bye {
    /// The pairing left the player over: a full point.
    Allocated,
    /// A full point by the arbiter.
    Full,
    /// Half a point, asked for.
    Half,
    /// Absent, without a point.
    Zero,
}

impl Cell {
    /// Returns the round of the player of this colour in a game.
    pub(crate) fn game(opponent: SeatNo, color: Color, result: GameResult, is_played: bool) -> Cell {
        let score = match result {
            GameResult::Draw => Score::DRAW,
            GameResult::Won(winner) if winner == color => Score::WIN,
            GameResult::Won(_) => Score::LOSS,
        };
        Cell::Game { opponent, color, score, is_played }
    }

    /// Whether the player took part in the pairing of this round.
    pub(crate) fn is_paired(&self) -> bool {
        matches!(self, Cell::Game { .. } | Cell::Bye(Bye::Allocated))
    }

    /// Returns the points of this round.
    pub(crate) fn score(self) -> Score {
        match self {
            Cell::Game { score, .. } => score,
            Cell::Bye(Bye::Allocated | Bye::Full) => Score::WIN,
            Cell::Bye(Bye::Half) => Score::DRAW,
            Cell::Bye(Bye::Zero) => Score::LOSS,
        }
    }
}

/// Rounds of one player, from the first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Card(pub(crate) Vec<Cell>);

impl Card {
    pub(crate) fn score_after(&self, rounds: usize) -> Score {
        self.0.iter().take(rounds).map(|cell| cell.score()).sum()
    }

    /// Returns the opponents and colours of the games played.
    pub(crate) fn games(&self) -> impl DoubleEndedIterator<Item = (SeatNo, Color)> {
        self.0.iter().filter_map(|cell| match *cell {
            Cell::Game { opponent, color, is_played: true, .. } => Some((opponent, color)),
            Cell::Game { .. } | Cell::Bye(_) => None,
        })
    }
}
