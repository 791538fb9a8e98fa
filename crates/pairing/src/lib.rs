//! Tournaments without games: pairing systems, standings with their tie-breaks, and report files of both.
//!
//! It knows players by their seats and names, and results. No clocks, no connections, no I/O.

#![allow(missing_docs)] // only the program uses it, and most names say what they are

#[cfg(test)]
#[macro_use]
extern crate zeitnot_testing;

mod card;
pub mod format;
mod knockout;
mod name;
mod pairing_system;
#[cfg(test)]
mod report_file;
mod round_robin;
pub mod standings;
mod swiss;

pub use card::{Score, SeatNo};
pub use name::{BadName, Name};
pub use pairing_system::{Bye, NotNow, OpenRound, Pairing, PairingSystem, Past};

use format::{Format, PairingKind};

/// Returns the pairing system of a format; the players of a gauntlet are those who meet all others.
pub fn system(format: &Format, games_per_pair: u32, gauntlet: &[Name]) -> Box<dyn PairingSystem> {
    match format.pairing {
        PairingKind::RoundRobin => Box::new(round_robin::RoundRobin::new(games_per_pair)),
        PairingKind::Gauntlet => {
            Box::new(round_robin::RoundRobin::gauntlet(games_per_pair, gauntlet.to_vec()))
        }
        PairingKind::Swiss => {
            Box::new(swiss::Swiss::new(format.rounds.unwrap_or(1) as usize, format.acceleration))
        }
        PairingKind::Knockout => Box::new(knockout::Knockout::default()),
    }
}
