//! The server's request for a move, and the task that sends the answer to it.
//!
//! A move is sent by a task of its own; everything else of the game waits behind it.

use std::{
    future::pending,
    ops::{Deref, DerefMut},
    time::Instant,
};

use tokio::task::JoinSet;
use tokio_util::sync::{CancellationToken, DropGuard};
use zeitnot_seat::{OpenRequest, Turn};

use super::move_sender::{self, SendOutcome};
use crate::lichess::Http;

#[derive(Copy, Clone, Debug)]
pub(crate) struct SentMove {
    pub(crate) turn: Turn,
    /// Our clock was running.
    pub(crate) is_timed: bool,
}

/// The requests of one game; only the last one's answer is awaited. Dropping the guard of an answer stops sending it.
#[derive(Debug, Default)]
pub(crate) struct MoveRequests {
    request: OpenRequest<DropGuard>,
    sending: JoinSet<(SentMove, Option<SendOutcome>)>,
}

impl Deref for MoveRequests {
    type Target = OpenRequest<DropGuard>;

    fn deref(&self) -> &Self::Target {
        &self.request
    }
}

impl DerefMut for MoveRequests {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.request
    }
}

impl MoveRequests {
    pub(crate) fn is_sending(&self) -> bool {
        !self.sending.is_empty()
    }

    /// Sends the answer to an open request; it counts until `due`.
    pub(crate) fn send(
        &mut self,
        turn: Turn,
        http: Http,
        path: String,
        due: Option<Instant>,
        is_timed: bool,
    ) {
        let moot = CancellationToken::new();
        if self.request.answer(turn, moot.clone().drop_guard()) {
            let sent = SentMove { turn, is_timed };
            self.sending.spawn(async move { (sent, move_sender::send(&http, &path, due, &moot).await) });
        }
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
        let now = Instant::now();
        match outcome {
            SendOutcome::Played { .. } => {
                self.request.taken(sent.turn, now);
                None
            }
            SendOutcome::Refused(why) => self.request.refused(sent.turn, &why, now).then_some(why),
        }
    }
}
