//! What a state of the game says that the one before did not.

use std::time::Instant;

use zeitnot_seat::Event;
use zeitnot_wire::lichess::GameState;

use super::{Game, answer::Request, misfit::Snag};

impl Game {
    /// Tells the player what is new, and asks for a move where one is due that was not asked for.
    pub(super) async fn follow(&mut self, state: GameState, read_at: Instant) -> Result<(), Snag> {
        let change = match self.track.follow(&state) {
            Ok(change) => change,
            // How it ended is true, whatever was played.
            Err(_) if state.status.is_over() => {
                self.state = state;
                return Ok(());
            }
            Err(lost) => return Err(lost.into()),
        };
        (self.state, self.read_at) = (state, read_at);
        if !change.is_none() {
            // What was asked about the board before is moot.
            self.request = Request::None;
            self.looks.moved();
        }
        if change.taken_back > 0 {
            self.tell(Event::TakenBack { plies: change.taken_back }).await?;
        }
        for mv in change.moves {
            self.tell(Event::Moved(mv)).await?;
        }
        if self.state.status.is_over() {
            return Ok(());
        }
        self.hear_wishes().await?;
        self.await_first_move(read_at);
        self.note_idleness();
        let clocks = self.clocks(read_at);
        match &self.request {
            Request::None if self.track.side() == self.info.side => self.ask(clocks).await?,
            _ => match clocks {
                // No clock runs where each move has its own time.
                Some(clocks) if !self.is_patient() => self.tell(Event::ClocksRead(clocks)).await?,
                _ => {}
            },
        }
        Ok(())
    }
}
