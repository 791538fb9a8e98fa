//! Win-draw-loss model: expected results by score and piece count.
//!
//! Wins and losses follow logistic curves whose parameters depend on the piece count; the rest are draws. They
//! are fitted to 509,835 positions of `zeitnot datagen` (5,000 nodes a move) with the evaluation by hand, so the model
//! holds for that against itself in standard chess, and roughly for the net, whose scores are of the same size.
//!
//! Source: the WDL model of Stockfish.

use super::Score;

/// Logistic curve for a piece count: score at which half of the games are won, and its scale in centipawns.
struct WdlCurve(usize, f64, f64);

const CURVES: [WdlCurve; 8] = [
    WdlCurve(6, 505.0, 179.0),
    WdlCurve(8, 276.0, 126.0),
    WdlCurve(10, 220.0, 113.0),
    WdlCurve(12, 174.0, 102.0),
    WdlCurve(14, 143.0, 102.0),
    WdlCurve(20, 117.0, 120.0),
    WdlCurve(26, 108.0, 144.0),
    WdlCurve(32, 109.0, 177.0),
];

/// Expected results of a position for the side to move, in permille.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct WinDrawLoss {
    /// Wins.
    pub wins: u16,
    /// Draws.
    pub draws: u16,
    /// Losses.
    pub losses: u16,
}

impl WinDrawLoss {
    /// Expected results for a score of chess with this many pieces on the board.
    ///
    /// ```
    /// use zeitnot_engine::{Score, wdl::WinDrawLoss};
    /// let even = WinDrawLoss::from_score(Score::ZERO, 32);
    /// assert_eq!(even.wins, even.losses);
    /// assert_eq!(WinDrawLoss::from_score(Score::mate_in(3), 32), WinDrawLoss { wins: 1000, draws: 0, losses: 0 });
    /// ```
    pub fn from_score(score: Score, pieces: usize) -> WinDrawLoss {
        if score.is_mate() {
            let wins = if score > Score::ZERO { 1000 } else { 0 };
            return WinDrawLoss { wins, draws: 0, losses: 1000 - wins };
        }
        let (middle, step) = curve(pieces);
        let permille = |score: f64| (1000.0 / (1.0 + libm::exp((middle - score) / step))).round() as u16;
        let score = f64::from(score.get());
        let (wins, losses) = (permille(score), permille(-score));
        WinDrawLoss { wins, draws: 1000_u16.saturating_sub(wins + losses), losses }
    }
}

/// Interpolates the curve for a piece count.
fn curve(pieces: usize) -> (f64, f64) {
    let [WdlCurve(_, middle, step), ..] = CURVES;
    let mut at = (middle, step);
    for pair in CURVES.windows(2) {
        if let [WdlCurve(fewer, m0, s0), WdlCurve(more, m1, s1)] = pair
            && pieces > *fewer
        {
            let part = ((pieces - fewer) as f64 / (more - fewer) as f64).min(1.0);
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
        fn they_add_up_and_follow_the_score(cp in -31_000i32..31_000, more in 0i32..500, pieces in 0usize..40) {
            let (low, high) = (WinDrawLoss::from_score(Score::cp(cp), pieces), WinDrawLoss::from_score(Score::cp(cp + more), pieces));
            prop_assert_eq!(low.wins + low.draws + low.losses, 1000);
            prop_assert!(low.wins <= high.wins && low.losses >= high.losses);
            let turned = WinDrawLoss::from_score(-Score::cp(cp), pieces);
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
