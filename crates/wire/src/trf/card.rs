//! Rounds of a player: opponents, colours, points and byes.

use std::{
    fmt::{self, Display},
    iter::Sum,
    ops::{Add, AddAssign},
};

use zeitnot_rules::Color;

/// Seat of a player in one tournament, counted from 0 in the order of joining: the pairing number less one.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SeatNo(pub usize);

/// Points, counted in halves so that they add up exactly.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Score {
    halves: u32,
}

impl Score {
    /// Nothing.
    pub const LOSS: Score = Score { halves: 0 };
    /// Half a point.
    pub const DRAW: Score = Score { halves: 1 };
    /// A point.
    pub const WIN: Score = Score { halves: 2 };

    /// Returns that many half points.
    pub const fn from_halves(halves: u32) -> Score {
        Score { halves }
    }

    /// Returns the number of half points.
    pub const fn halves(self) -> u32 {
        self.halves
    }

    /// Returns the points as a number.
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
pub enum Cell {
    /// A game that was played.
    Game {
        /// The opponent.
        opponent: SeatNo,
        /// The player's colour.
        color: Color,
        /// The player's points.
        score: Score,
    },
    /// A game that was paired, but not played: neither a meeting nor a colour.
    Forfeit {
        /// The opponent.
        opponent: SeatNo,
        /// The colour that the player would have had.
        color: Color,
        /// The player's points.
        score: Score,
    },
    /// A round without an opponent.
    Bye(Bye),
}

/// Round without an opponent.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Bye {
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
    /// Whether the player took part in the pairing of this round.
    pub fn is_paired(&self) -> bool {
        matches!(self, Cell::Game { .. } | Cell::Forfeit { .. } | Cell::Bye(Bye::Allocated))
    }

    /// Returns the points of this round.
    pub fn score(self) -> Score {
        match self {
            Cell::Game { score, .. } | Cell::Forfeit { score, .. } => score,
            Cell::Bye(Bye::Allocated | Bye::Full) => Score::WIN,
            Cell::Bye(Bye::Half) => Score::DRAW,
            Cell::Bye(Bye::Zero) => Score::LOSS,
        }
    }
}

/// Rounds of one player, from the first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Card(pub Vec<Cell>);

impl Card {
    /// Returns the score after that many rounds.
    pub fn score_after(&self, rounds: usize) -> Score {
        self.0.iter().take(rounds).map(|cell| cell.score()).sum()
    }

    /// Returns the opponents and colours of the games played.
    pub fn games(&self) -> impl DoubleEndedIterator<Item = (SeatNo, Color)> {
        self.0.iter().filter_map(|cell| match *cell {
            Cell::Game { opponent, color, .. } => Some((opponent, color)),
            Cell::Forfeit { .. } | Cell::Bye(_) => None,
        })
    }
}
