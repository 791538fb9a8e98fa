//! Matches of two engines or more: pairs of games from the same opening, and what the score says about their strength.
//!
//! ```text
//!  cli ◀─ News ─ Match ─▶ slot: openings, colours ─▶ game ─▶ Referee (board, clocks, result)
//!                                                     └──▶ Player ─▶ an engine of ours, or a process
//! ```
//!
//! A [`Match`] fills its slots, each with one game at a time and both engines, in the order of a [`Schedule`].
//! The [`tally`], the [`sprt`] and [`spsa`] are arithmetic on the results.

mod entry;
mod game;
pub mod openings;
pub mod pentanomial;
mod player;
mod run;
mod schedule;
pub mod sprt;
pub mod spsa;
pub mod tally;

pub use entry::{Effort, Entry, EntryEngine, MatchError};
pub use run::{Match, News, Played};
pub use schedule::{Fixture, Format, Schedule};
