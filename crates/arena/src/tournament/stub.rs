//! How the rest of the arena reaches a tournament: stubs, and what can be asked of it.

use std::sync::Arc;

use tokio::{
    sync::{mpsc, oneshot},
    time::Instant,
};

use zeitnot_rules::Game;
use zeitnot_wire::contest::FromClient;

use super::TournamentActor;
use crate::{
    GameTag, Name, TournamentConfig, client::Client, name::printable, news::Desk, pairing::SeatNo,
    store::Store,
};

/// Commands that may wait for one tournament. Each connection waits with the next until this one is taken.
const QUEUE: usize = 256;

/// Reaches a tournament.
#[derive(Clone, Debug)]
pub(crate) struct Tournament {
    name: Name,
    commands: mpsc::Sender<Command>,
}

/// What a tournament can be told.
#[derive(Debug)]
pub(super) enum Command {
    /// Somebody wants to play.
    Join { name: Name, client: Client, reply: oneshot::Sender<Result<SeatNo, Refusal>> },
    /// A player says something; its bytes were read then.
    Hear { seat: SeatNo, client: Client, message: FromClient, read_at: Instant },
    /// A player's connection is gone.
    Leave { seat: SeatNo, client: Client },
    /// Somebody wants to see a game; the reply says whether it is one of ours.
    Watch { game: GameTag, client: Client, reply: oneshot::Sender<bool> },
    /// Somebody has seen enough of a game.
    Unwatch { game: GameTag, client: Client },
}

/// Why somebody cannot play.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Refusal {
    #[error("Unknown tournament {0}")]
    Unknown(String),
    #[error("Name {0} is already taken")]
    Taken(Name),
    #[error("Tournament {0} is full")]
    Full(Name),
    #[error("Tournament {0} is over")]
    Over(Name),
}

/// A player's place in a tournament, held by the connection.
#[derive(Debug)]
pub(crate) struct Seat {
    tournament: Tournament,
    number: SeatNo,
    client: Client,
}

impl Tournament {
    /// A tournament that has not begun, and its stub.
    pub fn channel<G: Game>(
        config: TournamentConfig,
        openings: Vec<G>,
        store: Store,
        news: Desk,
    ) -> (Tournament, TournamentActor<G>) {
        let (tx, rx) = mpsc::channel(QUEUE);
        let stub = Tournament { name: config.name.clone(), commands: tx };
        (stub, TournamentActor::new(config, openings, store, news, rx))
    }

    async fn join(&self, name: Name, client: Client) -> Result<Seat, Refusal> {
        let over = || Refusal::Over(self.name.clone());
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
    /// Passes on what the player said. A tournament that is over closes the connection by itself.
    pub async fn say(&self, message: FromClient, read_at: Instant) {
        let (seat, client) = (self.number, self.client.clone());
        let _ = self.tournament.commands.send(Command::Hear { seat, client, message, read_at }).await;
    }

    /// The connection is gone.
    pub async fn leave(self) {
        let Seat { tournament, number: seat, client } = self;
        let _ = tournament.commands.send(Command::Leave { seat, client }).await;
    }
}

/// All tournaments of an arena.
#[derive(Clone, Debug)]
pub(crate) struct Hall(Arc<[Tournament]>);

impl Hall {
    /// A hall with these.
    pub fn new(tournaments: Vec<Tournament>) -> Self {
        Hall(tournaments.into())
    }

    /// Takes a seat in the tournament of that name.
    ///
    /// # Errors
    /// [`Refusal`], in words for the player.
    pub async fn join(&self, tournament: &str, player: Name, client: Client) -> Result<Seat, Refusal> {
        match self.0.iter().find(|t| t.name.as_str() == tournament) {
            Some(tournament) => tournament.join(player, client).await,
            None => Err(Refusal::Unknown(printable(tournament, 50))),
        }
    }

    /// Shows a game to a client; is there such a game?
    pub async fn watch(&self, game: GameTag, client: &Client) -> bool {
        for tournament in self.0.iter() {
            if tournament.watch(game, client.clone()).await {
                return true;
            }
        }
        false
    }

    /// Shows it no more.
    pub async fn unwatch(&self, game: GameTag, client: &Client) {
        for tournament in self.0.iter() {
            let _ = tournament.commands.send(Command::Unwatch { game, client: client.clone() }).await;
        }
    }
}
