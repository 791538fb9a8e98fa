//! The server's request for a move, and the answer to it.
//!
//! A move is sent by a task of its own; everything else of the game waits behind it.

use std::{future::pending, mem, time::Instant};

use tokio::task::JoinSet;
use tokio_util::sync::{CancellationToken, DropGuard};
use zeitnot_seat::Turn;

use super::move_sender::{self, SendOutcome};
use crate::lichess::Http;

#[derive(Debug, Default)]
enum State {
    /// It is not our turn.
    #[default]
    None,
    /// The player has not answered.
    Open,
    /// The answer is being sent; dropping the guard stops that.
    Sending { _moot: DropGuard },
    /// The server took the answer, but has not told the move as played.
    Taken { at: Instant },
    /// The server refused the answer; the stream will tell whether it has it nevertheless.
    Doubtful { why: String, since: Instant },
}

#[derive(Copy, Clone, Debug)]
pub(crate) struct SentMove {
    pub(crate) turn: Turn,
    /// Our clock was running.
    pub(crate) is_timed: bool,
}

/// The requests of one game; only the last one's answer is awaited.
#[derive(Debug, Default)]
pub(crate) struct MoveRequests {
    turn: Turn,
    state: State,
    sending: JoinSet<(SentMove, Option<SendOutcome>)>,
}

impl MoveRequests {
    pub(crate) fn open(&mut self) -> Turn {
        self.turn = self.turn.next();
        self.state = State::Open;
        self.turn
    }

    pub(crate) fn is_latest(&self, turn: Turn) -> bool {
        turn == self.turn
    }

    pub(crate) fn awaits(&self, turn: Turn) -> bool {
        self.is_latest(turn) && self.is_open()
    }

    pub(crate) fn is_open(&self) -> bool {
        matches!(self.state, State::Open)
    }

    pub(crate) fn is_none(&self) -> bool {
        matches!(self.state, State::None)
    }

    pub(crate) fn is_sending(&self) -> bool {
        !self.sending.is_empty()
    }

    /// The board has changed, so the request is moot.
    pub(crate) fn clear(&mut self) {
        self.state = State::None;
    }

    /// Sends the answer; it counts until `due`.
    pub(crate) fn send(&mut self, http: Http, path: String, due: Option<Instant>, is_timed: bool) {
        let moot = CancellationToken::new();
        self.state = State::Sending { _moot: moot.clone().drop_guard() };
        let sent = SentMove { turn: self.turn, is_timed };
        self.sending.spawn(async move { (sent, move_sender::send(&http, &path, due, &moot).await) });
    }

    /// Waits for the outcome of a move that was sent; `None`: it became moot. Cancel safe.
    pub(crate) async fn next(&mut self) -> (SentMove, Option<SendOutcome>) {
        while let Some(joined) = self.sending.join_next().await {
            if let Ok(done) = joined {
                return done;
            }
        }
        pending().await
    }

    /// Notes the outcome. Returns why the server refused the move, if the stream must be asked about it.
    pub(crate) fn settle(&mut self, sent: SentMove, outcome: SendOutcome) -> Option<String> {
        if sent.turn != self.turn || !matches!(self.state, State::Sending { .. }) {
            return None;
        }
        let now = Instant::now();
        match outcome {
            SendOutcome::Played { .. } => {
                self.state = State::Taken { at: now };
                None
            }
            SendOutcome::Refused(why) => {
                self.state = State::Doubtful { why: why.clone(), since: now };
                Some(why)
            }
        }
    }

    /// The stream that was opened then tells the game in full, and with it what became of an earlier answer. Returns
    /// the turn and the reason of a refusal.
    pub(crate) fn reopened(&mut self, opened: Instant) -> Option<(Turn, String)> {
        match mem::take(&mut self.state) {
            State::Doubtful { why, since } if since <= opened => Some((self.turn, why)),
            State::Taken { at } if at <= opened => None,
            other => {
                self.state = other;
                None
            }
        }
    }
}
