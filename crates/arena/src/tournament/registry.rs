//! Access to tournaments for the fronts.

use std::{collections::BTreeMap, sync::Arc};

use tokio::sync::{mpsc, oneshot, watch};
use zeitnot_pairing::{Name, SeatNo};
use zeitnot_rules::GameResult;
use zeitnot_wire::printable;

use super::{
    actor::TournamentActor,
    admission::{Applicant, JoinError},
    command::{Command, CommandError},
};
use crate::{client::Client, message::Request};
use zeitnot_host::{jobs::Handle, note::Note, tag::GameTag};

/// Names of tournaments in a refusal.
const MAX_LISTED: usize = 5;

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
pub(crate) struct TournamentRegistry {
    tournaments: watch::Receiver<Arc<Tournaments>>,
    strangers: mpsc::Sender<Stranger>,
}

/// Somebody whom no tournament can refuse: there is none of that name, or it is over.
#[derive(Debug)]
pub(super) struct Stranger {
    pub(super) name: String,
    pub(super) reason: String,
}

impl TournamentRegistry {
    pub(super) fn new(
        tournaments: watch::Receiver<Arc<Tournaments>>,
        strangers: mpsc::Sender<Stranger>,
    ) -> Self {
        TournamentRegistry { tournaments, strangers }
    }

    fn tournaments(&self) -> Arc<Tournaments> {
        self.tournaments.borrow().clone()
    }

    /// Returns the tournament of that name.
    pub(super) fn find(&self, name: &str) -> Option<Handle<TournamentActor>> {
        self.tournaments.borrow().get(name).cloned()
    }

    /// Returns the names of the tournaments for a player who has asked for another one.
    fn known(&self) -> String {
        let tournaments = self.tournaments();
        let first: Vec<_> = tournaments.keys().take(MAX_LISTED).map(Name::as_str).collect();
        match tournaments.len() - first.len() {
            _ if first.is_empty() => "none".to_owned(),
            0 => first.join(", "),
            more => format!("{} and {more} more", first.join(", ")),
        }
    }

    /// Takes a seat in the tournament of that name.
    pub(crate) async fn join(&self, name: &str, applicant: Applicant) -> Result<Seat, JoinError> {
        let (client, player) = (applicant.client.clone(), applicant.name.clone());
        let (joined, tournament) = match self.find(name) {
            Some(tournament) => {
                let joined = tournament.call(move |tournament| tournament.join(applicant)).await;
                (joined.ok_or_else(|| JoinError::Over(printable(name, 50))), tournament)
            }
            None => {
                let unknown = JoinError::Unknown { name: printable(name, 50), known: self.known() };
                self.note_stranger(player.as_str(), &unknown);
                return Err(unknown);
            }
        };
        if let Err(over) = &joined {
            self.note_stranger(player.as_str(), over);
        }
        let number = joined.flatten()?;
        Ok(Seat { tournament, number, client })
    }

    /// Notes that somebody was refused before a tournament could do so.
    pub(crate) async fn note_refusal(&self, tournament: &str, player: &str, reason: String) {
        match self.find(tournament) {
            Some(tournament) => {
                let player = player.to_owned();
                tournament.send(move |tournament| tournament.note_refusal(&player, &reason)).await;
            }
            None => self.note_stranger(player, &reason),
        }
    }

    /// Never waits: where too many wait to be noted, one more is not.
    fn note_stranger(&self, name: &str, reason: &impl ToString) {
        let _ = self.strangers.try_send(Stranger { name: name.to_owned(), reason: reason.to_string() });
    }

    /// Has the tournament of that name carry out an order; returns once it is settled: on the disk,
    /// unless the disk fails or does not answer in time.
    pub(crate) async fn command(&self, tournament: &str, command: Command) -> Result<(), CommandError> {
        let Some(handle) = self.find(tournament) else {
            return Err(CommandError::UnknownTournament(printable(tournament, 50)));
        };
        let (answer, answered) = oneshot::channel();
        handle.send(move |tournament| tournament.command(command, answer)).await;
        answered.await.unwrap_or_else(|_| Err(CommandError::Over(printable(tournament, 50))))
    }

    /// Corrects the result of a game, whichever tournament it belongs to.
    pub(crate) async fn correct(
        &self,
        game: String,
        result: Option<GameResult>,
        note: Note,
    ) -> Result<(), CommandError> {
        for tournament in self.tournaments().keys() {
            let command = Command::Correct { game: game.clone(), result, note: note.clone() };
            match self.command(tournament.as_str(), command).await {
                // It may be another one's.
                Err(error) if error.is_unknown() || matches!(error, CommandError::Over(_)) => {}
                answer => return answer,
            }
        }
        Err(CommandError::UnknownGame(printable(&game, 50)))
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

#[cfg(test)]
mod tests {
    use zeitnot_host::jobs;

    use super::*;

    #[test]
    fn a_refusal_lists_a_few_tournaments() {
        let listed = |count: usize| {
            let named = |at| (Name::try_from(format!("cup-{at}")).unwrap(), jobs::channel().0);
            let tournaments: Tournaments = (1..=count).map(named).collect();
            let (_published, tournaments) = watch::channel(Arc::new(tournaments));
            TournamentRegistry::new(tournaments, mpsc::channel(1).0).known()
        };
        assert_eq!(listed(0), "none");
        assert_eq!(listed(5), "cup-1, cup-2, cup-3, cup-4, cup-5");
        assert_eq!(listed(7), "cup-1, cup-2, cup-3, cup-4, cup-5 and 2 more");
    }
}
