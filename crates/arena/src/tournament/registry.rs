//! Access to tournaments for the fronts.

use std::sync::Arc;

use super::{
    actor::TournamentActor,
    admission::{Applicant, JoinError},
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

/// All tournaments of an arena.
#[derive(Clone, Debug)]
pub(crate) struct TournamentRegistry(Arc<[(Name, Handle<TournamentActor>)]>);

impl TournamentRegistry {
    pub(crate) fn new(tournaments: Vec<(Name, Handle<TournamentActor>)>) -> Self {
        TournamentRegistry(tournaments.into())
    }

    /// Takes a seat in the tournament of that name.
    pub(crate) async fn join(&self, name: &str, applicant: Applicant) -> Result<Seat, JoinError> {
        let Some((name, tournament)) = self.0.iter().find(|(known, _)| known.as_str() == name) else {
            return Err(JoinError::Unknown(printable(name, 50)));
        };
        let client = applicant.client.clone();
        let joined = tournament.call(move |tournament| tournament.join(applicant)).await;
        let number = joined.unwrap_or_else(|| Err(JoinError::Over(name.clone())))?;
        Ok(Seat { tournament: tournament.clone(), number, client })
    }

    /// Shows a game to a client; returns whether there is such a game.
    pub(crate) async fn watch(&self, game: GameTag, client: &Client) -> bool {
        for (_, tournament) in self.0.iter() {
            let client = client.clone();
            if tournament.call(move |tournament| tournament.watch(game, client)).await == Some(true) {
                return true;
            }
        }
        false
    }

    /// Shows a game to a client no longer.
    pub(crate) async fn unwatch(&self, game: GameTag, client: &Client) {
        for (_, tournament) in self.0.iter() {
            let client = client.clone();
            tournament.send(move |tournament| tournament.unwatch(game, &client)).await;
        }
    }
}
