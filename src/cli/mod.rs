//! The command line.
pub mod config;
pub mod log;
