//! Where the terms of a position go: into a sum for the engine, into a list for the tuner.

use shakmaty::{ByColor, Color};

use super::{
    tapered_score::{TaperedScore, s},
    terms::{COUNT, sign},
    weights::WEIGHTS,
};

/// Told of each term that a position has. One description of the terms serves all ledgers.
pub trait Trace {
    /// This side has the term so many times.
    fn add(&mut self, side: Color, term: usize, count: i32);

    /// So much more danger for this side's king.
    fn danger(&mut self, side: Color, term: usize, count: i32);
}

/// What the terms are worth, as White sees them.
#[derive(Copy, Clone, Debug, Default)]
pub struct Sum {
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
    /// Terms that were added up before.
    pub fn of(total: TaperedScore) -> Sum {
        Sum { total, ..Sum::default() }
    }

    /// All of it; what remains for the phase to decide.
    pub fn total(&self) -> TaperedScore {
        let penalty = |danger: TaperedScore| {
            let [middlegame, endgame] = [danger.middlegame(), danger.endgame()].map(|part| part.max(0));
            s((middlegame * middlegame / MIDDLEGAME) as i16, (endgame / ENDGAME) as i16)
        };
        self.total - penalty(self.danger.white) + penalty(self.danger.black)
    }
}

/// Dangers help each other: in the middlegame a king pays the square of their sum by this …
const MIDDLEGAME: i32 = 1_024;
/// … in the endgame the sum by this.
const ENDGAME: i32 = 16;

/// What a king pays for a sum of dangers, in the middlegame and in the endgame, and the slope of both.
pub fn penalty(danger: [f64; 2]) -> ([f64; 2], [f64; 2]) {
    let [middlegame, endgame] = danger.map(|part| part.max(0.0));
    let (by, linear) = (f64::from(MIDDLEGAME), f64::from(ENDGAME));
    let slope = if endgame > 0.0 { 1.0 / linear } else { 0.0 };
    ([middlegame * middlegame / by, endgame / linear], [2.0 * middlegame / by, slope])
}

/// How often each term stands in a position.
#[derive(Clone, Debug)]
pub struct Counts {
    /// White's less Black's, by term.
    pub terms: Box<[i16; COUNT]>,
    /// Of the dangers, each king's.
    pub dangers: ByColor<Box<[i16; COUNT]>>,
}

impl Counts {
    /// None of any.
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
