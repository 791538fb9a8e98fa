//! TRF16, FIDE's tournament report file: what arbiters' programs exchange (FIDE handbook C.04.A, annex 2).
//!
//! Besides the agreed lines these of JaVaFo are known: `XXR` rounds, `XXC` first colour, `XXA` virtual points, `XXZ`
//! who is absent in the next round.

mod card;
mod parse;
mod print;
#[cfg(test)]
mod tests;

use zeitnot_rules::Color;

pub use card::{Bye, Card, Cell, Score, SeatNo};
pub use parse::TrfError;

/// Players of a file, at most.
pub const MAX_PLAYERS: usize = 1024;
/// Rounds of a tournament, at most.
pub const MAX_ROUNDS: usize = 60;

const MAX_BYTES: usize = 2 << 20;
/// Longest name of a player.
const NAME_LEN: usize = 33;
/// Column, from 0, of the first round, and columns of each.
const ROUNDS_AT: usize = 91;
const ROUND_LEN: usize = 10;

/// Tournament as a report file has it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trf {
    /// Its name.
    pub name: String,
    /// Rounds that it has, if the file says so.
    pub rounds: Option<usize>,
    /// Colour of the first player in the first round, if the file says so.
    pub first_color: Option<Color>,
    /// Players in the order of their pairing numbers.
    pub players: Vec<TrfPlayer>,
}

/// Player of a report file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TrfPlayer {
    /// Pairing number.
    pub number: u16,
    /// Name, at most 33 characters.
    pub name: String,
    /// Rating, 0 if there is none.
    pub rating: u16,
    /// Place in the standings, 0 if there is none.
    pub rank: u16,
    /// The rounds; opponents are places in the list of players.
    pub card: Card,
    /// Virtual points before each round.
    pub virtual_points: Vec<Score>,
    /// Whether the player is absent in the next round.
    pub is_absent: bool,
}
