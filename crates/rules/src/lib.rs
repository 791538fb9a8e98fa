//! The rules of the games: positions, moves, outcomes and notations. No clocks that run, no I/O, no search, no
//! evaluation.
//!
//! [`Game`] is what a referee and a player need to know of a game, [`Tactics`] what a searcher needs besides.
//! [`GameHistory`] is a game as played, [`DynGame`] one whose rules are known at run time only. A new game is a module
//! here and a row in [`for_each_game!`].
//!
//! ```
//! use zeitnot_rules::{Game, chess::Chess, perft};
//!
//! let mut position = Chess::start();
//! position.play(position.read("e4").unwrap());
//! assert_eq!(position.moves().len(), 20);
//! assert_eq!(perft(&position, 2), 600);
//! ```

#[cfg(test)]
#[macro_use]
extern crate zeitnot_testing;

pub mod chess;
mod color;
mod diagram;
mod dyn_game;
mod error;
mod fnv;
mod game;
mod history;
mod kind;
pub mod minichess;
mod perft;
#[cfg(test)]
mod random_games;
mod result;
mod small;
mod tactics;
mod time_control;
pub mod tuc;
mod visitor;

pub use color::{ByColor, Color};
pub use diagram::Diagram;
pub use dyn_game::DynGame;
pub use error::GameError;
pub use fnv::{fnv1a, fnv1a_bytes};
pub use game::{Game, Key, MAX_MOVES, Margin, MoveText, Moves, Outcome, Packed, Reason};
pub use history::GameHistory;
pub use kind::{CHESS960, GameKind, UnknownGame};
pub use perft::{MAX_PERFT_DEPTH, divide, perft};
pub use result::GameResult;
pub use tactics::{KINDS, PieceTo, SQUARES, Tactics};
pub use time_control::{BadTimeControl, MAX_TIME, Speed, TimeControl};
pub use visitor::Visitor;
