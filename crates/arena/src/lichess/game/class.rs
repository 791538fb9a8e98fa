//! Game whose referee is a class tournament: its notices are applied, and a player's actions become requests to it.

use std::{sync::Arc, time::Duration};

use tokio::{sync::mpsc, time::Instant};
use zeitnot_host::{game_info::GameInfo, tag::GameTag};
use zeitnot_referee::{Clock, Ending, PlayedMove};
use zeitnot_rules::{ByColor, Color};

use super::{
    GameAction,
    hosted::{NOT_YOUR_TURN, invalid_move},
    refuse,
};
use crate::{
    lichess::{answer::Refusal, terms::Terms},
    message::{GameView, Request},
};

/// Order to the bridge that has the seat of an account.
#[derive(Debug)]
pub(in crate::lichess) enum Order {
    /// The account is online: take its seat, or acknowledge the pairing that waits for it.
    Online,
    Send(Request),
}

#[derive(Debug)]
pub(in crate::lichess) struct ClassGame {
    pub(in crate::lichess) tag: GameTag,
    pub(super) info: Arc<GameInfo>,
    pub(super) plies: Vec<Arc<PlayedMove>>,
    pub(super) clock: Clock,
    pub(super) turn: Option<Color>,
    pub(super) ending: Option<Ending>,
    /// Ways to the tournament; `None` for a player of another protocol.
    seats: ByColor<Option<mpsc::Sender<Order>>>,
    /// Ply at which a move was last passed on.
    passed_on: Option<usize>,
}

impl ClassGame {
    pub(in crate::lichess) fn new(
        view: &GameView,
        terms: &Terms,
        seats: ByColor<Option<mpsc::Sender<Order>>>,
        now: Instant,
    ) -> ClassGame {
        let mut game = ClassGame {
            tag: view.game,
            info: view.info.clone(),
            plies: Vec::new(),
            clock: Clock::new(ByColor::both(terms.allowance()), Duration::ZERO),
            turn: None,
            ending: None,
            seats,
            passed_on: None,
        };
        game.set_clocks(view, now);
        game
    }

    fn fen(&self) -> &str {
        self.plies.last().map_or(&self.info.start_fen, |made| &made.fen)
    }

    /// Sets the clocks, unless the view is older than the last move.
    pub(in crate::lichess) fn set_clocks(&mut self, view: &GameView, now: Instant) {
        if view.fen != self.fen() {
            return;
        }
        self.turn = view.turn;
        self.clock.set(view.left);
        if let Some(turn) = view.turn {
            self.clock.start(turn, now);
        }
    }

    /// Adds a move; returns whether it is new: with two accounts in the game, each hears of it.
    pub(in crate::lichess) fn add(&mut self, made: Arc<PlayedMove>) -> bool {
        let is_new = !self.plies.iter().rev().any(|known| Arc::ptr_eq(known, &made));
        if is_new {
            self.plies.push(made);
        }
        is_new
    }

    pub(super) fn end(&mut self, ending: Ending, now: Instant) {
        self.clock.stop(now);
        self.ending = Some(ending);
    }

    /// Passes a move or a resignation on to the tournament. Their number is not limited, as for other participants.
    pub(super) fn act(&mut self, color: Color, action: GameAction, now: Instant) -> Result<(), Refusal> {
        let (ply, game) = (self.plies.len(), self.tag.to_string());
        let Some(Ok(seat)) = self.seats[color].as_ref().map(mpsc::Sender::try_reserve) else {
            return Err(Refusal::rate_limited());
        };
        let request = match action {
            _ if self.ending.is_some() => return refuse(NOT_YOUR_TURN),
            GameAction::Move { .. } if self.turn != Some(color) || self.passed_on == Some(ply) => {
                return refuse(NOT_YOUR_TURN);
            }
            GameAction::Move { text, .. } => {
                let read = self.info.position(self.fen()).and_then(|board| board.read(&text));
                let mv = read.map_err(|_| invalid_move(&text))?.to_string();
                self.passed_on = Some(ply);
                Request::Move { game, mv, read_at: now }
            }
            GameAction::Resign => Request::Resign { game, read_at: now },
            GameAction::Chat(_) | GameAction::Draw(false) | GameAction::Takeback(false) => return Ok(()),
            _ => return refuse("This is not possible in a tournament of the class"),
        };
        seat.send(Order::Send(request));
        Ok(())
    }
}
