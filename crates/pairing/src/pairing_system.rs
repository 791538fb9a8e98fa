//! Pairing systems: who plays whom next, and when all is played.

use std::fmt;

use zeitnot_rules::{ByColor, Color, GameResult};

use crate::{card::SeatNo, name::Name};

/// A game to be played.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Pairing {
    /// White and Black.
    pub seats: ByColor<SeatNo>,
    /// Number of the opening, from 0; a tournament with fewer starts over. A game and its return game share one.
    pub opening: u64,
}

impl Pairing {
    /// Returns the colour of one of the two.
    pub fn color_of(&self, seat: SeatNo) -> Color {
        if self.seats[Color::White] == seat { Color::White } else { Color::Black }
    }
}

/// A point without a game.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Bye {
    pub seat: SeatNo,
    /// From 1.
    pub round: u32,
    /// The organiser has paired the player instead.
    pub is_revoked: bool,
}

/// Present round of a tournament.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenRound {
    /// From 1.
    pub number: u32,
    /// Games without a result.
    pub pairings: Vec<Pairing>,
}

/// A game with a result, which the organiser corrects.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Past {
    pub pairing: Pairing,
    /// Its round, from 1, where there are rounds.
    pub round: u32,
    /// The two are at the board again.
    pub is_busy: bool,
}

/// Reason why a system refuses what the organiser wants.
#[derive(Copy, Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotNow {
    #[error("they have no game left to play against each other")]
    NoneLeft,
    #[error("they are paired with each other so already")]
    PairedSo,
    #[error(
        "both must wait for a game of the present round, or have its bye; one has played, plays or has left"
    )]
    NotWaiting,
    #[error("its round is over, and the next one has been paired; give it another result instead")]
    RoundOver,
    #[error("the next round has begun with the winner")]
    NextRound,
    #[error("it is not the last game of the match; correct that one first")]
    LaterGame,
    #[error("the two are playing again; correct it when that game is over, or correct that one")]
    Playing,
    #[error("it has been played again with these colours, or is being; correct that game instead")]
    PlayedAgain,
    #[error("one of the two has left the tournament")]
    Withdrawn,
}

/// A pairing system. It knows seats and games, and no players, clocks or connections.
///
/// Its state follows from the calls in their order, [`PairingSystem::pair`] aside: an arena that begins anew repeats them.
pub trait PairingSystem: fmt::Debug + Send {
    /// Notes who sits on a seat.
    fn enter(&mut self, seat: SeatNo, name: &Name);

    /// Returns whether somebody who comes now has something to play.
    fn takes_late_entries(&self) -> bool;

    /// Pairs the next round if the last one is over, and returns its number.
    fn begin_round(&mut self) -> Option<u32> {
        None
    }

    /// Returns the present round, from 1; `None` if there are no rounds.
    fn round(&self) -> Option<u32> {
        None
    }

    /// Pairs free players, nobody twice; where there are rounds, those of the present one.
    fn pair(&mut self, free: &[SeatNo]) -> Vec<Pairing>;

    /// Takes in a game; returns whether its result counts in the standings.
    fn played(&mut self, pairing: Pairing, result: GameResult) -> bool;

    /// Takes in a game that was paired and is lost without being played.
    fn forfeited(&mut self, pairing: Pairing, result: GameResult) -> bool {
        self.played(pairing, result)
    }

    /// Returns the game of the present round that a player is to play.
    fn open_game(&self, _seat: SeatNo) -> Option<Pairing> {
        None
    }

    /// Returns the number of games that two players are to play, as far as it is known; those at the board among them.
    fn awaits(&self, seats: ByColor<SeatNo>) -> u32;

    /// Returns the number of games with these colours that are to be played again, those at the board among them.
    fn reopened(&self, seats: ByColor<SeatNo>) -> u32 {
        self.awaits(seats)
    }

    /// Takes a result back: the game is to be played again.
    ///
    /// # Errors
    /// [`NotNow`] if the tournament has gone on too far.
    fn reopen(&mut self, past: Past) -> Result<(), NotNow>;

    /// Gives a game another result.
    ///
    /// # Errors
    /// [`NotNow`] if the tournament has gone on too far.
    fn rescore(&mut self, past: Past, result: GameResult) -> Result<(), NotNow>;

    /// Pairs two players as the organiser wants; `busy` are the games at the board.
    ///
    /// # Errors
    /// [`NotNow`] if one of them has no game to play that could be this one.
    fn pair_by_hand(&mut self, seats: ByColor<SeatNo>, busy: &[Pairing]) -> Result<(), NotNow>;

    /// Withdraws a player; returns the opponents among `players`, each with the number of games that fall out. `None` if
    /// the player has nothing left to play.
    fn withdraw(&mut self, seat: SeatNo, players: &[SeatNo]) -> Option<Vec<(SeatNo, u32)>>;

    /// Takes in a withdrawn player again; returns whether there is anything left to play.
    fn readmit(&mut self, _seat: SeatNo) -> bool {
        false
    }

    /// Keeps a player out of all further games.
    fn exclude(&mut self, _seat: SeatNo) {}

    /// Forgets the games of a seat, which somebody else gets.
    fn forget(&mut self, seat: SeatNo);

    /// Returns whether all games are played.
    fn is_complete(&self) -> bool;

    /// Returns what is left of the present round; `None` if there are no rounds.
    fn open(&self) -> Option<OpenRound> {
        None
    }

    /// Returns who has got or lost a point without a game since the last call.
    fn take_byes(&mut self) -> Vec<Bye> {
        Vec::new()
    }
}
