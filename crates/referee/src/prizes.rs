//! Prizes of TUC-Chess: what they are worth, and when new ones appear.

use zeitnot_rules::Game as _;
use zeitnot_rules::tuc::{Edition, Move, POINT, Rules, SQUARES, Square, Tuc};

use crate::board::ServedGame;

/// Chances with which the server deals prizes.
#[derive(Copy, Clone, Debug)]
pub struct Prizes {
    /// Of a new prize after a move.
    pub new: f64,
    /// Of a prize to be worth a point.
    pub worth: f64,
}

impl Prizes {
    /// Returns the chances of an edition.
    pub fn of(edition: Edition) -> Prizes {
        let settings = edition.settings();
        Prizes { new: settings.prize_chance, worth: settings.worth_chance() }
    }

    /// Begins a game.
    pub fn begin(self, rules: Rules) -> ServedGame<Tuc> {
        ServedGame::new(Tuc::start_by(rules), move |position, mv| self.play(position, mv))
    }

    /// Plays a move, and puts a new prize on a free square, or not. Nobody knows the worth of a prize before it is taken,
    /// so it is drawn then.
    pub fn play(self, position: &mut Tuc, mv: Move) {
        position.play_for(mv, if fastrand::f64() < self.worth { POINT } else { 0 });
        if position.outcome().is_over() || fastrand::f64() >= self.new {
            return;
        }
        let is_free = |square: &Square| position.free_squares() >> square.index() & 1 == 1;
        let free: Vec<_> = (0..SQUARES).map(Square::new).filter(is_free).collect();
        if let Some(square) = fastrand::choice(&free) {
            position.put_prize(*square);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: Prizes = Prizes { new: 0.0, worth: 0.0 };

    /// Plays at random until a move can take a prize of the start; returns the points that it brings.
    fn worth(prizes: Prizes) -> i32 {
        let mut position = Tuc::start();
        for _ in 0..100 {
            let moves = position.moves();
            let taking = moves.iter().copied().find(|mv| position.takes_prize(*mv));
            let color = position.side_to_move();
            let before = position.points()[color];
            let mv = taking.or_else(|| fastrand::choice(moves.iter().copied())).unwrap();
            prizes.play(&mut position, mv);
            if taking.is_some() {
                return position.points()[color] - before;
            }
        }
        panic!("nobody reaches a prize: {position:?}");
    }

    #[test]
    fn a_prize_is_worth_a_point_or_nothing() {
        fastrand::seed(7);
        assert_eq!(worth(Prizes { worth: 1.0, ..NONE }), POINT);
        assert_eq!(worth(NONE), 0);
        let sum: i32 = (0..400).map(|_| worth(Prizes { worth: 0.25, ..NONE })).sum();
        assert!((50 * POINT..150 * POINT).contains(&sum), "{sum}");
    }

    #[test]
    fn a_new_prize_appears_on_any_free_square_and_nowhere_else() {
        let start = Tuc::start();
        let mv = start.moves()[0];
        let after = |prizes: Prizes| {
            let mut position = start.clone();
            prizes.play(&mut position, mv);
            position
        };
        let without = after(NONE);
        assert_eq!(without.prizes(), start.prizes());
        fastrand::seed(7);
        let mut seen = 0;
        for _ in 0..2000 {
            let new = after(Prizes { new: 1.0, ..NONE }).prizes() & !without.prizes();
            assert_eq!(new.count_ones(), 1);
            seen |= new;
        }
        assert_eq!(seen, without.free_squares());
        let count =
            (0..400).filter(|_| after(Prizes { new: 0.25, ..NONE }).prizes() != without.prizes()).count();
        assert!((50..150).contains(&count), "{count}");
    }
}
