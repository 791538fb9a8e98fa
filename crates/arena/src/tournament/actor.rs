//! Task of one tournament: takes what comes one by one, and has the part do it that owns the state. What concerns several
//! parts, and the order of events, is here.

use std::path::PathBuf;

use tokio::{
    select,
    time::{Instant, sleep_until},
};
use tokio_util::sync::CancellationToken;
use zeitnot_net::wait::until;
use zeitnot_pairing::{Name, PairingSystem, SeatNo, format::MAX_PLAYERS, standings::Standings};
use zeitnot_wire::printable;

use super::{
    admission::Admission,
    boards::Boards,
    config::TournamentConfig,
    invitations::Invitations,
    journal::{Journal, Settled},
    players::{Doing, Players, SeatLimits},
    progress::Progress,
    record::Record,
    reports::Reports,
    restore::Restored,
    starts::Starts,
};
use crate::{client::Client, message::Request, news::Event};
use zeitnot_engine::priority;
use zeitnot_host::{
    database::{Database, Fact, Opened},
    jobs::{self, Handle, Job, Jobs},
    store::{Store, StoreActor},
    tag::GameTag,
};

mod breakdown;
mod edit;
mod endings;
mod orders;
mod page;
mod rounds;
mod seats;
#[cfg(feature = "simulation")]
pub mod simulation;
#[cfg(test)]
mod tests;

use endings::Departure;

pub(crate) use edit::EditError;

/// Outcome of a tournament.
#[derive(Clone, Debug)]
pub struct TournamentSummary {
    /// Its name.
    pub name: Name,
    /// Final standings.
    pub standings: Standings,
    /// Everybody has met everybody. An open tournament is never complete.
    pub complete: bool,
    /// File of the games; `None` if there were none.
    pub pgn: Option<PathBuf>,
}

/// Next step of a tournament.
enum Turn {
    Job(Job<TournamentActor>),
    /// Something has taken too long.
    Expiry,
    Pairing,
    Settled(Settled),
}

#[derive(Debug)]
pub(crate) struct TournamentActor {
    config: TournamentConfig,
    jobs: Jobs<TournamentActor>,
    progress: Progress,
    /// Admission and players.
    admission: Admission,
    players: Players,
    /// Pairings, invitations, running games and results, in the order in which a pairing passes them.
    pairing: Box<dyn PairingSystem>,
    invitations: Invitations,
    boards: Boards,
    record: Record,
    /// Ways out: to the database, to the file of games, and to the page.
    journal: Journal,
    store: Store,
    reports: Reports,
}

impl TournamentActor {
    /// Creates a tournament, which goes on if it is one of a database, and its handle.
    pub(super) fn channel(
        config: TournamentConfig,
        admission: Admission,
        per_address: usize,
        starts: Starts,
        store: Store,
        mut reports: Reports,
        opened: Option<(Database, Opened)>,
    ) -> (Handle<TournamentActor>, TournamentActor) {
        let (handle, jobs) = jobs::channel();
        let limits = SeatLimits { seats: MAX_PLAYERS, per_address, hold: config.name_held };
        let (mut restored, mut journal) = (Restored::new(&config, limits), Journal::none());
        let mut boards = Boards::new(starts);
        if let Some((database, Opened { history, .. })) = opened {
            restored.replay(&history);
            boards.replay(&history);
            reports.replay(&history);
            journal = Journal::new(database, &history);
        }
        let Restored { progress, players, pairing, record, lost_byes } = restored;
        lost_byes.into_iter().for_each(|bye| journal.note(bye));
        let mut actor = TournamentActor {
            progress,
            players,
            admission,
            pairing,
            record,
            invitations: Invitations::default(),
            boards,
            journal,
            config,
            store,
            reports,
            jobs,
        };
        // Whoever had only joined comes anew, or not.
        let seats = actor.players.iter().map(|(seat, player)| (seat, player.name.clone()));
        for (seat, name) in seats.collect::<Vec<_>>() {
            if actor.is_dispensable(seat, &name) {
                actor.free(seat, &name);
            }
        }
        // Whoever hears of it finds it on the page.
        actor.show_on_page(false);
        (handle, actor)
    }

