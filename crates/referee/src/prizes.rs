//! Prizes of TUC-Chess: what they are worth, and when new ones appear.

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

    /// Begins a game. Its new prizes are dealt by [`Prizes::deal`].
    pub fn begin(self, rules: Rules) -> ServedGame<Tuc> {
        ServedGame::new(Tuc::start_by(rules), move |position, mv| self.play(position, mv))
    }

    /// Plays a move. Nobody knows the worth of a prize before it is taken, so it is drawn then.
    pub fn play(self, position: &mut Tuc, mv: Move) {
        position.play_for(mv, if fastrand::f64() < self.worth { POINT } else { 0 });
    }

    /// Puts a new prize on a free square, or not.
    pub fn deal(self, position: &mut Tuc) -> Option<Square> {
        if fastrand::f64() >= self.new {
            return None;
        }
        let is_free = |square: &Square| position.free_squares() >> square.index() & 1 == 1;
        let free: Vec<_> = (0..SQUARES).map(Square::new).filter(is_free).collect();
        let square = fastrand::choice(&free).copied()?;
        position.put_prize(square);
        Some(square)
    }
}
