//! What a score says of the result: how often such a position was won, drawn and lost.
//!
//! Two logistic curves, for the win and for the loss; what is left between them is the draw. Where they lie and
//! how steep they are depends on the men that are left. Fitted to the 509,835 positions of engine games that
//! `zeitnot datagen` made for the evaluation (5,000 nodes a move), each with the score of its search and the
//! result of its game, for the numbers of men below one by one. So it speaks of this engine against itself, of
//! standard chess, and of no other game.

use super::Score;

/// For so many men: at which score every second game is won, and how many centipawns are a step of the curve.
struct Curve(usize, f64, f64);

const CURVES: [Curve; 8] = [
    Curve(6, 505.0, 179.0),
    Curve(8, 276.0, 126.0),
    Curve(10, 220.0, 113.0),
    Curve(12, 174.0, 102.0),
    Curve(14, 143.0, 102.0),
    Curve(20, 117.0, 120.0),
    Curve(26, 108.0, 144.0),
    Curve(32, 109.0, 177.0),
];

/// Of a thousand games from a position, for the side to move.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct WinDrawLoss {
    /// So many are won, …
    pub wins: u16,
    /// … so many are drawn, …
    pub draws: u16,
    /// … and so many are lost.
    pub losses: u16,
}

impl WinDrawLoss {
    /// What a score of chess says with so many men on the board.
    ///
    /// ```
    /// use zeitnot_engine::{Score, wdl::WinDrawLoss};
    /// let even = WinDrawLoss::from_score(Score::ZERO, 32);
    /// assert_eq!(even.wins, even.losses);
    /// assert_eq!(WinDrawLoss::from_score(Score::mate_in(3), 32), WinDrawLoss { wins: 1000, draws: 0, losses: 0 });
    /// ```
    pub fn from_score(score: Score, men: usize) -> WinDrawLoss {
        if score.is_mate() {
            let wins = if score > Score::ZERO { 1000 } else { 0 };
            return WinDrawLoss { wins, draws: 0, losses: 1000 - wins };
        }
        let (middle, step) = curve(men);
        let often = |score: f64| (1000.0 / (1.0 + libm::exp((middle - score) / step))).round() as u16;
        let score = f64::from(score.get());
        let (wins, losses) = (often(score), often(-score));
        WinDrawLoss { wins, draws: 1000_u16.saturating_sub(wins + losses), losses }
    }
}

/// Between the numbers of men that we have figures for, in proportion.
fn curve(men: usize) -> (f64, f64) {
    let [Curve(_, middle, step), ..] = CURVES;
    let mut at = (middle, step);
    for pair in CURVES.windows(2) {
        if let [Curve(fewer, m0, s0), Curve(more, m1, s1)] = pair
            && men > *fewer
        {
            let part = ((men - fewer) as f64 / (more - fewer) as f64).min(1.0);
            at = (m0 + (m1 - m0) * part, s0 + (s1 - s0) * part);
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn they_add_up_and_follow_the_score(cp in -31_000i32..31_000, more in 0i32..500, men in 0usize..40) {
            let (low, high) = (WinDrawLoss::from_score(Score::cp(cp), men), WinDrawLoss::from_score(Score::cp(cp + more), men));
            prop_assert_eq!(low.wins + low.draws + low.losses, 1000);
            prop_assert!(low.wins <= high.wins && low.losses >= high.losses);
            let turned = WinDrawLoss::from_score(-Score::cp(cp), men);
            prop_assert_eq!((turned.wins, turned.draws, turned.losses), (low.losses, low.draws, low.wins));
        }
    }

    #[test]
    fn curves_are_met_where_they_were_fitted_and_joined_between() {
        assert_eq!(curve(2), (505.0, 179.0));
        assert_eq!(curve(10), (220.0, 113.0));
        assert_eq!(curve(11), (197.0, 107.5));
        assert_eq!(curve(32), (109.0, 177.0));
        assert_eq!(curve(40), curve(32));
        assert_eq!(WinDrawLoss::from_score(Score::cp(109), 32).wins, 500);
    }
}