    /// Runs until all is played, until it is deleted, or until `stop`; then all games are on the disk. Where there is a
    /// page, corrections are taken until `stop`; `over` is cancelled when all is played.
    pub(crate) async fn run(
        mut self,
        writer: StoreActor,
        stop: CancellationToken,
        over: CancellationToken,
    ) -> TournamentSummary {
        let writing = writer.spawn(priority::usual);
        let mut next_pairing = Instant::now();
        while !self.is_complete() && !self.progress.is_deleted() {
            let deadline = self.deadline();
            let turn = select! {
                () = stop.cancelled() => break,
                Some(job) = self.jobs.recv() => Turn::Job(job),
                () = until(deadline) => Turn::Expiry,
                () = sleep_until(next_pairing) => Turn::Pairing,
                Some(settled) = self.journal.settled() => Turn::Settled(settled),
            };
            let is_pairing = matches!(turn, Turn::Pairing);
            self.take(turn);
            if is_pairing {
                next_pairing = Instant::now() + self.config.pairing_interval;
            }
        }
        let complete = self.is_complete();
        self.close(complete).await;
        match self.progress.is_deleted() {
            true => self.reports.live().delete_tournament(self.config.name.to_string()).await,
            false => self.show_on_page(complete),
        }
        over.cancel();
        if complete && self.reports.live().is_on() {
            self.take_corrections(&stop).await;
        }
        let TournamentActor { config, record, store, .. } = self;
        drop(store);
        let pgn = writing.join().await;
        TournamentSummary { name: config.name, standings: record.standings().clone(), complete, pgn }
    }

    /// Does what is next, and then what follows from it.
    fn take(&mut self, turn: Turn) {
        match turn {
            Turn::Job(job) => self.contain(job),
            Turn::Expiry => {
                jobs::waiting(&mut self.jobs).into_iter().for_each(|job| self.contain(job));
                self.contain(|actor| actor.expire(Instant::now()));
            }
            Turn::Pairing => self.contain(Self::pair),
            Turn::Settled(settled) => self.contain(|actor| actor.settle(settled)),
        }
        self.contain(Self::conclude_games);
        self.show_on_page(false);
    }

    /// Shows a game to a client from now on; returns whether there is such a game.
    pub(super) fn watch(&mut self, game: GameTag, client: Client) -> bool {
        self.boards.watch(game, client)
    }

    pub(super) fn unwatch(&mut self, game: GameTag, client: &Client) {
        self.boards.unwatch(game, client);
    }

    /// Answers a player. A connection that has lost its seat is ignored.
    pub(super) fn answer(&mut self, seat: SeatNo, client: &Client, request: Request) {
        let Some(player) = self.players.seated(seat, client) else { return };
        let (doing, named, game) = match &request {
            Request::Say { to, text } => return self.players.chat(seat, client, to, text),
            Request::Ack { game } | Request::Move { game, .. } | Request::Resign { game, .. } => {
                (player.doing, GameTag::read(game), printable(game, 50))
            }
        };
        match doing {
            Doing::Invited(tag) if named == Some(tag) => match request {
                Request::Ack { .. } => self.accept(tag, seat),
                _ => client.info("The game has not started, both players have to ACK it first"),
            },
            Doing::Playing(tag) if named == Some(tag) => {
                let Some((game, color)) = self.boards.game(tag, seat) else { return };
                match request {
                    Request::Move { mv, read_at, .. } => game.play(color, &mv, read_at),
                    Request::Resign { read_at, .. } => game.resign(color, read_at),
                    _ => client.info("The game has started already"),
                }
            }
            // A player who plays has one game to speak of.
            Doing::Playing(tag) => client.throw_out(format!("You are playing game {tag}, not {game}")),
            Doing::Waiting | Doing::Invited(_) => {
                if let Request::Move { mv, .. } = &request {
                    self.players.note_late(seat, &game, mv);
                }
                client.info(format!("You are not in game {game}"));
            }
        }
    }

    /// When [`TournamentActor::expire`] has something to do.
    fn deadline(&self) -> Option<Instant> {
        let times = self.invitations.deadlines().chain(self.boards.deadlines());
        let times = times.chain(self.absent().map(|(_, until)| until));
        times.chain(self.reports.due().filter(|_| !self.journal.has_orders())).min()
    }

    /// Absent players, and when each is absent for too long; only a tournament with an end cannot wait. Results that are
    /// on their way count first.
    fn absent(&self) -> impl Iterator<Item = (SeatNo, Instant)> {
        let counts = self.progress.has_begun() && self.progress.goes_on() && self.journal.is_settled();
        self.players.absent(self.config.absent_after).filter(move |_| counts)
    }

    fn expire(&mut self, now: Instant) {
        self.boards.tick(now);
        for (game, silent) in self.invitations.late(now) {
            self.dismiss_silent(game, silent);
        }
        let absent = self.absent().filter(|(_, until)| *until <= now);
        for seat in absent.map(|(seat, _)| seat).collect::<Vec<_>>() {
            self.withdraw(seat, Departure::Absence);
        }
    }

    fn is_complete(&self) -> bool {
        // During a pause results can still be corrected.
        self.progress.has_begun()
            && self.progress.goes_on()
            && self.boards.is_empty()
            && self.journal.is_settled()
            && self.pairing.is_complete()
    }

    /// Takes in at once what nobody waits for.
    fn note(&mut self, fact: Fact) {
        self.record.apply_fact(&fact);
        self.journal.note(fact);
    }

    fn report(&mut self, event: Event) {
        self.reports.event(&self.config.name, event);
    }
}
