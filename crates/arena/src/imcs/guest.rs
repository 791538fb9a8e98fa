//! Client between games: from lines to commands, and from offers to games.

use std::time::Duration;

use tokio::{select, sync::oneshot, time::timeout};
use tokio_util::sync::CancellationToken;

use zeitnot_wire::{Message, WireError, imcs::Command};

use super::{
    connection::{Connection, STOPPING, reply},
    lobby::{Lobby, Next, OfferOutcome, Response},
};
use crate::jobs::Handle;

/// Silence, or time without a taker of an offer, after which a guest is disconnected.
const IDLE: Duration = Duration::from_secs(3600);

pub(super) struct Guest {
    connection: Connection,
    lobby: Handle<Lobby>,
    stop: CancellationToken,
    name: Option<String>,
}

impl Guest {
    pub(super) fn new(connection: Connection, lobby: Handle<Lobby>, stop: CancellationToken) -> Guest {
        Guest { connection, lobby, stop, name: None }
    }

    pub(super) async fn serve(mut self) {
        let version = zeitnot_wire::imcs::VERSION;
        let mut step = match self.connection.say(&reply(100, format!("imcs {version}"))).await {
            Ok(()) => Next::Stay,
            Err(_) => Next::Leave,
        };
        loop {
            step = match step {
                Next::Stay => self.step().await,
                Next::Leave => return self.connection.close().await,
                Next::Wait(outcome) => self.wait(outcome).await,
                Next::Play(game) => {
                    // A game that is gone drops the connection, which closes it.
                    let _ = game.send(self.connection);
                    return;
                }
            }
        }
    }

    async fn step(&mut self) -> Next {
        let heard = select! {
            heard = timeout(IDLE, self.connection.hear()) => heard.ok().flatten(),
            () = self.stop.cancelled() => return self.stopped().await,
        };
        let Some(incoming) = heard else { return Next::Leave };
        let response = match incoming.line.as_deref().map(str::trim) {
            Ok("") => return Next::Stay,
            Ok(line) => match Command::parse(line) {
                Ok(command) => {
                    let name = self.name.clone();
                    self.lobby.call(move |lobby| lobby.obey(name, command)).await
                }
                Err(error) => Some(Response::say(refusal(&error))),
            },
            Err(_) => Some(Response::say(unknown())),
        };
        let Some(Response { text, login, next }) = response else { return self.stopped().await };
        self.name = login.or(self.name.take());
        // An offer whose owner cannot be written to stays open, as in the protocol.
        if self.connection.say(&text).await.is_err() {
            return Next::Leave;
        }
        next
    }

    /// Waits for the outcome of an offer; nothing is read meanwhile.
    async fn wait(&mut self, outcome: oneshot::Receiver<OfferOutcome>) -> Next {
        let outcome = select! {
            outcome = timeout(IDLE, outcome) => outcome,
            () = self.stop.cancelled() => return self.stopped().await,
        };
        match outcome {
            Ok(Ok(OfferOutcome::Taken(game))) => Next::Play(game),
            Ok(Ok(OfferOutcome::Countermanded)) | Err(_) => {
                let said = self.connection.say(&reply(421, "offer countermanded")).await;
                said.map_or(Next::Leave, |()| Next::Stay)
            }
            Ok(Err(_)) => self.stopped().await,
        }
    }

    async fn stopped(&mut self) -> Next {
        let _ = self.connection.say(&reply(503, STOPPING)).await;
        Next::Leave
    }
}

fn unknown() -> String {
    reply(501, "unknown command")
}

fn refusal(error: &WireError) -> String {
    match error {
        WireError::Unknown(_) | WireError::Body { .. } => unknown(),
        WireError::Field { message, expected, .. } => reply(409, format!("{message}: usage: {expected}")),
    }
}
