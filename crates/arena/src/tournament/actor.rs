//! Task of one tournament: pairs free players, waits for them to be ready, referees their games, keeps the standings.

use std::collections::BTreeMap;

use tokio::{
    select,
    task::spawn_blocking,
    time::{Instant, sleep_until},
};
use tokio_util::sync::CancellationToken;
use zeitnot_rules::{ByColor, Color, chess::Chess};

use super::{
    admission::{Admission, Applicant, JoinError},
    config::{MAX_PLAYERS, StartKind, TournamentConfig},
    game::{Setup, TournamentGame},
    journal::Journal,
    pairing::{Bye, Pairing, PairingSystem, SeatNo},
    pairing_log::{PairingLog, bye_row, revoked_row},
    past::PastGames,
    players::{Doing, Players, SeatLimits},
    progress::Progress,
    refusals::Refusals,
    restore::{BrokenOff, Restored},
    standings::{Standings, TournamentSummary},
    view::Publisher,
};
use crate::{
    client::Client,
    database::{Database, Fact, GameEnd, Opened},
    jobs::{self, Handle, Jobs},
    live::{Feed, view::JoinLine},
    message::{Notice, Request},
    name::{Name, printable},
    news::{Event, News, NewsSender},
    note::Note,
    places::Origin,
    referee::Cause,
    store::{Store, StoreActor},
    tag::GameTag,
    timer::until,
};

mod edit;
mod endings;
mod orders;
mod page;
#[cfg(test)]
mod tests;

use endings::Departure;

pub(crate) use edit::EditError;

#[derive(Debug)]
pub(crate) struct TournamentActor {
    config: TournamentConfig,
    admission: Admission,
    openings: Vec<Chess>,
    store: Store,
    reports: Reports,
    publisher: Publisher,
    jobs: Jobs<TournamentActor>,
    progress: Progress,
    players: Players,
    pairing: Box<dyn PairingSystem>,
    standings: Standings,
    pairings: PairingLog,
    invitations: BTreeMap<GameTag, Invitation>,
    /// Those whose result is on its way to the disk among them.
    running: BTreeMap<GameTag, Running>,
    /// Games that began.
    rounds: u32,
    /// Games without a result, which are to be played again.
    broken_off: Vec<BrokenOff>,
    past: PastGames,
    journal: Journal,
}

/// Game that waits for both players' `ACK`.
#[derive(Debug)]
struct Invitation {
    pairing: Pairing,
    acked: ByColor<bool>,
    until: Instant,
}

#[derive(Debug)]
struct Running {
    pairing: Pairing,
    names: ByColor<Name>,
    game: TournamentGame,
    /// Once it is handed over to the database.
    end: Option<GameEnd>,
    /// Its result counts in the standings.
    counts: bool,
    /// Note of the organiser, who has decided it.
    note: Option<Note>,
}

/// Receivers of what happens.
#[derive(Debug)]
pub(crate) struct Reports {
    pub(crate) news: NewsSender,
    pub(crate) live: Feed,
    /// Ways to join, for the page.
    pub(crate) joins: Vec<JoinLine>,
    pub(crate) refusals: Refusals,
}

impl TournamentActor {
    /// Creates a tournament, which goes on if it is one of a database, and its handle.
    pub(crate) fn channel(
        config: TournamentConfig,
        admission: Admission,
        per_address: usize,
        openings: Vec<Chess>,
        store: Store,
        reports: Reports,
        opened: Option<(Database, Opened)>,
    ) -> (Handle<TournamentActor>, TournamentActor) {
        let (handle, jobs) = jobs::channel();
        let limits = SeatLimits { seats: MAX_PLAYERS, per_address, hold: config.name_held };
        let (mut restored, mut journal) = (Restored::new(&config, limits), Journal::none());
        let mut pairings = PairingLog::new(reports.live.is_on());
        if let Some((database, Opened { history, .. })) = opened {
            restored.replay(&history);
            pairings.replay(&history);
            journal = Journal::new(database, &history);
        }
        let Restored { progress, players, pairing, standings, rounds, broken_off, past, lost_byes } =
            restored;
        for (player, Bye { round, is_revoked, .. }) in lost_byes {
            let fact =
                if is_revoked { Fact::ByeRevoked { player, round } } else { Fact::Bye { player, round } };
            journal.note(fact);
        }
        let mut actor = TournamentActor {
            progress,
            players,
            admission,
            pairing,
            standings,
            pairings,
            invitations: BTreeMap::new(),
            running: BTreeMap::new(),
            rounds,
            broken_off,
            past,
            journal,
            config,
            openings,
            store,
            reports,
            publisher: Publisher::default(),
            jobs,
        };
        // Whoever had only joined comes anew, or not.
        let seats = actor.players.seats.iter().map(|(seat, player)| (*seat, player.name.clone()));
        for (seat, name) in seats.collect::<Vec<_>>() {
            if actor.is_dispensable(seat, &name) {
                actor.free(seat, &name);
            }
        }
        // Whoever hears of it finds it on the page.
        actor.publish(false);
        (handle, actor)
    }

