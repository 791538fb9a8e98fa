//! What a position is worth to the side to move.

use std::{fmt, ops::Neg};

use zeitnot_rules::{Color, Outcome};
use zeitnot_wire::uci::UciScore;

/// Centipawns, or a mate or a won endgame at a distance from the root. Arithmetic saturates below those two.
///
/// ```
/// use zeitnot_engine::Score;
/// assert!(Score::mate_in(3) > Score::mate_in(5));
/// assert_eq!(-Score::mate_in(3), Score::mated_in(3));
/// assert!(Score::mate_in(90) > Score::tb_win_in(1) && Score::tb_win_in(90) > Score::cp(20_000));
/// assert_eq!(Score::cp(12).to_string(), "+0.12");
/// assert_eq!(Score::mate_in(3).to_string(), "#2");
/// ```
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Score(i16);

/// The longest line a search looks at, in plies.
pub const MAX_PLY: u16 = 192;

impl Score {
    /// A draw, or nothing known.
    pub const ZERO: Score = Score(0);
    /// Above every score a position can have.
    pub const INFINITE: Score = Score(32_000);
    /// Below every score a position can have.
    pub const NEG_INFINITE: Score = Score(-32_000);
    /// A mate on the board, for the one who gave it.
    const MATE: Score = Score(31_000);
    /// Where the mates begin.
    const LEAST_MATE: i16 = Score::MATE.0 - MAX_PLY as i16;
    /// A win by endgame tables on the board: below every mate.
    const TABLE_WIN: Score = Score(Score::LEAST_MATE - 1);
    /// Where the wins begin that are certain.
    const LEAST_WIN: i16 = Score::TABLE_WIN.0 - MAX_PLY as i16;
    /// The best evaluation.
    const MOST_CP: i32 = Score::LEAST_WIN as i32 - 1;

    /// An evaluation in centipawns.
    pub const fn cp(cp: i32) -> Score {
        if cp > Score::MOST_CP {
            Score(Score::MOST_CP as i16)
        } else if cp < -Score::MOST_CP {
            Score(-Score::MOST_CP as i16)
        } else {
            Score(cp as i16)
        }
    }

    /// Mates `plies` from the root.
    pub const fn mate_in(plies: u16) -> Score {
        Score(Score::MATE.0 - plies as i16)
    }

    /// Is mated `plies` from the root.
    pub const fn mated_in(plies: u16) -> Score {
        Score(-Score::MATE.0 + plies as i16)
    }

    /// By endgame tables, who is to move `plies` from the root wins.
    pub const fn tb_win_in(plies: u16) -> Score {
        Score(Score::TABLE_WIN.0 - plies as i16)
    }

    /// By endgame tables, who is to move `plies` from the root loses.
    pub const fn tb_loss_in(plies: u16) -> Score {
        Score(-Score::TABLE_WIN.0 + plies as i16)
    }

    /// What an ended game is worth to the side to move, `plies` from the root.
    pub fn from_outcome(outcome: Outcome, to_move: Color, plies: u16) -> Score {
        match outcome {
            Outcome::Ongoing | Outcome::Draw(_) => Score::ZERO,
            Outcome::Win(side, _) if side == to_move => Score::mate_in(plies),
            Outcome::Win(..) => Score::mated_in(plies),
        }
    }

    /// Does one side mate by force?
    pub const fn is_mate(self) -> bool {
        self.0.unsigned_abs() >= Score::LEAST_MATE as u16
    }

    /// Is it certain who wins: is it a mate, or do endgame tables say so?
    pub const fn is_decisive(self) -> bool {
        self.0.unsigned_abs() >= Score::LEAST_WIN as u16
    }

    /// Is it a certain loss, or not even known yet?
    pub const fn is_loss(self) -> bool {
        self.0 <= -Score::LEAST_WIN
    }

    /// The next score up.
    #[must_use]
    pub const fn above(self) -> Score {
        Score(self.0 + 1)
    }

    /// The next score down.
    #[must_use]
    pub const fn below(self) -> Score {
        Score(self.0 - 1)
    }

    /// Moves until the mate: positive for giving it, negative for suffering it.
    pub const fn mate_moves(self) -> Option<i16> {
        if !self.is_mate() {
            None
        } else if self.0 > 0 {
            Some((Score::MATE.0 - self.0 + 1) / 2)
        } else {
            Some((-Score::MATE.0 - self.0) / 2)
        }
    }

    /// The plain number, for arithmetic on margins.
    pub const fn get(self) -> i32 {
        self.0 as i32
    }

    /// This much better or worse; nothing becomes certain by it, and what is certain stays as it is.
    #[must_use]
    pub const fn offset(self, by: i32) -> Score {
        if self.is_decisive() { self } else { Score::cp(self.0 as i32 + by) }
    }

    /// A mate or a win seen from the root becomes one seen from a node `ply` plies below it, as a table keeps it.
    #[must_use]
    pub const fn to_tt(self, ply: u16) -> Score {
        self.farther(-(ply as i16))
    }

    /// The inverse of [`Score::to_tt`].
    #[must_use]
    pub const fn from_tt(self, ply: u16) -> Score {
        self.farther(ply as i16)
    }

    /// What is certain, moved away from here by some plies; other scores do not depend on the distance.
    const fn farther(self, plies: i16) -> Score {
        match self.is_decisive() {
            false => self,
            true => Score(self.0 - plies * self.0.signum()),
        }
    }

    /// The score as it is stored; [`Score::from_bits`] reads it.
    pub const fn to_bits(self) -> i16 {
        self.0
    }

    /// Bits from a table that others write to at the same time may be anything; a score they are.
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
    /// In pawns with a sign, or `#` and the moves to the mate.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.mate_moves() {
            Some(moves) => write!(f, "#{moves}"),
            None => write!(f, "{:+.2}", f64::from(self.0) / 100.0),
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
            assert_eq!(score.to_tt(5).from_tt(5), score);
        }
        assert!(!Score::cp(1_000_000).is_mate());
        assert!(!Score::cp(-1_000_000).is_mate());
        assert!(Score::mate_in(MAX_PLY).is_mate());
        for (won, lost) in [0, 1, MAX_PLY].map(|ply| (Score::tb_win_in(ply), Score::tb_loss_in(ply))) {
            assert!(won.is_decisive() && !won.is_mate() && won < Score::mate_in(MAX_PLY));
            assert!(won > Score::cp(1_000_000) && won.mate_moves().is_none());
            assert_eq!((-won, won.to_tt(5).from_tt(5), won.offset(-900)), (lost, won, won));
            assert!(lost.is_loss() && !won.is_loss());
        }
        assert!(!Score::cp(1_000_000).is_decisive() && !Score::cp(-1_000_000).is_loss());
        assert_eq!(Score::cp(30_700).offset(10_000), Score::cp(1_000_000));
    }
}
