//! Referee of one game: board, clocks, legality, adjudication and result.
//!
//! A state machine without I/O and without a time of its own: moves, resignations and offers go in with the instant at
//! which they arrived, and [`Referee::ending`] says when the game is over. Each front drives it in its own way.
//!
//! Instants are those of tokio, whose clock the tests of the fronts stop.

#[cfg(test)]
#[macro_use]
extern crate zeitnot_testing;

mod adjudication;
mod board;
mod clock;
mod ending;
mod machine;
mod offer;
mod prizes;
mod record;
mod server_board;

pub use adjudication::{Adjudication, DrawRule, MAX_MOVES, Opinion, ResignRule};
pub use board::{Board, Rewind, ServedGame};
pub use clock::{Allowance, Clock};
pub use ending::{Cause, Ending};
pub use machine::{Expiry, PlayedMove, Referee, RefereeRules, Refusal, TRANSIT, Untimed};
pub use offer::OfferChange;
pub use prizes::Prizes;
pub use record::GameRecord;
pub use server_board::ServerBoard;

#[cfg(test)]
mod tests;
