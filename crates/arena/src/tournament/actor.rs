//! Task of one tournament: pairs free players, waits for them to be ready, referees their games, keeps the standings.

use std::{collections::BTreeMap, mem, path::PathBuf};

use tokio::{
    select,
    time::{Instant, sleep_until},
};
use tokio_util::sync::CancellationToken;
use zeitnot_engine::priority;
use zeitnot_host::{
    database::{Database, Fact, GameEnd, Opened},
    game_info::TournamentGameInfo,
    hosted_game::Host,
    jobs::{self, Handle, Jobs},
    live::{Feed, view::JoinLine},
    note::Note,
    panic_guard,
    store::{Store, StoreActor},
    tag::GameTag,
    timer::until,
};
use zeitnot_pairing::{
    Bye, Name, Pairing, PairingSystem, SeatNo,
    format::{MAX_PLAYERS, PairingKind},
    standings::Standings,
};
use zeitnot_referee::Cause;
use zeitnot_rules::{ByColor, Color, chess::Chess};
use zeitnot_wire::printable;

use super::{
    admission::Admission,
    config::TournamentConfig,
    game::{Setup, TournamentGame},
    journal::Journal,
    pairing_log::{PairingLog, bye_row, revoked_row},
    past::PastGames,
    players::{Doing, Players, SeatLimits},
    progress::Progress,
    refusals::Refusals,
    restore::{BrokenOff, Restored},
    view::Publisher,
};
use crate::{
    client::Client,
    message::{Notice, Request},
    news::{Event, News, NewsSender},
};

mod breakdown;
mod edit;
mod endings;
mod orders;
mod page;
mod seats;
#[cfg(test)]
mod tests;

use endings::Departure;

pub(crate) use edit::EditError;

/// Part of `ack_timeout` that a player has after not having acknowledged a game, until one is acknowledged.
const SILENT_PART: u32 = 10;

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
    /// Deadline of each player's `ACK`.
    until: ByColor<Instant>,
}

impl Invitation {
    /// Deadlines of the players who have not said `ACK`.
    fn awaited(&self) -> impl Iterator<Item = (Color, Instant)> {
        Color::BOTH.into_iter().filter(|color| !self.acked[*color]).map(|color| (color, self.until[color]))
    }
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
    /// Number of the tournament among those of its name, and ways to join, for the page.
    pub(crate) edition: u32,
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
            select! {
                () = stop.cancelled() => break,
                Some(job) = self.jobs.recv() => self.contain(job),
                () = until(deadline) => self.contain(|actor| actor.expire(Instant::now())),
                () = sleep_until(next_pairing) => {
                    self.contain(Self::pair);
                    next_pairing = Instant::now() + self.config.pairing_interval;
                }
                Some(settled) = self.journal.settled() => {
                    if let Err(panic) = panic_guard::contain_all(self.settle(settled)).await {
                        self.break_down(&panic);
                    }
                }
            }
            self.contain(Self::conclude_games);
            self.show_on_page();
        }
        let complete = self.is_complete();
        self.close(complete).await;
        match self.progress.is_deleted() {
            true => self.reports.live.delete_tournament(self.config.name.to_string()).await,
            false => self.publish(complete),
        }
        over.cancel();
        if complete && self.reports.live.is_on() {
            self.take_corrections(&stop).await;
        }
        let TournamentActor { config, standings, store, .. } = self;
        drop(store);
        let pgn = writing.join().await;
        TournamentSummary { name: config.name, standings, complete, pgn }
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
                    Request::Move { mv, read_at, .. } => game.play(color, &mv, read_at),
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
            self.standings.begin_round();
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
        let mut until = ByColor::both(Instant::now() + self.config.ack_timeout);
        for color in Color::BOTH {
            let Some(player) = self.players.seats.get_mut(&pairing.seats[color]) else { continue };
            player.doing = Doing::Invited(game);
            if player.is_silent {
                until[color] = Instant::now() + self.config.ack_timeout / SILENT_PART;
            }
            let Some(client) = &player.client else { continue };
            client.info(format!("Paired with {} for game", names[!color]));
            client.tell(Notice::GamePaired { game, names: names.clone(), time_control });
        }
        self.invitations.insert(game, Invitation { pairing, acked: ByColor::both(false), until });
        self.publisher.note_change();
    }

    /// A player is ready; when both are, the game begins.
    fn accept(&mut self, tag: GameTag, seat: SeatNo) {
        let Some(invitation) = self.invitations.get_mut(&tag) else { return };
        let Some(player) = self.players.seats.get_mut(&seat) else { return };
        (player.absent_since, player.is_silent) = (None, false);
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
        let tournament = TournamentGameInfo {
            name: self.config.name.to_string(),
            stored: self.journal.tournament(),
            numbering: self.config.pairing.into(),
            number: self.pairing.round().unwrap_or(self.rounds),
            opening: pairing.opening,
            repeats: broken_off.map(|at| self.broken_off.swap_remove(at).id),
        };
        let setup = Setup {
            tag,
            tournament,
            names: names.clone(),
            clients,
            time_control: self.config.time,
            max_illegal_moves: self.config.max_illegal_moves,
        };
        let host = Host { feed: self.reports.live.clone(), database: self.journal.database() };
        let game = TournamentGame::start(setup, start, host);
        self.running.insert(tag, Running { pairing, names, game, end: None, counts: false, note: None });
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

    /// Disconnects whoever did not say `ACK` in time. The other one is paired again; in a Swiss, where all wait for the last
    /// game of a round, the other one wins. Two who are silent are paired again once: neither has earned a point, and the
    /// delay may have been ours.
    fn dismiss_silent(&mut self, tag: GameTag, now: Instant) {
        let Some(invitation) = self.invitations.get(&tag) else { return };
        let seats = invitation.pairing.seats;
        let silent = invitation.awaited().filter(|(_, until)| *until <= now).map(|(color, _)| seats[color]);
        let silent: Vec<_> = silent.collect();
        let (mut reason, mut again) = (String::new(), Vec::new());
        for seat in &silent {
            let Some(player) = self.players.seats.get_mut(seat) else { continue };
            if mem::replace(&mut player.is_silent, true) {
                again.push(*seat);
            }
            let name = player.name.clone();
            if let Some(client) = &player.client {
                client.throw_out("You did not acknowledge the game in time");
            }
            self.note_refusal(name.as_str(), &"Did not acknowledge a game in time");
            reason = format!("Player {name} did not acknowledge the game");
            self.part(*seat, name);
        }
        self.call_off(tag, &reason);
        if self.config.pairing == PairingKind::Swiss {
            let out = if silent.len() == 1 { silent } else { again };
            out.into_iter().for_each(|seat| self.withdraw(seat, Departure::Silence));
        }
    }

    /// When [`TournamentActor::expire`] has something to do.
    fn deadline(&self) -> Option<Instant> {
        let acks = self.invitations.values().flat_map(Invitation::awaited).map(|(_, until)| until);
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
        let is_late = |invitation: &Invitation| invitation.awaited().any(|(_, until)| until <= now);
        let late = self.invitations.iter().filter(|(_, invitation)| is_late(invitation));
        for tag in late.map(|(&tag, _)| tag).collect::<Vec<_>>() {
            self.dismiss_silent(tag, now);
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