    /// Runs until all is played, or until `stop`; then all games are on the disk. Where there is a page, corrections are
    /// taken until `stop`; `over` is cancelled when all is played.
    pub(crate) async fn run(
        mut self,
        writer: StoreActor,
        stop: CancellationToken,
        over: CancellationToken,
    ) -> TournamentSummary {
        let writing = spawn_blocking(|| writer.run());
        let mut next_pairing = Instant::now();
        while !self.is_complete() {
            let deadline = self.deadline();
            select! {
                () = stop.cancelled() => break,
                Some(job) = self.jobs.recv() => job(&mut self),
                () = until(deadline) => self.expire(Instant::now()),
                () = sleep_until(next_pairing) => {
                    self.pair();
                    next_pairing = Instant::now() + self.config.pairing_interval;
                }
                Some(settled) = self.journal.settled() => self.settle(settled).await,
            }
            self.conclude_games();
            self.publish(false);
        }
        let complete = self.is_complete();
        self.close(complete).await;
        self.publish(complete);
        over.cancel();
        if complete && self.reports.live.is_on() {
            self.take_corrections(&stop).await;
        }
        let TournamentActor { config, standings, store, .. } = self;
        drop(store);
        let pgn = writing.await.unwrap_or_default();
        TournamentSummary { name: config.name, standings, complete, pgn }
    }

    pub(super) fn join(&mut self, applicant: Applicant) -> Result<SeatNo, JoinError> {
        if self.progress.is_over() {
            return Err(JoinError::Over(self.config.name.to_string()));
        }
        let name = applicant.name.clone();
        let joined = self.try_join(applicant);
        if let Err(error) = &joined {
            self.note_refusal(name.as_str(), error);
        }
        joined
    }

    /// Notes on the page and in the database that somebody was refused, or thrown out.
    pub(super) fn note_refusal(&mut self, player: &str, reason: &impl ToString) {
        self.reports.refusals.note(player, reason);
    }

    /// Answers a player who has joined.
    fn greet(&self, seat: SeatNo) {
        let Some(client) = self.players.seats.get(&seat).and_then(|player| player.client.as_ref()) else {
            return;
        };
        let (name, active) = (&self.config.name, self.players.clients().count());
        let begins = match self.config.start() {
            _ if !self.progress.is_waiting() => "",
            StartKind::Full => "; play begins when it is full",
            _ => "; play begins when the organiser says so",
        };
        client.tell_optional(Notice::Info(format!(
            "You joined tournament {name} ({active} active players){begins}"
        )));
    }

    fn try_join(&mut self, applicant: Applicant) -> Result<SeatNo, JoinError> {
        let admitted = self.admission.admit(&self.config.name, applicant)?;
        let name = admitted.name.clone();
        if let Some(note) = self.players.is_removed(&name) {
            return Err(JoinError::Removed { name, note });
        }
        let known = self.players.seat_of(name.as_str());
        if known.is_none() {
            self.check_newcomer(&name)?;
        }
        let holder = known.and_then(|seat| self.players.seats.get(&seat)).and_then(|player| player.holder);
        let is_noted = known.is_some() && holder == admitted.holder;
        // In a tournament with an end every seat counts.
        if self.progress.is_open() && known.is_none() {
            self.vacate(admitted.holder);
        }
        let holder = admitted.holder;
        let seat = self.players.join(&self.config.name, admitted, self.progress.has_begun())?;
        self.progress.seated(self.players.seats.len());
        if known.is_none() {
            self.players.expect_back();
        }
        self.standings.enter(seat, &name);
        if !is_noted {
            self.journal.note(Fact::Seated { player: name.clone(), seat: seat.0, holder });
        }
        self.pairing.enter(seat, &name);
        self.greet(seat);
        let active = self.players.clients().count();
        self.players.tell_others(seat, &format!("Player {name} joined tournament ({active} active players)"));
        self.report(Event::Joined(name));
        Ok(seat)
    }

