//! Tournaments: who plays whom, their games, and the standings.

mod actor;
mod admission;
mod boards;
pub(crate) mod command;
mod config;
mod engine_player;
mod engines;
mod environment;
mod invitations;
mod journal;
mod manager;
mod pairing_log;
mod players;
mod progress;
mod record;
mod refusals;
mod registry;
mod reports;
pub(crate) mod restore;
mod settings;
mod starts;
mod stored;
mod view;

pub use actor::TournamentSummary;
#[cfg(feature = "simulation")]
pub use actor::simulation;
pub(crate) use admission::{Applicant, JoinError, Proof};
pub(crate) use command::{Command, CommandError};
pub(crate) use config::StartKind;
pub use config::TournamentConfig;
pub(crate) use engines::Engines;
pub(crate) use environment::{Accounts, Environment};
pub(crate) use manager::{ManageError, ManagerHandle, TournamentManager};
pub(crate) use registry::{Seat, TournamentRegistry};
pub(crate) use settings::{AccessKind, AskedAccess, Settings, SettingsChange};
pub(crate) use stored::stored_view;
