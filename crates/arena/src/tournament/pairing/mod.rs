//! Pairing systems: who plays whom next, and when all is played.

use std::fmt;

use zeitnot_rules::{ByColor, Color, GameResult};
pub(super) use zeitnot_wire::trf::SeatNo;

use super::{config::TournamentConfig, format::PairingKind};
use crate::name::Name;

mod knockout;
mod round_robin;
pub(super) mod swiss;

/// A game to be played.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct Pairing {
    pub(super) seats: ByColor<SeatNo>,
    /// Number of the opening, from 0; a tournament with fewer starts over. A game and its return game share one.
    pub(super) opening: u64,
}

/// A point without a game.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct Bye {
    pub(super) seat: SeatNo,
    /// From 1.
    pub(super) round: u32,
}

impl Pairing {
    pub(super) fn color_of(&self, seat: SeatNo) -> Color {
        if self.seats[Color::White] == seat { Color::White } else { Color::Black }
    }
}

/// A pairing system. It knows seats and games, and no players, clocks or connections.
pub(super) trait PairingSystem: fmt::Debug + Send {
    /// Notes who sits on a seat.
    fn enter(&mut self, seat: SeatNo, name: &Name);

    /// Pairs free players, nobody twice.
    fn pair(&mut self, free: &[SeatNo]) -> Vec<Pairing>;

    /// Takes in a game; returns whether its result counts in the standings.
    fn played(&mut self, pairing: Pairing, result: GameResult) -> bool;

    /// Withdraws a player; returns the opponents among `players`, each with the number of games that fall out. `None` if
    /// the player has nothing left to play.
    fn withdraw(&mut self, seat: SeatNo, players: &[SeatNo]) -> Option<Vec<(SeatNo, u32)>>;

    /// Forgets the games of a seat, which somebody else gets.
    fn forget(&mut self, seat: SeatNo);

    /// Returns whether the first `players` seats have played all games.
    fn is_complete(&self, players: usize) -> bool;

    /// Returns the present round, from 1, which begins if the last one is over; `None` if there are no rounds.
    fn round(&mut self) -> Option<u32> {
        None
    }

    /// Returns who has got a point without a game since the last call.
    fn take_byes(&mut self) -> Vec<Bye> {
        Vec::new()
    }
}

/// Returns the system that a tournament is configured with.
pub(super) fn system(config: &TournamentConfig) -> Box<dyn PairingSystem> {
    match config.pairing {
        PairingKind::RoundRobin => Box::new(round_robin::RoundRobin::new(config.games_per_pair)),
        PairingKind::Gauntlet => {
            Box::new(round_robin::RoundRobin::gauntlet(config.games_per_pair, config.gauntlet.clone()))
        }
        PairingKind::Swiss => {
            Box::new(swiss::Swiss::new(config.rounds.unwrap_or(1) as usize, config.acceleration.is_some()))
        }
        PairingKind::Knockout => Box::new(knockout::Knockout::default()),
    }
}