    /// Checks whether there is a seat for somebody new: seats are kept for those whom a gauntlet names.
    fn check_newcomer(&self, name: &Name) -> Result<(), JoinError> {
        let (seats, max) = (self.players.seats.len(), self.config.max_players());
        let tournament = || self.config.name.clone();
        let is_here = |wanted: &Name| self.players.seats.values().any(|player| player.name == *wanted);
        let kept = self.config.gauntlet.iter().filter(|wanted| !is_here(wanted)).count();
        match self.progress.has_begun() {
            false if self.config.gauntlet.contains(name) || seats + kept < max => Ok(()),
            true if !self.progress.lets_late_in() && seats < max => Err(JoinError::HasBegun(tournament())),
            true if self.progress.lets_late_in() && !self.pairing.takes_late_entries() => {
                Err(JoinError::TooLate(tournament()))
            }
            // The number with which it begins is no limit for those who come late.
            true if self.progress.lets_late_in()
                && (seats < max || self.config.start() == StartKind::Full) =>
            {
                Ok(())
            }
            _ => Err(JoinError::Full(tournament())),
        }
    }

    /// Makes room for a newcomer from that address where names are used up: somebody who has left is forgotten.
    fn vacate(&mut self, holder: Option<Origin>) {
        let standings = &self.standings;
        let Some(seat) = self.players.to_vacate(holder, |name| standings.games(name)) else { return };
        if let Some(name) = self.players.seats.get(&seat).map(|player| player.name.clone()) {
            tracing::info!("{}: {name} is gone and makes room for others", self.config.name);
            self.free(seat, &name);
        }
    }

    /// Forgets a player and all results against others, who keep their points.
    fn free(&mut self, seat: SeatNo, name: &Name) {
        self.players.seats.remove(&seat);
        self.standings.forget(name);
        self.pairing.forget(seat);
        self.journal.note(Fact::Freed { player: name.clone() });
    }

    /// Returns whether an absent player's seat is free for somebody else: a player who has played keeps it, and in a
    /// tournament with an end, so does everybody once it has begun.
    fn is_dispensable(&self, seat: SeatNo, name: &Name) -> bool {
        let is_playing =
            self.players.seats.get(&seat).is_some_and(|player| matches!(player.doing, Doing::Playing(_)));
        !self.progress.has_begun() && !is_playing && self.standings.games(name) == 0
    }

    /// Shows a game to a client from now on; returns whether there is such a game.
    pub(super) fn watch(&mut self, game: GameTag, client: Client) -> bool {
        self.running.get_mut(&game).map(|running| running.game.watch(client)).is_some()
    }

    pub(super) fn unwatch(&mut self, game: GameTag, client: &Client) {
        if let Some(running) = self.running.get_mut(&game) {
            running.game.unwatch(client);
        }
    }

    /// A connection is gone, and with it the game that was played on it.
    pub(super) fn leave(&mut self, seat: SeatNo, client: &Client) {
        let Some(player) = self.players.seated(seat, client) else { return };
        let (doing, name) = (player.doing, player.name.clone());
        if let Some(fault) = client.fault() {
            self.note_refusal(name.as_str(), &fault);
        }
        match doing {
            Doing::Waiting => {}
            Doing::Invited(tag) => self.call_off(tag, &format!("Player {name} left")),
            Doing::Playing(tag) => {
                if let Some((game, color)) = self.running_game(tag, seat) {
                    game.lose(color, Cause::Disconnect);
                }
            }
        }
        self.part(seat, name);
    }

    /// Empties a seat, and frees it for somebody else if nothing has happened on it.
    fn part(&mut self, seat: SeatNo, name: Name) {
        self.players.leave(seat);
        if self.is_dispensable(seat, &name) {
            self.free(seat, &name);
        }
        let active = self.players.clients().count();
        self.players.tell_others(seat, &format!("Player {name} left tournament ({active} active players)"));
        self.report(Event::Left(name));
    }

