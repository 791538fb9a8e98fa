//! Access to tournaments for the fronts.

use std::sync::Arc;

use tokio::sync::{mpsc, oneshot};

use super::pairing::SeatNo;
use crate::{
    client::Client,
    message::Request,
    name::{Name, printable},
    tag::GameTag,
};

/// Handle of a tournament.
#[derive(Clone, Debug)]
pub(crate) struct TournamentHandle {
    pub(super) name: Name,
    pub(super) commands: mpsc::Sender<Command>,
}

/// Command to a tournament.
#[derive(Debug)]
pub(super) enum Command {
    /// A player joins.
    Join { name: Name, client: Client, reply: oneshot::Sender<Result<SeatNo, JoinError>> },
    /// A player sent a message.
    Request { seat: SeatNo, client: Client, request: Request },
    /// A player has disconnected.
    Leave { seat: SeatNo, client: Client },
    /// A client watches a game; the reply says whether it is one of this tournament.
    Watch { game: GameTag, client: Client, reply: oneshot::Sender<bool> },
    /// A client no longer watches a game.
    Unwatch { game: GameTag, client: Client },
}

/// Why a player cannot join.
#[derive(Debug, thiserror::Error)]
pub(crate) enum JoinError {
    #[error("Unknown tournament {0}")]
    Unknown(String),
    #[error("Name {0} is already taken")]
    Taken(Name),
    #[error("Tournament {0} is full")]
    Full(Name),
    #[error("Tournament {0} is over")]
    Over(Name),
}

/// Place of a player in a tournament, held by the connection.
#[derive(Debug)]
pub(crate) struct Seat {
    tournament: TournamentHandle,
    number: SeatNo,
    client: Client,
}

impl TournamentHandle {
    async fn join(&self, name: Name, client: Client) -> Result<Seat, JoinError> {
        let over = || JoinError::Over(self.name.clone());
        let (reply, answer) = oneshot::channel();
        let join = Command::Join { name, client: client.clone(), reply };
        self.commands.send(join).await.map_err(|_| over())?;
        let number = answer.await.map_err(|_| over())??;
        Ok(Seat { tournament: self.clone(), number, client })
    }

    async fn watch(&self, game: GameTag, client: Client) -> bool {
        let (reply, answer) = oneshot::channel();
        let sent = self.commands.send(Command::Watch { game, client, reply }).await;
        sent.is_ok() && answer.await.unwrap_or(false)
    }
}

impl Seat {
    /// Passes on a message. A tournament that is over closes the connection by itself.
    pub(crate) async fn send(&self, request: Request) {
        let (seat, client) = (self.number, self.client.clone());
        let _ = self.tournament.commands.send(Command::Request { seat, client, request }).await;
    }

    /// Gives up the seat: the player has disconnected.
    pub(crate) async fn leave(self) {
        let Seat { tournament, number: seat, client } = self;
        let _ = tournament.commands.send(Command::Leave { seat, client }).await;
    }
}

/// All tournaments of an arena.
#[derive(Clone, Debug)]
pub(crate) struct TournamentRegistry(Arc<[TournamentHandle]>);

impl TournamentRegistry {
    pub(crate) fn new(tournaments: Vec<TournamentHandle>) -> Self {
        TournamentRegistry(tournaments.into())
    }

    /// Takes a seat in the tournament of that name.
    pub(crate) async fn join(
        &self,
        tournament: &str,
        player: Name,
        client: Client,
    ) -> Result<Seat, JoinError> {
        match self.0.iter().find(|handle| handle.name.as_str() == tournament) {
            Some(tournament) => tournament.join(player, client).await,
            None => Err(JoinError::Unknown(printable(tournament, 50))),
        }
    }

    /// Shows a game to a client; returns whether there is such a game.
    pub(crate) async fn watch(&self, game: GameTag, client: &Client) -> bool {
        for tournament in self.0.iter() {
            if tournament.watch(game, client.clone()).await {
                return true;
            }
        }
        false
    }

    /// Shows a game to a client no longer.
    pub(crate) async fn unwatch(&self, game: GameTag, client: &Client) {
        for tournament in self.0.iter() {
            let _ = tournament.commands.send(Command::Unwatch { game, client: client.clone() }).await;
        }
    }
}
