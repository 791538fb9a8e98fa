//! Tournaments: who plays whom, their games, and the standings.

mod actor;
mod admission;
pub(crate) mod command;
mod config;
mod environment;
pub(crate) mod format;
mod game;
mod journal;
mod manager;
mod pairing;
mod pairing_log;
mod past;
mod players;
mod progress;
mod refusals;
mod registry;
mod report_file;
pub(crate) mod restore;
mod settings;
pub(crate) mod standings;
mod view;

pub(crate) use admission::{Applicant, JoinError, Proof};
pub(crate) use command::{Command, CommandError};
pub use config::TournamentConfig;
pub(crate) use environment::{Accounts, Environment};
pub use format::TieBreak;
pub(crate) use manager::{ManageError, ManagerHandle, TournamentManager};
pub(crate) use registry::{Seat, TournamentRegistry};
pub use report_file::{CheckedRound, NextRound, NoPairing, check_rounds, pair_next};
pub(crate) use settings::{AccessKind, AskedAccess, Settings};
pub use standings::{Row, Standings, Tally, TournamentSummary};
