//! Tables for TUC-Chess over UDP: one port a table, one game after another.

mod config;
mod game;
mod record;
mod socket;
mod table;

pub use config::{BadChance, Chance, TucConfig};
pub(crate) use table::TucTable;
