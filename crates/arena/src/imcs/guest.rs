//! Client between games: from lines to commands, and from offers to games.

use std::time::Duration;

use tokio::{
    select,
    sync::oneshot,
    time::{Instant, sleep, timeout_at},
};
use tokio_util::sync::CancellationToken;

use zeitnot_host::jobs::Handle;
use zeitnot_web::places::Pool;
use zeitnot_wire::{Message, WireError, imcs::Command};

use super::{
    connection::{Connection, Heard, STOPPING, reply},
    game::PlayerLink,
    lobby::{Lobby, Next, OfferOutcome, Response},
};

/// Silence, or time without a taker of an offer, after which a guest is disconnected.
const IDLE: Duration = Duration::from_secs(3600);

/// Time in which a guest must log in.
const LOGIN: Duration = Duration::from_secs(120);

/// Delay of the answer to a wrong password, and how many of them end the connection.
const WRONG_PASSWORD: Duration = Duration::from_secs(1);
const MAX_WRONG_PASSWORDS: u32 = 5;

pub(super) struct Guest {
    connection: Connection,
    lobby: Handle<Lobby>,
    stop: CancellationToken,
    name: Option<String>,
    log_in_by: Instant,
    wrong_passwords: u32,
}

impl Guest {
    pub(super) fn new(connection: Connection, lobby: Handle<Lobby>, stop: CancellationToken) -> Guest {
        Guest { connection, lobby, stop, name: None, log_in_by: Instant::now() + LOGIN, wrong_passwords: 0 }
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
                Next::WrongPassword => Next::Stay,
                Next::Wait(outcome) => self.wait(outcome).await,
                Next::Play(link) => return link.play(self.connection, self.stop).await,
                Next::Rejoin { game, name, reconnect } => {
                    let link = PlayerLink::rejoin(game, name, reconnect).await;
                    link.map_or(Next::Leave, Next::Play)
                }
            }
        }
    }

    async fn step(&mut self) -> Next {
        let patience = if self.name.is_none() { self.log_in_by } else { Instant::now() + IDLE };
        let heard = select! {
            heard = timeout_at(patience, self.connection.hear()) => heard,
            () = self.stop.cancelled() => return self.stopped().await,
        };
        let Ok(Heard::Line(incoming)) = heard else { return Next::Leave };
        let response = match incoming.line.as_deref().map(str::trim) {
            Ok("") => return Next::Stay,
            Ok(line) => match Command::parse(line) {
                Ok(command) => {
                    let (name, from) = (self.name.clone(), self.connection.place.from);
                    self.lobby.call(move |lobby| lobby.obey(name, from, command)).await
                }
                Err(error) => Some(Response::say(refusal(&error))),
            },
            Err(_) => Some(Response::say(unknown())),
        };
        let Some(Response { text, login, next }) = response else { return self.stopped().await };
        if let Next::WrongPassword = next {
            return self.wrong_password(&text).await;
        }
        if login.is_some()
            && let Err(full) = self.connection.place.move_to(Pool::Players)
        {
            let _ = self.connection.say(&reply(503, full.to_string())).await;
            return Next::Leave;
        }
        self.name = login.or(self.name.take());
        if self.connection.say(&text).await.is_err() {
            return Next::Leave;
        }
        next
    }

    /// Answers late, so that nobody can try many.
    async fn wrong_password(&mut self, text: &str) -> Next {
        select! {
            () = sleep(WRONG_PASSWORD) => {}
            () = self.stop.cancelled() => return self.stopped().await,
        }
        self.wrong_passwords += 1;
        match self.connection.say(text).await {
            Ok(()) if self.wrong_passwords < MAX_WRONG_PASSWORDS => Next::Stay,
            _ => Next::Leave,
        }
    }

    /// Waits for the outcome of an offer; nothing is answered meanwhile. The offer of a guest who leaves goes with the
    /// receiver of its outcome.
    async fn wait(&mut self, outcome: oneshot::Receiver<OfferOutcome>) -> Next {
        let outcome = select! {
            biased;
            outcome = timeout_at(Instant::now() + IDLE, outcome) => outcome,
            () = self.connection.gone() => return Next::Leave,
            () = self.stop.cancelled() => return self.stopped().await,
        };
        match outcome {
            Ok(Ok(OfferOutcome::Taken { link, is_there })) => {
                let _ = is_there.send(!self.connection.is_gone());
                Next::Play(link)
            }
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
