//! Search scores.

use std::{fmt, ops::Neg};

use zeitnot_rules::{Color, Margin, Outcome, Reason};
use zeitnot_wire::uci::UciScore;

/// Score for the side to move: centipawns, a win by count with its margin, or a tablebase win or a mate with their
/// distance from the root. Arithmetic on centipawns saturates below the others.
///
/// ```
/// use zeitnot_engine::Score;
/// use zeitnot_rules::Margin;
///
/// assert!(Score::mate_in(3) > Score::mate_in(5));
/// assert_eq!(-Score::mate_in(3), Score::mated_in(3));
/// assert!(Score::mate_in(90) > Score::tb_win_in(1) && Score::tb_win_in(90) > Score::cp(20_000));
/// assert!(Score::count_win(Margin(8)) > Score::count_win(Margin(2)) && Score::count_win(Margin(2)) > Score::cp(900));
/// assert_eq!(Score::cp(12).to_string(), "+0.12");
/// assert_eq!(Score::mate_in(3).to_string(), "#2");
/// ```
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Score(i16);

/// Longest line of a search in plies.
pub const MAX_PLY: u16 = 192;

impl Score {
    /// A draw.
    pub const ZERO: Score = Score(0);
    /// Above every score a position can have.
    pub(crate) const INFINITE: Score = Score(32_000);
    /// Below every score a position can have.
    pub(crate) const NEG_INFINITE: Score = Score(-32_000);
    const MATE: Score = Score(31_000);
    const MIN_MATE: i16 = Score::MATE.0 - MAX_PLY as i16;
    /// Tablebase win at the root, below every mate.
    const TB_WIN: Score = Score(Score::MIN_MATE - 1);
    const MIN_TB_WIN: i16 = Score::TB_WIN.0 - MAX_PLY as i16;
    /// Bounds of the margin of a win by count.
    const MAX_MARGIN: u16 = 500;
    /// Win by count, less its margin: all such wins are below those of the tablebases.
    const COUNT_WIN: i16 = 30_000;
    const MIN_COUNT_WIN: i16 = Score::COUNT_WIN + 1;
    const MAX_CP: i32 = Score::COUNT_WIN as i32;

    /// An evaluation in centipawns.
    pub const fn cp(cp: i32) -> Score {
        if cp > Score::MAX_CP {
            Score(Score::MAX_CP as i16)
        } else if cp < -Score::MAX_CP {
            Score(-Score::MAX_CP as i16)
        } else {
            Score(cp as i16)
        }
    }

    /// Gives mate `plies` from the root.
    pub const fn mate_in(plies: u16) -> Score {
        Score(Score::MATE.0 - plies as i16)
    }

    /// Is mated `plies` from the root.
    pub const fn mated_in(plies: u16) -> Score {
        Score(-Score::MATE.0 + plies as i16)
    }

    /// Tablebase win, probed `plies` from the root.
    pub const fn tb_win_in(plies: u16) -> Score {
        Score(Score::TB_WIN.0 - plies as i16)
    }

    /// Tablebase loss, probed `plies` from the root.
    pub(crate) const fn tb_loss_in(plies: u16) -> Score {
        Score(-Score::TB_WIN.0 + plies as i16)
    }

    /// Wins by a count, with this margin. The count is made at the same ply in all lines, so it has no distance.
    pub const fn count_win(margin: Margin) -> Score {
        let margin = if margin.0 > Score::MAX_MARGIN { Score::MAX_MARGIN } else { margin.0 };
        Score(Score::MIN_COUNT_WIN + margin.saturating_sub(1) as i16)
    }

    /// Score of an outcome for the side to move, `plies` from the root.
    pub(crate) fn from_outcome(outcome: Outcome, to_move: Color, plies: u16) -> Score {
        let (side, score) = match outcome {
            Outcome::Ongoing | Outcome::Draw(_) => return Score::ZERO,
            Outcome::Win(side, Reason::Material(margin)) => (side, Score::count_win(margin)),
            Outcome::Win(side, _) => (side, Score::mate_in(plies)),
        };
        if side == to_move { score } else { -score }
    }

    /// Returns whether this is a mate score.
    pub const fn is_mate(self) -> bool {
        self.0.unsigned_abs() >= Score::MIN_MATE as u16
    }

    /// Returns whether the result is decided: by a mate, by tablebases or by a count.
    pub(crate) const fn is_decisive(self) -> bool {
        self.0.unsigned_abs() >= Score::MIN_COUNT_WIN as u16
    }

    /// Returns whether this is a decisive loss, or below every score.
    pub(crate) const fn is_loss(self) -> bool {
        self.0 <= -Score::MIN_COUNT_WIN
    }

    /// Margin of a win by count, negative for a loss.
    const fn margin(self) -> Option<i16> {
        let margin = self.0.unsigned_abs() as i16 - Score::COUNT_WIN;
        if margin < 1 || margin > Score::MAX_MARGIN as i16 { None } else { Some(margin * self.0.signum()) }
    }

