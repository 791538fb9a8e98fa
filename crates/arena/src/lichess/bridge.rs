//! The seat of one account in a class tournament: passes messages between the tournament and the Lichess server.
//!
//! A bridge is a task of its own, which waits for the tournament so that the server never does.

use tokio::{select, sync::mpsc, time::Instant};
use tokio_util::sync::CancellationToken;
use zeitnot_wire::{
    contest::{FromClient, FromServer},
    lichess::UserId,
};

use super::{class::Order, server::ServerHandle};
use crate::{
    Name,
    client::Client,
    delay::Delay,
    tournament::{Hall, Refusal, Seat},
};

/// See the module documentation.
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
    pub(super) async fn run(mut self, hall: Hall, server: ServerHandle, stop: CancellationToken) {
        while let Some(Some(order)) = stop.run_until_cancelled(self.orders.recv()).await {
            if let Order::Join = order {
                self.join(&hall, &server, &stop).await;
            }
        }
    }

    /// Takes the seat and keeps it until it is lost.
    async fn join(&mut self, hall: &Hall, server: &ServerHandle, stop: &CancellationToken) {
        let (client, mut outbox) = Client::channel(stop.child_token(), Delay::default());
        let seat = match hall.join(self.tournament.as_str(), self.name.clone(), client).await {
            Ok(seat) => seat,
            Err(over @ Refusal::Over(_)) => return tracing::debug!("Lichess: {}: {over}", self.name),
            Err(refusal) => return tracing::warn!("Lichess: {} cannot play: {refusal}", self.name),
        };
        loop {
            select! {
                message = outbox.next() => {
                    let Some(message) = message else { break };
                    if let Some(reply) = self.tell(server, Some(message)).await {
                        self.send(&seat, reply, Instant::now()).await;
                    }
                }
                Some(order) = self.orders.recv() => {
                    if let Order::Send(message, at) = order {
                        self.send(&seat, message, at).await;
                    }
                }
            }
        }
        seat.leave().await;
        self.tell(server, None).await;
    }

    /// Sends a message, unless it is about a game that is over: once the next one has begun, it would cost the seat.
    async fn send(&mut self, seat: &Seat, message: FromClient, at: Instant) {
        match &message {
            FromClient::Ack { game } => self.game = Some(game.clone()),
            FromClient::Move { game, .. } | FromClient::Resign { game }
                if self.game.as_ref() != Some(game) =>
            {
                return;
            }
            _ => {}
        }
        seat.say(message, at).await;
    }

    /// Tells the server a message, or with `None` that the seat is lost; returns the account's answer.
    async fn tell(&self, server: &ServerHandle, message: Option<FromServer>) -> Option<FromClient> {
        let account = self.account.clone();
        server.call(move |server| server.class_message(&account, message, Instant::now())).await?
    }
}
