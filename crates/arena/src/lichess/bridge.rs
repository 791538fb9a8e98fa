//! The seat of one account in a class tournament: passes messages between the tournament and the Lichess server.
//!
//! A bridge is a task of its own, which waits for the tournament so that the server never does.

use tokio::{select, sync::mpsc, time::Instant};
use tokio_util::sync::CancellationToken;
use zeitnot_pairing::Name;
use zeitnot_wire::lichess::UserId;

use super::{actor::ServerHandle, game::Order};
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
    /// The last pairing, and whether it is acknowledged.
    pub(super) paired: Option<(String, bool)>,
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
            if let Order::Online = order {
                while !stop.is_cancelled() && self.join(&registry, &server, &stop).await {}
            }
        }
    }

    /// Takes the seat until it is lost; returns whether the account is online then.
    async fn join(
        &mut self,
        registry: &TournamentRegistry,
        server: &ServerHandle,
        stop: &CancellationToken,
    ) -> bool {
        let (client, mut outbox) = Client::channel(stop.child_token());
        let applicant = Applicant { name: self.name.clone(), proof: Proof::Account, client };
        let seat = match registry.join(self.tournament.as_str(), applicant).await {
            Ok(seat) => seat,
            Err(refusal) => {
                match refusal {
                    JoinError::Over(_) => tracing::debug!("Lichess: {}: {refusal}", self.name),
                    _ => tracing::warn!("Lichess: {} cannot play: {refusal}", self.name),
                }
                return false;
            }
        };
        self.paired = None;
        loop {
            select! {
                notice = outbox.next() => {
                    let Some(notice) = notice else { break };
                    if let Notice::GamePaired { game, .. } = &notice {
                        self.paired = Some((game.to_string(), false));
                    }
                    if self.tell(server, Some(notice)).await {
                        self.acknowledge(&seat).await;
                    }
                }
                Some(order) = self.orders.recv() => match order {
                    Order::Online => self.acknowledge(&seat).await,
                    Order::Send(request) => self.send(&seat, request).await,
                }
            }
        }
        seat.leave().await;
        self.tell(server, None).await
    }

    /// Acknowledges the pairing. An account that is not online does not: the tournament waits, and then takes the seat
    /// back.
    async fn acknowledge(&mut self, seat: &Seat) {
        if let Some((game, is_acknowledged @ false)) = &mut self.paired {
            *is_acknowledged = true;
            seat.send(Request::Ack { game: game.clone() }).await;
        }
    }

    /// Sends a message, unless it is about a game that is over: once the next one has begun, it would cost the seat.
    async fn send(&self, seat: &Seat, request: Request) {
        let (Request::Move { game, .. } | Request::Resign { game, .. }) = &request else { return };
        if self.paired.as_ref().is_some_and(|(paired, _)| paired == game) {
            seat.send(request).await;
        }
    }

    /// Tells the server a notice, or with `None` that the seat is lost; returns whether the account is online.
    async fn tell(&self, server: &ServerHandle, notice: Option<Notice>) -> bool {
        let (account, now) = (self.account.clone(), Instant::now());
        server.call_first(move |server| server.class_notice(&account, notice, now)).await == Some(true)
    }
}
