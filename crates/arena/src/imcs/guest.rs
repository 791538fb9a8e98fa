//! Client between games: from lines to commands, and from offers to games.

use std::time::Duration;

use tokio::{select, time::timeout};
use tokio_util::sync::CancellationToken;

use zeitnot_wire::{Message, WireError, imcs::Command};

use super::{
    connection::{Connection, STOPPING, reply},
    handle::{ConnectionSender, LobbyHandle, Next, OfferOutcome, Response},
};

/// Silence, or time without a taker of an offer, after which a guest is disconnected.
const IDLE: Duration = Duration::from_secs(3600);

/// Client between games.
pub(super) struct Guest {
    connection: Connection,
    lobby: LobbyHandle,
    stop: CancellationToken,
    name: Option<String>,
}

/// Next step of a guest.
enum Step {
    Stay,
    Leave,
    Play(ConnectionSender),
}

impl Guest {
    pub(super) fn new(connection: Connection, lobby: LobbyHandle, stop: CancellationToken) -> Guest {
        Guest { connection, lobby, stop, name: None }
    }

    /// Serves to the end, or to the next game.
    pub(super) async fn serve(mut self) {
        let version = zeitnot_wire::imcs::VERSION;
        let mut step = match self.connection.say(&reply(100, format!("imcs {version}"))).await {
            Ok(()) => Step::Stay,
            Err(_) => Step::Leave,
        };
        loop {
            step = match step {
                Step::Stay => self.step().await,
                Step::Leave => return self.connection.close().await,
                Step::Play(table) => {
                    // A game that is gone drops the connection, which closes it.
                    let _ = table.send(self.connection);
                    return;
                }
            }
        }
    }

    /// Answers one command.
    async fn step(&mut self) -> Step {
        let heard = select! {
            heard = timeout(IDLE, self.connection.hear()) => heard.ok().flatten(),
            () = self.stop.cancelled() => return self.stopped().await,
        };
        let Some(incoming) = heard else { return Step::Leave };
        let response = match incoming.line.as_deref().map(str::trim) {
            Ok("") => return Step::Stay,
            Ok(line) => match Command::parse(line) {
                Ok(command) => self.lobby.ask(self.name.clone(), command).await,
                Err(error) => Some(Response::say(refusal(&error))),
            },
            Err(_) => Some(Response::say(unknown())),
        };
        let Some(Response { text, login, next }) = response else { return self.stopped().await };
        self.name = login.or(self.name.take());
        // An offer whose owner cannot be written to stays open, as in the protocol.
        if self.connection.say(&text).await.is_err() {
            return Step::Leave;
        }
        match next {
            Next::Stay => Step::Stay,
            Next::Leave => Step::Leave,
            Next::Play(table) => Step::Play(table),
            Next::Wait(outcome) => self.wait(outcome).await,
        }
    }

    /// Waits for the outcome of an offer; nothing is read meanwhile.
    async fn wait(&mut self, outcome: tokio::sync::oneshot::Receiver<OfferOutcome>) -> Step {
        let outcome = select! {
            outcome = timeout(IDLE, outcome) => outcome,
            () = self.stop.cancelled() => return self.stopped().await,
        };
        match outcome {
            Ok(Ok(OfferOutcome::Taken(table))) => Step::Play(table),
            Ok(Ok(OfferOutcome::Countermanded)) | Err(_) => {
                let said = self.connection.say(&reply(421, "offer countermanded")).await;
                said.map_or(Step::Leave, |()| Step::Stay)
            }
            Ok(Err(_)) => self.stopped().await,
        }
    }

    async fn stopped(&mut self) -> Step {
        let _ = self.connection.say(&reply(503, STOPPING)).await;
        Step::Leave
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
