//! Referee of one game: board, clocks, legality, adjudication and result.
//!
//! A state machine without I/O: moves, resignations and offers go in with the instant at which they arrived, and
//! [`Referee::ending`] says when the game is over. Each front drives it in its own way.

mod adjudication;
mod board;
mod clock;
mod ending;
mod machine;
mod offer;
mod record;

pub use adjudication::{Adjudication, DrawRule, Opinion, ResignRule};
pub use board::{Board, PlayedMove, ServedGame};
pub use clock::{Allowance, Clock};
pub use ending::{Cause, Ending};
pub use machine::{Expiry, Ply, Referee, RefereeRules, Refusal, Untimed};
pub use offer::OfferChange;
pub use record::GameRecord;

#[cfg(test)]
mod tests;
