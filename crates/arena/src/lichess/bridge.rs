//! The seat of one account in a class tournament: passes messages between the tournament and the Lichess server.
//!
//! A bridge is a task of its own, which waits for the tournament so that the server never does.

use tokio::{select, sync::mpsc, time::Instant};
use tokio_util::sync::CancellationToken;
use zeitnot_pairing::Name;
use zeitnot_wire::lichess::UserId;

use super::{actor::ServerHandle, class::Order};
use crate::{
    client::Client,
    message::{Notice, Request},
    tournament::{Applicant, JoinError, Proof, Seat, TournamentRegistry},
};

#[derive(Debug)]
pub(super) struct Bridge {
    pub(super) account: UserId,
    pub(super) name: Name,
    pub(super) tournament: Name,
    pub(super) orders: mpsc::Receiver<Order>,
    /// The game that the account acknowledged last.
    pub(super) game: Option<String>,
}

impl Bridge {
    /// Runs until `stop`, or until the server is gone.
    pub(super) async fn run(
        mut self,
        registry: TournamentRegistry,
        server: ServerHandle,
        stop: CancellationToken,
    ) {
        while let Some(Some(order)) = stop.run_until_cancelled(self.orders.recv()).await {
            if let Order::Join = order {
                self.join(&registry, &server, &stop).await;
            }
        }
    }

    async fn join(&mut self, registry: &TournamentRegistry, server: &ServerHandle, stop: &CancellationToken) {
        let (client, mut outbox) = Client::channel(stop.child_token());
        let applicant = Applicant { name: self.name.clone(), proof: Proof::Account, client };
        let seat = match registry.join(self.tournament.as_str(), applicant).await {
            Ok(seat) => seat,
            Err(over @ JoinError::Over(_)) => return tracing::debug!("Lichess: {}: {over}", self.name),
            Err(refusal) => return tracing::warn!("Lichess: {} cannot play: {refusal}", self.name),
        };
        loop {
            select! {
                message = outbox.next() => {
                    let Some(message) = message else { break };
                    if let Some(reply) = self.tell(server, Some(message)).await {
                        self.send(&seat, reply).await;
                    }
                }
                Some(order) = self.orders.recv() => {
                    if let Order::Send(request) = order {
                        self.send(&seat, request).await;
                    }
                }
            }
        }
        seat.leave().await;
        self.tell(server, None).await;
    }

    /// Sends a message, unless it is about a game that is over: once the next one has begun, it would cost the seat.
    async fn send(&mut self, seat: &Seat, request: Request) {
        match &request {
            Request::Ack { game } => self.game = Some(game.clone()),
            Request::Move { game, .. } | Request::Resign { game } if self.game.as_ref() != Some(game) => {
                return;
            }
            _ => {}
        }
        seat.send(request).await;
    }

    /// Tells the server a message, or with `None` that the seat is lost; returns the account's answer.
    async fn tell(&self, server: &ServerHandle, message: Option<Notice>) -> Option<Request> {
        let account = self.account.clone();
        server.call_first(move |server| server.class_message(&account, message, Instant::now())).await?
    }
}
