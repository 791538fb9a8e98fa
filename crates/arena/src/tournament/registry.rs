//! Access to tournaments for the fronts.

use std::{collections::BTreeMap, sync::Arc};

use tokio::sync::watch;

use tokio::sync::oneshot;

use super::{
    actor::TournamentActor,
    admission::{Applicant, JoinError},
    command::{Command, CommandError},
    pairing::SeatNo,
};
use crate::{
    client::Client,
    jobs::Handle,
    message::Request,
    name::{Name, printable},
    tag::GameTag,
};

/// Place of a player in a tournament, held by the connection.
#[derive(Debug)]
pub(crate) struct Seat {
    tournament: Handle<TournamentActor>,
    number: SeatNo,
    client: Client,
}

impl Seat {
    /// Passes on a message. A tournament that is over closes the connection by itself.
    pub(crate) async fn send(&self, request: Request) {
        let (seat, client) = (self.number, self.client.clone());
        self.tournament.send(move |tournament| tournament.answer(seat, &client, request)).await;
    }

    /// Gives up the seat: the player has disconnected.
    pub(crate) async fn leave(self) {
        let Seat { tournament, number, client } = self;
        tournament.send(move |tournament| tournament.leave(number, &client)).await;
    }
}

/// Tournaments by their names, those that are over too.
pub(super) type Tournaments = BTreeMap<Name, Handle<TournamentActor>>;

/// All tournaments of an arena, also those that are created while it runs.
#[derive(Clone, Debug)]
pub(crate) struct TournamentRegistry(watch::Receiver<Arc<Tournaments>>);

impl TournamentRegistry {
    pub(super) fn new(tournaments: watch::Receiver<Arc<Tournaments>>) -> Self {
        TournamentRegistry(tournaments)
    }

    fn tournaments(&self) -> Arc<Tournaments> {
        self.0.borrow().clone()
    }

    /// Returns the tournament of that name.
    pub(super) fn find(&self, name: &str) -> Option<Handle<TournamentActor>> {
        self.0.borrow().get(name).cloned()
    }

    /// Takes a seat in the tournament of that name.
    pub(crate) async fn join(&self, name: &str, applicant: Applicant) -> Result<Seat, JoinError> {
        let Some(tournament) = self.find(name) else {
            return Err(JoinError::Unknown(printable(name, 50)));
        };
        let client = applicant.client.clone();
        let joined = tournament.call(move |tournament| tournament.join(applicant)).await;
        let number = joined.unwrap_or_else(|| Err(JoinError::Over(printable(name, 50))))?;
        Ok(Seat { tournament, number, client })
    }

    /// Has the tournament of that name carry out an order; returns once it is on the disk.
    pub(crate) async fn command(&self, tournament: &str, command: Command) -> Result<(), CommandError> {
        let Some(handle) = self.find(tournament) else {
            return Err(CommandError::UnknownTournament(printable(tournament, 50)));
        };
        let (answer, answered) = oneshot::channel();
        handle.send(move |tournament| tournament.command(command, answer)).await;
        answered.await.unwrap_or_else(|_| Err(CommandError::Over(printable(tournament, 50))))
    }

    /// Shows a game to a client; returns whether there is such a game.
    pub(crate) async fn watch(&self, game: GameTag, client: &Client) -> bool {
        for tournament in self.tournaments().values() {
            let client = client.clone();
            if tournament.call(move |tournament| tournament.watch(game, client)).await == Some(true) {
                return true;
            }
        }
        false
    }

    /// Shows a game to a client no longer.
    pub(crate) async fn unwatch(&self, game: GameTag, client: &Client) {
        for tournament in self.tournaments().values() {
            let client = client.clone();
            tournament.send(move |tournament| tournament.unwatch(game, &client)).await;
        }
    }
}
