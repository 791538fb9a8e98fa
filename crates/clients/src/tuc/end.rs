//! Ends of a game.

use std::{cmp::Ordering, fmt, io, time::Duration};

use zeitnot_rules::{ByColor, Color, GameResult};

/// Error of a game, or of the attempt to begin one.
#[derive(Debug, thiserror::Error)]
pub(super) enum GameError {
    #[error("no server there ({0})")]
    NoServer(#[from] io::Error),
    #[error("no seat within {:.1} s of sending our name: another game may be running", .0.as_secs_f64())]
    NoSeat(Duration),
    #[error(
        "the server went away in the middle of the game ({0}): it was stopped, or an illegal move of either side ended it"
    )]
    ServerGone(io::Error),
    #[error(
        "nothing from the server for {:.1} s: the opponent thinks very long, a datagram was lost, or the game is dead; \
         giving it up", .0.as_secs_f64()
    )]
    Silent(Duration),
    #[error("cannot play: {0}")]
    NoPlayer(String),
}

pub(super) struct GameEnd {
    pub(super) color: Color,
    pub(super) points: ByColor<u16>,
}

impl GameEnd {
    pub(super) fn outcome(&self) -> GameResult {
        let ByColor([white, black]) = self.points;
        match white.cmp(&black) {
            Ordering::Greater => GameResult::Won(Color::White),
            Ordering::Equal => GameResult::Draw,
            Ordering::Less => GameResult::Won(Color::Black),
        }
    }
}

impl fmt::Display for GameEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ours = self.points[self.color];
        let theirs = self.points[!self.color];
        let what = match ours.cmp(&theirs) {
            Ordering::Greater => "won",
            Ordering::Equal => "drawn",
            Ordering::Less => "lost",
        };
        write!(f, "{what} as {}, {ours} to {theirs}", self.color)
    }
}
