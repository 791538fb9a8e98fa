//! Baku acceleration (FIDE handbook C.04.5.1): virtual points for the upper half in the first rounds.

use crate::{
    card::{Score, SeatNo},
    format::AccelerationKind,
};

/// Virtual points of a tournament: of each player, before each round.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Acceleration(Vec<Vec<Score>>);

impl Acceleration {
    /// Returns the acceleration of a tournament of that many players in its first round.
    pub(crate) fn new(kind: Option<AccelerationKind>, players: usize, rounds: usize) -> Self {
        match kind {
            Some(AccelerationKind::Baku) => Acceleration::baku(players, rounds),
            None => Acceleration::default(),
        }
    }

    /// Points by the handbook, of that many players in the first round.
    pub(super) fn baku(players: usize, rounds: usize) -> Self {
        // The group GA: half of the players, rounded up to an even number; late entries do not change it.
        let upper = 2 * players.div_ceil(4);
        let accelerated = rounds.div_ceil(2);
        let whole = accelerated.div_ceil(2);
        let points = |round| if round < whole { Score::WIN } else { Score::DRAW };
        Acceleration(vec![(0..accelerated).map(points).collect(); upper])
    }

    /// Returns the virtual points of a player before a round, counted from 0.
    pub(crate) fn points(&self, seat: SeatNo, round: usize) -> Score {
        self.0.get(seat.0).and_then(|points| points.get(round)).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of the handbook: 161 players, nine rounds.
    #[test]
    fn as_in_the_handbook() {
        let baku = Acceleration::baku(161, 9);
        let halves = |seat| (0..9).map(|round| baku.points(SeatNo(seat), round).halves()).collect::<Vec<_>>();
        assert_eq!(halves(81), [2, 2, 2, 1, 1, 0, 0, 0, 0]);
        assert_eq!(halves(82), [0; 9]);
        assert_eq!(Acceleration::default().points(SeatNo(0), 0), Score::LOSS);
    }
}
