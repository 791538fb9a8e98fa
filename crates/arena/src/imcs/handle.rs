//! Access to the lobby for guests and games.

use time::OffsetDateTime;
use tokio::sync::{mpsc, oneshot};
use zeitnot_rules::ByColor;
use zeitnot_wire::imcs::{Command, Verdict};

use super::connection::{Connection, reply};

/// Sender of a guest's connection to its game.
pub(super) type ConnectionSender = oneshot::Sender<Connection>;

/// Outcome of an offer.
#[derive(Debug)]
pub(super) enum OfferOutcome {
    /// Somebody accepted.
    Taken(ConnectionSender),
    /// The owner withdrew it.
    Countermanded,
}

/// Answer to a command.
pub(super) struct Response {
    pub(super) text: String,
    /// New login; `None`: no change.
    pub(super) login: Option<String>,
    pub(super) next: Next,
}

/// Next step of a guest.
pub(super) enum Next {
    Stay,
    Leave,
    /// Wait until somebody accepts the offer.
    Wait(oneshot::Receiver<OfferOutcome>),
    Play(ConnectionSender),
}

impl Response {
    pub(super) fn say(text: String) -> Response {
        Response { text, login: None, next: Next::Stay }
    }

    pub(super) fn reply(code: u16, text: impl Into<String>) -> Response {
        Response::say(reply(code, text))
    }

    pub(super) fn hello(code: u16, greeting: &str, name: String) -> Response {
        Response { login: Some(name.clone()), ..Response::reply(code, format!("{greeting} {name}")) }
    }
}

/// Handle of the lobby.
#[derive(Clone, Debug)]
pub(super) struct LobbyHandle {
    pub(super) requests: mpsc::Sender<Request>,
}

pub(super) enum Request {
    Command { name: Option<String>, command: Command, reply: oneshot::Sender<Response> },
    Finished { report: Report, done: oneshot::Sender<()> },
}

/// Report of a finished game.
#[derive(Debug)]
pub(super) struct Report {
    pub(super) game: u64,
    pub(super) names: ByColor<String>,
    pub(super) began: OffsetDateTime,
    /// `None` if it was aborted.
    pub(super) verdict: Option<Verdict>,
    pub(super) moves: Vec<String>,
}

impl LobbyHandle {
    /// Has a command answered; `None`: the lobby is closed.
    pub(super) async fn ask(&self, name: Option<String>, command: Command) -> Option<Response> {
        let (reply, answer) = oneshot::channel();
        self.requests.send(Request::Command { name, command, reply }).await.ok()?;
        answer.await.ok()
    }

    /// Reports a game, and waits until its ratings count.
    pub(super) async fn finished(&self, report: Report) {
        let (done, waiting) = oneshot::channel();
        if self.requests.send(Request::Finished { report, done }).await.is_ok() {
            let _ = waiting.await;
        }
    }
}
