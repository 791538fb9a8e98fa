//! The arena: tournaments, and one folder for each protocol that it serves.
//!
//! ```text
//!  socket ─▶ front (lines) ─▶ tournament (who plays whom) ─▶ game (referee, watchers)
//!  socket ◀─ client (a bounded queue) ◀───────────┴───────────────┘        │
//!                       store (PGN) ◀── tournament (standings) ◀───────────┤
//!                                    web (page, API) ◀── live (views) ◀──────┘
//! ```
//!
//! Each tournament and each connection is one task that owns its state. A tournament waits only for the disk, a
//! connection for its own client.

#[cfg(test)]
#[macro_use]
extern crate zeitnot_testing;

mod arena;
mod client;
mod config;
mod contest;
mod duration;
mod error;
mod imcs;
mod keys;
mod lichess;
mod listening;
mod message;
mod news;
pub mod nthu;
mod online_game;
pub mod openings;
mod outbox;
mod paced;
mod page_searcher;
mod results;
mod results_file;
mod searches;
mod tournament;
mod tuc;
mod web;

pub use arena::{Arena, Summary};
pub use config::Config;
pub use error::ArenaError;
pub use keys::{Keys, KeysError};
pub use listening::Listening;
pub use news::{Event, News};
pub use page_searcher::PageSearcher;
pub use results::{GamePages, ResultsError, TournamentResults, front_games, tournaments};
pub use results_file::{ResultsFile, ResultsGame, ResultsPlayer};
#[cfg(feature = "simulation")]
pub use tournament::simulation;
pub use tournament::{TournamentConfig, TournamentSummary};
pub use tuc::{BadChance, Chance, TucConfig};
