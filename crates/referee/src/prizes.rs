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
