//! The player of a game, and the search for another one if it leaves.

use std::pin::Pin;

use zeitnot_seat::{Action, Event, PlayerGone, Seat};

/// Player of one game. While there is none, the game is followed without it.
pub(crate) struct GamePlayer {
    /// Name of the latest player's engine, for chat.
    engine: String,
    seat: SeatState,
}

enum SeatState {
    Open(Seat),
    /// Another player is being found.
    Opening(Pin<Box<dyn Future<Output = Seat> + Send>>),
}

/// Input from a player.
#[derive(Debug)]
pub(crate) enum PlayerInput {
    /// Another player takes over, and knows nothing of the game yet.
    Seated,
    Action(Action),
}

impl GamePlayer {
    pub(crate) fn new(seat: Seat) -> GamePlayer {
        GamePlayer { engine: seat.engine.clone(), seat: SeatState::Open(seat) }
    }

    pub(crate) fn engine(&self) -> &str {
        &self.engine
    }

    /// Sends an event to the player, if there is one: the next one is told the whole game.
    pub(crate) async fn send(&mut self, event: Event) -> Result<(), PlayerGone> {
        match &self.seat {
            SeatState::Open(seat) => seat.send(event).await,
            SeatState::Opening(_) => Ok(()),
        }
    }

    /// Leaves this player for the one that takes the seat which opens.
    pub(crate) fn replace(&mut self, opening: impl Future<Output = Seat> + Send + 'static) {
        self.seat = SeatState::Opening(Box::pin(opening));
    }

    /// Returns what comes next. Cancel safe.
    pub(crate) async fn next(&mut self) -> Result<PlayerInput, PlayerGone> {
        match &mut self.seat {
            SeatState::Open(seat) => seat.actions.recv().await.map(PlayerInput::Action).ok_or(PlayerGone),
            SeatState::Opening(opening) => {
                let seat = opening.await;
                *self = GamePlayer::new(seat);
                Ok(PlayerInput::Seated)
            }
        }
    }
}
