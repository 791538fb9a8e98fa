//! A player as the Dutch rules see one before a round (FIDE handbook C.04.3, part A, and C.04.1).

use std::{cmp::Ordering, collections::BTreeSet};

use zeitnot_rules::Color;

use super::baku::Acceleration;
use crate::card::{Bye, Card, Cell, Score, SeatNo};

/// Player to be paired.
#[derive(Clone, Debug)]
pub(super) struct Contender {
    pub(super) seat: SeatNo,
    /// Pairing number among those who have taken part so far, from 1.
    pub(super) number: usize,
    /// Points, with the virtual ones.
    pub(super) score: Score,
    /// Those met over the board.
    met: BTreeSet<SeatNo>,
    /// Colours of the games played, the last one first.
    pub(super) colors: Vec<Color>,
    /// Difference between the games with each colour.
    pub(super) imbalance: usize,
    pub(super) preference: Option<Color>,
    pub(super) strength: Strength,
    /// Floats in the last round and in the one before.
    floats: [Option<Float>; 2],
    /// Whether the player may get the pairing-allocated bye (C2).
    pub(super) may_have_bye: bool,
}

/// Strength of a colour preference (A.6).
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Strength {
    None,
    Mild,
    Strong,
    Absolute,
}

/// Game against somebody with another score, or a point without a game (A.4).
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Float {
    Down,
    Up,
}

impl Contender {
    /// Returns the players of a round, counted from 0, by their cards before it, in the order of A.2.
    pub(super) fn all(
        cards: &[Card],
        players: &[SeatNo],
        round: usize,
        acceleration: &Acceleration,
    ) -> Vec<Contender> {
        let takes_part =
            |seat: &SeatNo| players.contains(seat) || cards[seat.0].0.iter().any(Cell::is_paired);
        let numbered = (0..cards.len()).map(SeatNo).filter(takes_part).zip(1..);
        let here = numbered.filter(|(seat, _)| players.contains(seat));
        let mut all: Vec<_> =
            here.map(|(seat, number)| Contender::new(seat, number, cards, round, acceleration)).collect();
        all.sort_by(|a, b| b.score.cmp(&a.score).then(a.seat.cmp(&b.seat)));
        all
    }

    fn new(seat: SeatNo, number: usize, cards: &[Card], round: usize, acceleration: &Acceleration) -> Self {
        let card = &cards[seat.0];
        let colors: Vec<_> = card.games().map(|(_, color)| color).rev().collect();
        let whites = colors.iter().filter(|color| **color == Color::White).count();
        let blacks = colors.len() - whites;
        let rarer = if whites > blacks { Color::Black } else { Color::White };
        let last = colors.first().copied();
        let is_repeated = last.is_some() && last == colors.get(1).copied();
        let imbalance = whites.abs_diff(blacks);
        let (preference, strength) = match imbalance {
            2.. => (Some(rarer), Strength::Absolute),
            _ if is_repeated => (last.map(|color| !color), Strength::Absolute),
            1 => (Some(rarer), Strength::Strong),
            _ if last.is_some() => (last.map(|color| !color), Strength::Mild),
            _ => (None, Strength::None),
        };
        let float = |back: usize| float(seat, cards, round.checked_sub(back)?, acceleration);
        // C.04.1: nobody who had a bye, or as much as a win without a game, gets the bye.
        let is_whole = |cell: &Cell| match cell {
            Cell::Game { score, is_played, .. } => !is_played && *score >= Score::WIN,
            Cell::Bye(bye) => matches!(bye, Bye::Allocated | Bye::Full),
        };
        Contender {
            seat,
            number,
            score: card.score_after(round) + acceleration.points(seat, round),
            met: card.games().map(|(opponent, _)| opponent).collect(),
            floats: [float(1), float(2)],
            may_have_bye: !card.0.iter().any(is_whole),
            colors,
            imbalance,
            preference,
            strength,
        }
    }

    pub(super) fn games(&self) -> usize {
        self.colors.len()
    }

    pub(super) fn has_met(&self, other: &Contender) -> bool {
        self.met.contains(&other.seat)
    }

    /// Whether the player floated so, that many rounds ago.
    pub(super) fn floated(&self, back: usize, float: Float) -> bool {
        self.floats[back - 1] == Some(float)
    }

    /// The colour of the last two games, if they had the same.
    pub(super) fn repeated(&self) -> Option<Color> {
        self.colors.first().copied().filter(|color| self.colors.get(1) == Some(color))
    }

    pub(super) fn is_absolute(&self) -> bool {
        self.strength == Strength::Absolute
    }

    /// Whether both want the same colour.
    pub(super) fn wants_as(&self, other: &Contender) -> bool {
        self.preference.is_some() && self.preference == other.preference
    }

    /// Whether the player comes before another one: by score, then by pairing number (A.2).
    pub(super) fn precedes(&self, other: &Contender) -> bool {
        (other.score, self.seat) < (self.score, other.seat)
    }
}

/// Float of a round.
fn float(seat: SeatNo, cards: &[Card], round: usize, acceleration: &Acceleration) -> Option<Float> {
    let score = |seat: SeatNo| cards[seat.0].score_after(round) + acceleration.points(seat, round);
    match *cards[seat.0].0.get(round)? {
        Cell::Game { opponent, is_played: true, .. } => match score(seat).cmp(&score(opponent)) {
            Ordering::Greater => Some(Float::Down),
            Ordering::Less => Some(Float::Up),
            Ordering::Equal => None,
        },
        cell => (cell.score() > Score::LOSS).then_some(Float::Down),
    }
}
