//! The server's request for a move, and what becomes of our answer.
//!
//! A move is sent by a task of its own as soon as the player has it; everything else waits behind it.

use std::time::{Duration, Instant};

use tokio_util::sync::{CancellationToken, DropGuard};
use tracing::debug;

use zeitnot_rules::{ByColor, MoveText};
use zeitnot_seat::{Action, Clocks, Event, Turn};
use zeitnot_wire::lichess::{Form, GameState, MoveQuery};

use super::{Game, LONGEST, PlayerGone, calls::Call};
use crate::lichess::moves::{self, Fate};

/// Clocks are told in milliseconds, but kept in hundredths of a second.
const CLOCK_STEP: Duration = Duration::from_millis(10);

/// The server's last request for a move.
#[derive(Debug)]
pub(super) enum Request {
    /// It is not our turn.
    None,
    /// The player has not answered yet.
    Open,
    /// The answer is on its way; what brings it there gives up with this.
    Sending { _moot: DropGuard },
    /// The server took it then, but has not told it as played yet.
    Taken { at: Instant },
    /// The server did not take it, and the stream will tell whether it has it all the same.
    Doubtful { why: String, since: Instant },
}

/// A move on its way.
#[derive(Copy, Clone, Debug)]
pub(super) struct Answer {
    turn: Turn,
    /// Did our clock run?
    is_timed: bool,
}

impl Game {
    pub(super) async fn ask(&mut self, clocks: Option<Clocks>) -> Result<(), PlayerGone> {
        self.turn = self.turn.next();
        self.request = Request::Open;
        self.tell(Event::YourTurn { turn: self.turn, clocks }).await
    }

    pub(super) fn clocks(&self, read_at: Instant) -> Option<Clocks> {
        let Some(control) = self.info.time_control else { return Some(self.clocks_for_a_move()) };
        let ByColor([white, black]) = self.state.left();
        let mut left = ByColor([white?.min(LONGEST), black?.min(LONGEST)]);
        if let Some(expiration) = self.state.expiration {
            // Before both have moved no clock runs, but who takes too long over it has lost the game.
            left[self.info.side] = left[self.info.side].min(expiration.left);
        }
        let increment = self.state.increments()[self.info.side].max(control.increment).min(LONGEST);
        Some(Clocks {
            left,
            increment: if self.is_berserk { Duration::ZERO } else { increment },
            moves_to_go: None,
            resolution: CLOCK_STEP,
            read_at,
        })
    }

    /// What the player wants; of an answer to an old request nothing is done.
    pub(super) fn act(&mut self, action: Option<Action>) -> Result<(), PlayerGone> {
        let is_open = |turn: Turn| turn == self.turn && matches!(self.request, Request::Open);
        match action {
            Some(Action::Play { turn, mv, offers_draw, eval }) if is_open(turn) => {
                self.send(mv, offers_draw);
                self.eval = eval.or(self.eval);
                if let Some((record, eval)) = self.record.as_mut().zip(eval) {
                    record.thought(self.track.plies(), eval);
                }
            }
            Some(Action::Resign { turn }) if is_open(turn) => self.call(Call::Resign),
            Some(late) => debug!("too late: {late:?}"),
            None => return Err(PlayerGone),
        }
        Ok(())
    }

    fn send(&mut self, mv: MoveText, offers_draw: bool) {
        let moot = CancellationToken::new();
        self.request = Request::Sending { _moot: moot.clone().drop_guard() };
        let mut path = format!("api/bot/game/{}/move/{}", self.id, self.track.write(mv));
        if offers_draw {
            path = format!("{path}?{}", MoveQuery { offering_draw: true }.to_form());
        }
        let left = self.info.time_control.and(self.state.left()[self.info.side]);
        let due = left.map(|left| self.read_at + left.min(LONGEST));
        let http = self.table.http.clone();
        // The clocks run when both have moved: before, they tell nothing of the lag.
        let answer = Answer { turn: self.turn, is_timed: self.track.plies() >= 2 };
        self.sending.spawn(async move { (answer, moves::send(&http, &path, due, &moot).await) });
    }

    /// What became of our answer. Is a new look at the stream needed?
    pub(super) async fn fate(&mut self, Answer { turn, is_timed }: Answer, fate: Fate) -> bool {
        if let Fate::Played { at } = fate
            && turn == self.turn
            && is_timed
        {
            let _ = self.tell(Event::Sent { turn, at }).await;
        }
        if turn != self.turn || !matches!(self.request, Request::Sending { .. }) {
            return false;
        }
        let now = Instant::now();
        match fate {
            Fate::Played { .. } => {
                self.request = Request::Taken { at: now };
                false
            }
            Fate::Refused(why) => {
                debug!("our move was not taken ({why}); looking at the game again");
                self.request = Request::Doubtful { why, since: now };
                true
            }
            Fate::Unauthorized => false,
        }
    }

    /// Before a state from a stream that was just opened: it also says what became of our answer.
    pub(super) async fn look_for_answer(&mut self, state: &GameState) -> Result<(), PlayerGone> {
        let request = std::mem::replace(&mut self.request, Request::None);
        let why = match request {
            Request::Doubtful { why, since } if since <= self.opened => Some(why),
            Request::Taken { at } if at <= self.opened => None,
            other => {
                self.request = other;
                None
            }
        };
        let stands = state.played().count() == self.track.plies() && !state.status.is_over();
        match why.filter(|_| stands) {
            Some(why) => self.tell(Event::Refused { turn: self.turn, why }).await,
            None => Ok(()),
        }
    }
}
