//! Messages of the server about a game: moves, clocks, requests of the opponent. The player is told what is new.

use std::time::{Duration, Instant};

use tracing::{debug, info};
use zeitnot_rules::{ByColor, Color};
use zeitnot_seat::{Clocks, Event, PlayerGone};
use zeitnot_wire::lichess::{GameMessage, GameState};

use super::{GameSession, Interruption};
use crate::lichess::game::{clocks, context::MAX_TIME};

impl GameSession {
    /// Reads a message of the game's stream.
    pub(super) async fn handle(
        &mut self,
        message: GameMessage,
        read_at: Instant,
    ) -> Result<(), Interruption> {
        match message {
            GameMessage::GameFull(full) => {
                self.opponent.forget_absence();
                self.settle_reopened(&full.state).await?;
                self.follow(full.state, read_at).await?;
                self.resync.succeeded();
                self.update_record();
            }
            GameMessage::GameState(state) => {
                self.follow(state, read_at).await?;
                self.update_record();
            }
            GameMessage::GameEnd => self.ended_untold(),
            GameMessage::OpponentGone(gone) => {
                self.opponent.gone(gone, self.context.http.timeouts().claim_delay, read_at);
            }
            GameMessage::ChatLine(line) => self.read_chat(line),
            GameMessage::Other(unknown) => debug!("ignored: {:?}", unknown.kind),
        }
        Ok(())
    }

    /// Tells the player what is new, and asks for a move where one is due.
    pub(super) async fn follow(&mut self, state: GameState, read_at: Instant) -> Result<(), Interruption> {
        let change = match self.tracker.follow(&state) {
            Ok(change) => change,
            // The result counts, whatever was played.
            Err(_) if state.status.is_over() => {
                self.state = state;
                return Ok(());
            }
            Err(error) => return Err(error.into()),
        };
        (self.state, self.read_at) = (state, read_at);
        self.update_clocks();
        if !change.is_none() {
            self.last_sent = None;
            self.request.clear();
            self.resync.moved();
        }
        if change.taken_back > 0 {
            self.player.send(Event::TakenBack { plies: change.taken_back }).await?;
        }
        for mv in change.moves {
            self.player.send(Event::Moved(mv)).await?;
        }
        if self.state.status.is_over() {
            return Ok(());
        }
        self.answer_requests().await?;
        let is_our_turn = self.is_our_turn();
        let is_awaited = self.tracker.plies() < 2 && !is_our_turn && !self.is_correspondence();
        let limit = self.state.expiration.map(|expiration| expiration.left);
        let limit = limit.unwrap_or(self.context.http.timeouts().abort_time);
        self.opponent.await_first_move(is_awaited, limit, read_at);
        let is_idle = self.is_correspondence() && !is_our_turn;
        self.idle_since = is_idle.then(|| self.idle_since.unwrap_or_else(Instant::now));
        let clocks = self.clocks(read_at);
        if self.request.is_none() && is_our_turn {
            self.request_move(clocks).await?;
        } else if let Some(clocks) = clocks.filter(|_| !self.is_correspondence()) {
            self.player.send(Event::ClocksRead(clocks)).await?;
        }
        Ok(())
    }

    /// Draw offers are the player's matter, takebacks are answered here.
    async fn answer_requests(&mut self) -> Result<(), PlayerGone> {
        let new = self.opponent.read_requests(&self.state);
        if let Some(answer) = new.takeback {
            self.actions.spawn(answer);
        }
        if new.draw {
            info!("the opponent offers a draw");
            self.player.send(Event::DrawOffered).await?;
        }
        Ok(())
    }

    pub(super) async fn request_move(&mut self, clocks: Option<Clocks>) -> Result<(), PlayerGone> {
        let turn = self.request.open();
        self.player.send(Event::YourTurn { turn, clocks }).await
    }

    pub(super) fn is_our_turn(&self) -> bool {
        self.tracker.color() == self.info.side
    }

    pub(super) fn is_correspondence(&self) -> bool {
        self.info.time_control.is_none()
    }

    pub(super) fn clocks(&self, read_at: Instant) -> Option<Clocks> {
        match self.info.time_control {
            Some(control) => clocks::of_game(control, self.info.side, self.is_berserk, &self.state, read_at),
            None => {
                let move_time = self.context.rules.correspondence.move_time;
                Some(clocks::of_move(move_time, &self.state, self.read_at))
            }
        }
    }

    /// Tells the account's other tasks how much time there is, and until when the next news is due.
    fn update_clocks(&self) {
        if self.is_correspondence() {
            return;
        }
        let timeouts = self.context.http.timeouts();
        let left = self.state.left().0.map(|left| left.unwrap_or(MAX_TIME).min(MAX_TIME));
        let left = ByColor(left);
        let is_our_turn = self.is_our_turn();
        // No clock runs before both have moved.
        let has_begun = self.tracker.plies() >= 2;
        let before_start = match &self.state.expiration {
            Some(expiration) => expiration.left.min(MAX_TIME),
            None if has_begun => Duration::ZERO,
            None => timeouts.abort_time.min(MAX_TIME),
        };
        let news = if has_begun { left[self.tracker.color()] } else { before_start };
        let length = before_start + left[Color::White] + left[Color::Black];
        let clocks = self.context.http.clocks();
        clocks.update(self.id, left[self.info.side], self.read_at, is_our_turn && has_begun, news, length);
    }
}
