//! Desync: moves that do not fit our rules. The stream is opened again, as a line may have been garbage; if they
//! still do not fit, the game is given up.

use tracing::warn;
use zeitnot_wire::lichess::GameId;

use super::actions::{GameAction, perform};
use crate::lichess::Http;

/// Attempts at opening the stream again between two moves that fit.
const MAX_RESYNCS: u32 = 3;
/// Number of plies from which a game cannot be aborted any more.
const ABORT_PLIES: usize = 2;

/// Attempts at synchronising with the server.
#[derive(Debug, Default)]
pub(crate) struct Resync {
    /// Attempts since a move that fitted.
    attempts: u32,
    /// Waiting for the game in full.
    is_running: bool,
}

impl Resync {
    pub(crate) fn succeeded(&mut self) {
        self.is_running = false;
    }

    pub(crate) fn moved(&mut self) {
        self.attempts = 0;
    }

    /// Moves do not fit. Returns whether to open the stream again.
    pub(crate) fn start(&mut self) -> bool {
        let is_worthwhile = !self.is_running && self.attempts < MAX_RESYNCS;
        self.attempts += 1;
        self.is_running = true;
        is_worthwhile
    }
}

/// Actions that leave a game with this number of plies, in order of attempt: a game that has hardly begun is aborted.
pub(crate) fn leave_actions(plies: usize) -> &'static [GameAction] {
    use GameAction::{Abort, Resign};
    if plies < ABORT_PLIES { &[Abort, Resign] } else { &[Resign] }
}

/// Aborts a game that has hardly begun, and resigns any other. Returns what the server accepted.
pub(crate) async fn give_up(http: &Http, id: GameId, plies: usize, why: &str) -> Option<GameAction> {
    let mut refused = String::new();
    for &action in leave_actions(plies) {
        match perform(http, id, action).await {
            Ok(()) => {
                let done = if action == GameAction::Abort { "aborted" } else { "resigned" };
                warn!("{done}, as the game cannot be continued: {why}");
                return Some(action);
            }
            Err(error) => refused = error.to_string(),
        }
    }
    warn!("left, as the game cannot be continued: {why}; it could not be resigned: {refused}");
    None
}
