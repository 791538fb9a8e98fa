//! Actions of the player: moves, resignations, leaving. A move is sent, and the player hears of its outcome.

use std::time::Instant;

use tokio_util::sync::CancellationToken;
use tracing::{debug, warn};
use zeitnot_rules::MoveText;
use zeitnot_seat::{Action, Event, PlayerGone, Turn};
use zeitnot_wire::lichess::{Form, GameState, MoveQuery};

use super::{GameSession, Interruption, Next};
use crate::lichess::game::{
    actions::GameAction,
    context::MAX_TIME,
    desync::leave_actions,
    move_sender::{self, SendOutcome},
    player::PlayerInput,
};

/// Our answer to a request.
#[derive(Copy, Clone, Debug)]
pub(super) struct SentMove {
    turn: Turn,
    /// Our clock was running.
    is_timed: bool,
}

impl GameSession {
    /// Reads what comes from the player.
    pub(super) async fn played(
        &mut self,
        input: Result<PlayerInput, PlayerGone>,
    ) -> Result<Next, Interruption> {
        match input? {
            PlayerInput::Seated => self.tell_game().await?,
            PlayerInput::Action(action) => self.act(action),
        }
        Ok(Next::Wait)
    }

    /// Does what the player wants. Answers to old requests are ignored.
    fn act(&mut self, action: Action) {
        match action {
            Action::Play { turn, mv, offers_draw, eval } if self.request.awaits(turn) => {
                self.send(turn, mv, offers_draw);
                self.eval = eval.or(self.eval);
                if let Some((record, eval)) = self.record.as_mut().zip(eval) {
                    record.set_eval(self.tracker.plies(), eval);
                }
            }
            Action::Resign { turn } if self.request.awaits(turn) => {
                self.actions.spawn(GameAction::Resign);
            }
            Action::Leave { turn } if self.request.awaits(turn) => {
                self.is_leaving = true;
                self.actions.spawn(leave_actions(self.state.played().count())[0]);
            }
            late => debug!("ignored an answer that came too late: {late:?}"),
        }
    }

    fn send(&mut self, turn: Turn, mv: MoveText, offers_draw: bool) {
        let mut path = format!("api/bot/game/{}/move/{}", self.id, self.tracker.write(mv));
        if offers_draw && self.context.http.site().takes_draw_offers() {
            path = format!("{path}?{}", MoveQuery { offering_draw: true }.to_form());
        }
        let left = self.info.time_control.and(self.state.left()[self.info.side]);
        let due = left.map(|left| self.read_at + left.min(MAX_TIME));
        // The clocks run once both have moved; before, they tell nothing of the lag.
        self.last_sent = Some(mv);
        let sent = SentMove { turn, is_timed: self.tracker.plies() >= 2 };
        let moot = CancellationToken::new();
        if self.request.answer(turn, moot.clone().drop_guard()) {
            let http = self.context.http.clone();
            let task = async move { (sent, move_sender::send(&http, &path, due, &moot).await) };
            self.sending.spawn(task, (sent, None));
        }
    }

    /// Notes the outcome of our move, unless it became moot. A refusal is checked by opening the stream again.
    pub(super) async fn settle(&mut self, sent: SentMove, outcome: Option<SendOutcome>) -> Next {
        match outcome {
            Some(SendOutcome::Played { at }) => {
                if sent.is_timed && self.request.is_latest(sent.turn) {
                    let _ = self.player.send(Event::Sent { turn: sent.turn, at }).await;
                }
                self.request.taken(sent.turn, Instant::now());
            }
            Some(SendOutcome::Refused(why)) if self.request.refused(sent.turn, &why, Instant::now()) => {
                debug!("our move was refused ({why}); opening the stream again");
                return Next::Reopen;
            }
            Some(SendOutcome::Refused(_)) | None => {}
        }
        Next::Wait
    }

    /// A state from a stream that was opened again also tells what became of our move.
    pub(super) async fn settle_reopened(&mut self, state: &GameState) -> Result<(), PlayerGone> {
        let refused = self.request.reopened(self.opened);
        let is_unchanged = state.played().count() == self.tracker.plies() && !state.status.is_over();
        match refused.filter(|_| is_unchanged) {
            Some((turn, why)) => self.player.send(Event::Refused { turn, why }).await,
            None => Ok(()),
        }
    }

    /// Asks for another player. Until it comes, the game is followed without one, as it may end.
    pub(super) fn replace_player(&mut self) {
        self.players += 1;
        warn!("the player left the game; another one takes over");
        let (context, info) = (self.context.clone(), self.info.clone());
        self.player.replace(async move { context.open_seat(&info).await });
    }

    /// Tells a player that takes over the game from its beginning.
    async fn tell_game(&mut self) -> Result<(), PlayerGone> {
        for mv in self.tracker.moves().to_vec() {
            self.player.send(Event::Moved(mv)).await?;
        }
        if self.opponent.offers_draw {
            self.player.send(Event::DrawOffered).await?;
        }
        if self.is_our_turn() && (self.request.is_none() || self.request.is_open()) {
            self.request_move(self.clocks(self.read_at)).await?;
        }
        Ok(())
    }
}
