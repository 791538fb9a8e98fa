//! Prizes of TUC-Chess: what they are worth, and when new ones appear.

use zeitnot_rules::tuc::{Edition, Move, POINT, SQUARES, Square, Tuc};

/// Chances with which the server deals prizes.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Prizes {
    /// Of a new prize after a move.
    pub(crate) new: f64,
    /// Of a prize to be worth a point.
    pub(crate) worth: f64,
}

impl Prizes {
    pub(crate) fn of(edition: Edition) -> Prizes {
        let settings = edition.settings();
        Prizes { new: settings.prize_chance, worth: settings.worth_chance() }
    }

    /// Plays a move. Nobody knows the worth of a prize before it is taken, so it is drawn then.
    pub(crate) fn play(self, position: &mut Tuc, mv: Move) {
        position.play_for(mv, if fastrand::f64() < self.worth { POINT } else { 0 });
    }

    /// Puts a new prize on a free square, or not.
    pub(crate) fn deal(self, position: &mut Tuc) -> Option<Square> {
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