    /// The next higher score.
    #[must_use]
    pub const fn above(self) -> Score {
        Score(self.0 + 1)
    }

    /// The next lower score.
    #[must_use]
    pub const fn below(self) -> Score {
        Score(self.0 - 1)
    }

    /// Moves until mate: positive for giving it, negative for being mated.
    pub const fn mate_moves(self) -> Option<i16> {
        if !self.is_mate() {
            None
        } else if self.0 > 0 {
            Some((Score::MATE.0 - self.0 + 1) / 2)
        } else {
            Some((-Score::MATE.0 - self.0) / 2)
        }
    }

    /// The raw value, for arithmetic on margins.
    pub const fn get(self) -> i32 {
        self.0 as i32
    }

    /// Adds centipawns. Decisive scores stay as they are, and others do not become decisive.
    #[must_use]
    pub const fn offset(self, by: i32) -> Score {
        if self.is_decisive() { self } else { Score::cp(self.0 as i32 + by) }
    }

    /// Converts a score relative to the root into one relative to a node at `ply`, for the transposition table.
    #[must_use]
    pub(crate) const fn to_tt(self, ply: u16) -> Score {
        self.farther(-(ply as i16))
    }

    /// The inverse of [`Score::to_tt`].
    #[must_use]
    pub(crate) const fn to_root(self, ply: u16) -> Score {
        self.farther(ply as i16)
    }

    /// Moves a score with a distance farther away by some plies.
    const fn farther(self, plies: i16) -> Score {
        match self.0.unsigned_abs() >= Score::MIN_TB_WIN as u16 {
            false => self,
            true => Score(self.0 - plies * self.0.signum()),
        }
    }

    /// Raw bits, read by [`Score::from_bits`].
    pub const fn to_bits(self) -> i16 {
        self.0
    }

    /// Converts raw bits, clamping those of a torn table entry to a valid score.
    pub const fn from_bits(bits: i16) -> Score {
        if bits > Score::INFINITE.0 {
            Score::INFINITE
        } else if bits < -Score::INFINITE.0 {
            Score(-Score::INFINITE.0)
        } else {
            Score(bits)
        }
    }
}

impl From<Score> for UciScore {
    fn from(score: Score) -> UciScore {
        score.mate_moves().map_or(UciScore::Cp(score.get()), UciScore::Mate)
    }
}

impl Neg for Score {
    type Output = Score;
    fn neg(self) -> Score {
        Score(-self.0)
    }
}

impl fmt::Display for Score {
    /// Formats pawns with a sign, or `#` and the moves to mate, or the margin of a count.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.mate_moves(), self.margin()) {
            (Some(moves), _) => write!(f, "#{moves}"),
            (_, Some(margin)) => write!(f, "{margin:+} by count"),
            _ => write!(f, "{:+.2}", f64::from(self.0) / 100.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mates_count_in_moves() {
        for (score, moves) in [
            (Score::mate_in(1), 1),
            (Score::mate_in(2), 1),
            (Score::mate_in(3), 2),
            (Score::mated_in(2), -1),
            (Score::mated_in(4), -2),
        ] {
            assert_eq!(score.mate_moves(), Some(moves));
            assert_eq!(score.to_tt(5).to_root(5), score);
        }
        assert!(!Score::cp(1_000_000).is_mate());
        assert!(!Score::cp(-1_000_000).is_mate());
        assert!(Score::mate_in(MAX_PLY).is_mate());
        for (won, lost) in [0, 1, MAX_PLY].map(|ply| (Score::tb_win_in(ply), Score::tb_loss_in(ply))) {
            assert!(won.is_decisive() && !won.is_mate() && won < Score::mate_in(MAX_PLY));
            assert!(won > Score::cp(1_000_000) && won.mate_moves().is_none());
            assert_eq!((-won, won.to_tt(5).to_root(5), won.offset(-900)), (lost, won, won));
            assert!(lost.is_loss() && !won.is_loss());
        }
        assert!(!Score::cp(1_000_000).is_decisive() && !Score::cp(-1_000_000).is_loss());
        assert_eq!(Score::cp(30_700).offset(10_000), Score::cp(1_000_000));
    }

    #[test]
    fn a_count_has_a_margin_and_no_distance() {
        let [small, large] = [Margin(2), Margin(20)].map(Score::count_win);
        assert!(Score::cp(1_000_000) < small && small < large && large < Score::tb_win_in(MAX_PLY));
        assert!(Score::count_win(Margin(u16::MAX)) < Score::tb_win_in(MAX_PLY));
        assert!(small.is_decisive() && !small.is_mate() && !small.is_loss() && (-small).is_loss());
        assert_eq!((small.to_tt(9), small.to_root(9), small.offset(-300)), (small, small, small));
        assert_eq!([small, -large].map(|score| score.to_string()), ["+2 by count", "-20 by count"]);
        for side in Color::BOTH {
            let lost = Outcome::Win(!side, Reason::Material(Margin(20)));
            assert_eq!(Score::from_outcome(lost, side, 7), -large);
        }
    }
}
