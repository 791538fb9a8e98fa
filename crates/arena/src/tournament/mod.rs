//! Tournaments: who plays whom, their games, and the standings.

mod actor;
mod admission;
mod config;
mod game;
mod pairing;
mod players;
mod registry;
pub(crate) mod standings;
mod view;

pub(crate) use actor::{Reports, TournamentActor};
pub(crate) use admission::{Admission, Applicant, JoinError, Proof};
pub use config::TournamentConfig;
pub(crate) use registry::{Seat, TournamentRegistry};
pub use standings::{Row, Score, Standings, Tally, TournamentSummary};