    /// Answers a player. A connection that has lost its seat is ignored.
    pub(super) fn answer(&mut self, seat: SeatNo, client: &Client, request: Request) {
        let Some(player) = self.players.seated(seat, client) else { return };
        let (doing, named, game) = match &request {
            Request::Say { to, text } => return self.players.chat(seat, client, to, text),
            Request::Ack { game } | Request::Move { game, .. } | Request::Resign { game } => {
                (player.doing, GameTag::read(game), printable(game, 50))
            }
        };
        match doing {
            Doing::Invited(tag) if named == Some(tag) => match request {
                Request::Ack { .. } => self.accept(tag, seat),
                _ => client.info("The game has not started, both players have to ACK it first"),
            },
            Doing::Playing(tag) if named == Some(tag) => {
                let Some((game, color)) = self.running_game(tag, seat) else { return };
                match request {
                    Request::Move { mv, read_at, .. } => {
                        if game.play(color, &mv, read_at) {
                            self.note_game(tag);
                        }
                    }
                    Request::Resign { .. } => game.lose(color, Cause::Resignation),
                    _ => client.info("The game has started already"),
                }
            }
            // A player who plays has one game to speak of.
            Doing::Playing(tag) => client.throw_out(format!("You are playing game {tag}, not {game}")),
            Doing::Waiting | Doing::Invited(_) => client.info(format!("You are not in game {game}")),
        }
    }

    fn pair(&mut self) {
        if self.progress.goes_on() {
            self.begin_round();
            for pairing in self.pairing.pair(&self.players.free()) {
                self.invite(pairing);
            }
        }
    }

    /// Pairs the next round, if the last one is over. What comes later in the history does not change it.
    fn begin_round(&mut self) {
        if let Some(round) = self.pairing.begin_round() {
            self.journal.note(Fact::Round { round });
        }
        self.grant_byes();
    }

    /// Counts the points without a game.
    fn grant_byes(&mut self) {
        for Bye { seat, round, is_revoked } in self.pairing.take_byes() {
            let Some(player) = self.players.seats.get(&seat) else { continue };
            if is_revoked {
                self.standings.revoke_bye(round, &player.name);
                self.pairings.push(revoked_row(round, &player.name));
                self.journal.note(Fact::ByeRevoked { player: player.name.clone(), round });
                self.publisher.note_change();
                continue;
            }
            // A round that is paired again after a restart has the bye that it had.
            if !self.standings.grant_bye(round, &player.name) {
                continue;
            }
            self.journal.note(Fact::Bye { player: player.name.clone(), round });
            if let Some(client) = &player.client {
                client.tell_optional(Notice::Info("You have a bye: a point without a game".into()));
            }
            self.pairings.push(bye_row(round, &player.name));
            self.publisher.note_change();
        }
    }

    fn invite(&mut self, pairing: Pairing) {
        let Some(names) = self.players.names(pairing) else { return };
        let (game, time_control) = (GameTag::random(), self.config.time);
        for color in Color::BOTH {
            let Some(player) = self.players.seats.get_mut(&pairing.seats[color]) else { continue };
            player.doing = Doing::Invited(game);
            let Some(client) = &player.client else { continue };
            client.info(format!("Paired with {} for game", names[!color]));
            client.tell(Notice::GamePaired { game, names: names.clone(), time_control });
        }
        let until = Instant::now() + self.config.ack_timeout;
        self.invitations.insert(game, Invitation { pairing, acked: ByColor::both(false), until });
        self.publisher.note_change();
    }

    /// A player is ready; when both are, the game begins.
    fn accept(&mut self, tag: GameTag, seat: SeatNo) {
        let Some(invitation) = self.invitations.get_mut(&tag) else { return };
        let Some(player) = self.players.seats.get_mut(&seat) else { return };
        player.absent_since = None;
        invitation.acked[invitation.pairing.color_of(seat)] = true;
        if invitation.acked == ByColor::both(true) {
            self.begin(tag);
        } else if let Some(client) = &player.client {
            client.info("Waiting for opponent to acknowledged game");
        }
    }

