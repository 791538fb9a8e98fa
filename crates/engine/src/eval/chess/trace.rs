//! Receivers of evaluation terms: a sum for the engine, counts for the tuner.

use shakmaty::{ByColor, Color};

use super::{
    tapered_score::{TaperedScore, s},
    terms::{COUNT, sign},
    weights::WEIGHTS,
};

/// Receives the terms of a position.
pub(crate) trait Trace {
    /// Adds `count` times a term for a side.
    fn add(&mut self, side: Color, term: usize, count: i32);

    /// Adds `count` times a danger term for a side's king.
    fn danger(&mut self, side: Color, term: usize, count: i32);
}

/// Weighted sum of the terms, from White's point of view.
#[derive(Copy, Clone, Debug, Default)]
pub(crate) struct Sum {
    total: TaperedScore,
    danger: ByColor<TaperedScore>,
}

impl Trace for Sum {
    #[inline]
    fn add(&mut self, side: Color, term: usize, count: i32) {
        self.total += WEIGHTS[term] * (sign(side) * count);
    }

    #[inline]
    fn danger(&mut self, side: Color, term: usize, count: i32) {
        *self.danger.get_mut(side) += WEIGHTS[term] * count;
    }
}

impl Sum {
    /// Starts with a precomputed sum.
    pub(crate) fn of(total: TaperedScore) -> Sum {
        Sum { total, ..Sum::default() }
    }

    /// Returns the sum, king danger included.
    pub(crate) fn total(&self) -> TaperedScore {
        let penalty = |danger: TaperedScore| {
            let [middlegame, endgame] = [danger.middlegame(), danger.endgame()].map(|part| part.max(0));
            s((middlegame * middlegame / MIDDLEGAME) as i16, (endgame / ENDGAME) as i16)
        };
        self.total - penalty(self.danger.white) + penalty(self.danger.black)
    }
}

/// Attacks on a king reinforce each other: in the middlegame it pays the square of its danger divided by this,
/// in the endgame the danger divided by the second. Source: Stockfish's king danger, with other divisors.
const MIDDLEGAME: i32 = 1_024;
const ENDGAME: i32 = 16;

/// Penalty for a king's danger in the middlegame and in the endgame, and the derivatives of both.
#[inline]
pub fn penalty(danger: [f64; 2]) -> ([f64; 2], [f64; 2]) {
    let [middlegame, endgame] = danger.map(|part| part.max(0.0));
    let (by, linear) = (f64::from(MIDDLEGAME), f64::from(ENDGAME));
    let slope = if endgame > 0.0 { 1.0 / linear } else { 0.0 };
    ([middlegame * middlegame / by, endgame / linear], [2.0 * middlegame / by, slope])
}

/// Count of each term in a position.
#[derive(Clone, Debug)]
pub struct Counts {
    /// White's count minus Black's, by term.
    pub terms: Box<[i16; COUNT]>,
    /// Danger counts of each king.
    pub dangers: ByColor<Box<[i16; COUNT]>>,
}

impl Counts {
    /// No terms.
    pub fn new() -> Self {
        let none = || Box::new([0; COUNT]);
        Counts { terms: none(), dangers: ByColor { black: none(), white: none() } }
    }
}

impl Default for Counts {
    fn default() -> Self {
        Counts::new()
    }
}

impl Trace for Counts {
    fn add(&mut self, side: Color, term: usize, count: i32) {
        self.terms[term] += (sign(side) * count) as i16;
    }

    fn danger(&mut self, side: Color, term: usize, count: i32) {
        self.dangers.get_mut(side)[term] += count as i16;
    }
}
