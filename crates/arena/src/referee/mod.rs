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
pub(crate) use board::{Board, PlayedMove, Rewind, ServedGame};
pub(crate) use clock::Allowance;
pub use ending::{Cause, Ending};
pub use machine::Ply;
pub(crate) use machine::{Expiry, Referee, RefereeRules, Refusal, Untimed};
pub(crate) use offer::OfferChange;
pub use record::GameRecord;

#[cfg(test)]
mod tests;