    fn begin(&mut self, tag: GameTag) {
        let Some(Invitation { pairing, .. }) = self.invitations.remove(&tag) else { return };
        let (Some(names), Some(clients)) = (self.players.names(pairing), self.players.clients_of(pairing))
        else {
            return;
        };
        for color in Color::BOTH {
            clients[color].info("Both players have acknowledged game. Starting...");
            self.players.set_doing(pairing.seats[color], Doing::Playing(tag));
        }
        let start = match self.openings.as_slice() {
            [] => Chess::start(),
            openings => openings[(pairing.opening % openings.len() as u64) as usize].clone(),
        };
        self.rounds = self.rounds.saturating_add(1);
        self.report(Event::GameStarted { game: tag, names: names.clone() });
        let broken_off = self.broken_off.iter().position(|game| game.names == names);
        let setup = Setup {
            tag,
            tournament: self.config.name.clone(),
            stored: self.journal.tournament(),
            round: self.pairing.round().unwrap_or(self.rounds),
            opening: pairing.opening,
            repeats: broken_off.map(|at| self.broken_off.swap_remove(at).id),
            names: names.clone(),
            clients,
            time_control: self.config.time,
        };
        let game = TournamentGame::start(setup, start, &self.reports.live);
        self.running.insert(tag, Running { pairing, names, game, end: None, counts: false, note: None });
        self.note_game(tag);
    }

    fn note_game(&self, tag: GameTag) {
        if let Some(running) = self.running.get(&tag) {
            self.journal.note_game(running.game.state());
        }
    }

    /// A game that was paired does not take place.
    fn call_off(&mut self, tag: GameTag, reason: &str) {
        let Some(Invitation { pairing, .. }) = self.invitations.remove(&tag) else { return };
        self.publisher.note_change();
        for seat in pairing.seats.0 {
            self.players.set_doing(seat, Doing::Waiting);
            if let Some(client) = self.players.seats.get(&seat).and_then(|player| player.client.as_ref()) {
                client.tell(Notice::GameAborted { reason: reason.to_owned() });
            }
        }
    }

    /// Disconnects whoever did not say `ACK`; the other one is paired again.
    fn dismiss_silent(&mut self, tag: GameTag) {
        let Some(Invitation { pairing, acked, .. }) = self.invitations.get(&tag) else { return };
        let silent = Color::BOTH.into_iter().filter(|color| !acked[*color]).map(|color| pairing.seats[color]);
        let mut reason = String::new();
        for seat in silent.collect::<Vec<_>>() {
            let Some(player) = self.players.seats.get(&seat) else { continue };
            let name = player.name.clone();
            if let Some(client) = &player.client {
                client.throw_out("You did not acknowledge the game in time");
            }
            self.note_refusal(name.as_str(), &"Did not acknowledge a game in time");
            reason = format!("Player {name} did not acknowledge the game");
            self.part(seat, name);
        }
        self.call_off(tag, &reason);
    }

    /// When [`TournamentActor::expire`] has something to do.
    fn deadline(&self) -> Option<Instant> {
        let acks = self.invitations.values().map(|invitation| invitation.until);
        let games = self.running.values().filter_map(|running| running.game.due());
        let times = acks.chain(games).chain(self.absent().map(|(_, until)| until));
        times.chain(self.publisher.due().filter(|_| !self.journal.has_orders())).min()
    }

    /// Absent players, and when each is absent for too long; only a tournament with an end cannot wait. Results that are
    /// on their way count first.
    fn absent(&self) -> impl Iterator<Item = (SeatNo, Instant)> {
        let counts = self.progress.has_begun() && self.progress.goes_on() && self.journal.is_settled();
        self.players.absent(self.config.absent_after).filter(move |_| counts)
    }

    fn expire(&mut self, now: Instant) {
        self.running.values_mut().for_each(|running| running.game.tick(now));
        let silent = self.invitations.iter().filter(|(_, invitation)| invitation.until <= now);
        for tag in silent.map(|(&tag, _)| tag).collect::<Vec<_>>() {
            self.dismiss_silent(tag);
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
            && self.running.is_empty()
            && self.journal.is_settled()
            && self.pairing.is_complete()
    }

    /// The game of that tag, and which side the seat has in it.
    fn running_game(&mut self, tag: GameTag, seat: SeatNo) -> Option<(&mut TournamentGame, Color)> {
        let running = self.running.get_mut(&tag)?;
        Some((&mut running.game, running.pairing.color_of(seat)))
    }

    fn report(&mut self, event: Event) {
        self.publisher.note_change();
        // An error means that nobody listens.
        let _ = self.reports.news.send(News { tournament: self.config.name.clone(), event });
    }
}
