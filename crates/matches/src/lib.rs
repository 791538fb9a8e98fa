//! Matches of two engines or more: pairs of games from the same opening, and what the score says about their strength.
//!
//! ```text
//!  cli ◀─ News ─ Match ─▶ slot: openings, colours ─▶ game ─▶ Referee (board, clocks, result)
//!                                                     └──▶ Player ─▶ an engine of ours, or a process
//! ```
//!
//! A [`Match`] fills its slots, each with one game at a time and both engines, in the order of a [`Schedule`].
//! The [`tally`], the [`sprt`] and [`spsa`] are arithmetic on the results, and a [`Scoreboard`] is the score of a match.
//! [`record`] and [`PgnFile`] write the games, [`resume`] reads them; [`tries`] are the results of several matches.

#![allow(missing_docs)] // only the program uses it, and most names say what they are

#[cfg(test)]
#[macro_use]
extern crate zeitnot_testing;

mod cross_table;
mod entry;
mod file_error;
mod game;
pub mod openings;
pub mod pentanomial;
mod pgn_file;
mod player;
pub mod record;
mod resume;
mod run;
mod schedule;
mod scoreboard;
pub mod sprt;
pub mod spsa;
pub mod tally;
pub mod tries;

pub use cross_table::CrossTable;
pub use entry::{Effort, Entry, EntryEngine, MatchError};
pub use file_error::FileError;
pub use pgn_file::PgnFile;
pub use resume::{Resumed, resume};
pub use run::{Match, News, Played};
pub use schedule::{Fixture, Format, Schedule};
pub use scoreboard::{Faults, Scoreboard};
