//! A game whose moves do not fit our rules: looked at anew, as the line may have been garbage; and then given up, as
//! nobody can play a position that it does not know.

use tracing::{debug, warn};

use zeitnot_wire::lichess::{GameId, Status};

use super::{
    Game, Left, PlayerGone, Table,
    answer::Request,
    calls::{self, Call},
};
use crate::lichess::track::Lost;

/// So often a game is looked at anew between two moves that fit.
const LOOKS: u32 = 3;
/// With fewer moves than this a game can be undone.
const BEGUN: usize = 2;

/// What keeps a game from going on.
#[derive(Debug, thiserror::Error)]
pub(super) enum Snag {
    #[error(transparent)]
    Player(#[from] PlayerGone),
    #[error(transparent)]
    Misfit(#[from] Lost),
}

/// What was done so far about moves that do not fit.
#[derive(Debug, Default)]
pub(super) struct Looks {
    /// Since a move was told that fits.
    number: u32,
    /// The game in full is awaited.
    is_looking: bool,
}

impl Looks {
    /// The game in full fits.
    pub fn fits(&mut self) {
        self.is_looking = false;
    }

    /// A new move fits.
    pub fn moved(&mut self) {
        self.number = 0;
    }

    /// Moves do not fit. Is it worth another look?
    fn again(&mut self) -> bool {
        let again = !self.is_looking && self.number < LOOKS;
        self.number += 1;
        self.is_looking = true;
        again
    }
}

impl Game {
    /// Is a new look at the game worth while, now that its moves do not fit? What is being thought about may not be
    /// what stands on the board: it is asked for again behind the look.
    pub(super) fn looks_again(&mut self, lost: &Lost) -> bool {
        if matches!(self.request, Request::Open) {
            self.request = Request::None;
        }
        let again = self.looks.again();
        if again {
            debug!("{lost}; looking at the game again");
        }
        again
    }

    /// Leaves a game that cannot be played on.
    pub(super) async fn give_up(mut self, why: String) -> Left {
        let way = self.table.leave(self.id, self.state.played().count(), &why).await;
        match way {
            Some(Call::Abort) => self.state.status = Status::Aborted,
            Some(_) => {
                let winner = !self.info.side;
                (self.state.status, self.state.winner) = (Status::Resign, Some(winner));
            }
            None => {}
        }
        self.end(why, Left::Over).await
    }
}

impl Table {
    /// Undoes a game that has hardly begun, and resigns any other. Returns what was done, if the server let us.
    pub(super) async fn leave(&self, id: GameId, plies: usize, why: &str) -> Option<Call> {
        let ways = if plies < BEGUN { &[Call::Abort, Call::Resign][..] } else { &[Call::Resign] };
        let mut refused = String::new();
        for &way in ways {
            match calls::ask(self.http.clone(), id, way).await {
                (_, Ok(())) => {
                    let done = if way == Call::Abort { "aborted" } else { "resigned" };
                    warn!("{done}, as it cannot be played: {why}");
                    return Some(way);
                }
                (_, Err(error)) => refused = error.to_string(),
            }
        }
        warn!("left, as it cannot be played: {why}; and it could not be resigned: {refused}");
        None
    }
}
