//! The tournament itself: pairs those who are free, watches over acks and games, keeps the table.

use std::{collections::BTreeMap, path::PathBuf, sync::Arc};

use tokio::{
    select,
    sync::mpsc,
    task::{self, JoinError, JoinSet, spawn_blocking},
    time::{Instant, MissedTickBehavior, interval},
};
use tokio_util::sync::CancellationToken;

use zeitnot_rules::{ByColor, Color, Game};
use zeitnot_wire::contest::FromServer;

use self::{
    invitation::Invitation,
    players::{Doing, Players},
    stub::Command,
};
use crate::{
    GameTag, MAX_PLAYERS, Name, TournamentConfig, TournamentSummary,
    client::Client,
    game::{Finished, GameStub, Order},
    news::{Desk, Event, News},
    pairing::{Pairing, Schedule, SeatNo},
    pgn::Record,
    referee::GameRecord,
    standings::Standings,
    store::{Store, StoreActor},
    timer::until,
};

mod invitation;
mod players;
mod stub;
mod talk;

pub(super) use stub::{Hall, Refusal, Seat, Tournament};

/// Owns one tournament.
#[derive(Debug)]
pub(super) struct TournamentActor<G: Game> {
    config: TournamentConfig,
    openings: Vec<G>,
    store: Store,
    news: Desk,
    commands: mpsc::Receiver<Command>,
    players: Players,
    schedule: Schedule,
    standings: Standings,
    invitations: BTreeMap<GameTag, Invitation>,
    running: BTreeMap<GameTag, Running>,
    games: JoinSet<Finished>,
    games_stop: CancellationToken,
    /// Games that began.
    rounds: u32,
}

/// A game that is played.
#[derive(Debug)]
struct Running {
    pairing: Pairing,
    names: ByColor<Name>,
    round: u32,
    stub: GameStub,
    task: task::Id,
}

impl<G: Game> TournamentActor<G> {
    fn new(
        config: TournamentConfig,
        openings: Vec<G>,
        store: Store,
        news: Desk,
        commands: mpsc::Receiver<Command>,
    ) -> Self {
        TournamentActor {
            players: Players::new(config.players.unwrap_or(MAX_PLAYERS)),
            schedule: Schedule::new(config.games_per_pair),
            standings: Standings::default(),
            invitations: BTreeMap::new(),
            running: BTreeMap::new(),
            games: JoinSet::new(),
            games_stop: CancellationToken::new(),
            rounds: 0,
            config,
            openings,
            store,
            news,
            commands,
        }
    }

    /// Runs until all have met, or until `stop`; the games are on the disk then.
    pub async fn run(mut self, writer: StoreActor, stop: CancellationToken) -> TournamentSummary {
        let writing = spawn_blocking(|| writer.run());
        let mut pairing = interval(self.config.pairing_interval);
        pairing.set_missed_tick_behavior(MissedTickBehavior::Delay);
        while !self.is_complete() {
            let deadline = self.deadline();
            select! {
                () = stop.cancelled() => break,
                Some(command) = self.commands.recv() => self.obey(command).await,
                Some(ended) = self.games.join_next() => self.ended(ended).await,
                _ = pairing.tick() => self.pair(),
                () = until(deadline) => self.expire(),
            }
        }
        let complete = self.is_complete();
        self.close(complete).await;
        let TournamentActor { config, standings, store, .. } = self;
        drop(store);
        let pgn: Option<PathBuf> = writing.await.unwrap_or(None);
        TournamentSummary { name: config.name, standings, complete, pgn }
    }

    async fn obey(&mut self, command: Command) {
        match command {
            Command::Join { name, client, reply } => {
                let joined = self.players.join(&self.config.name, name.clone(), client);
                if let Ok(seat) = joined {
                    self.greet(seat, name);
                }
                let _ = reply.send(joined);
            }
            Command::Hear { seat, client, message, read_at } => {
                self.hear(seat, &client, message, read_at).await;
            }
            Command::Leave { seat, client } => self.leave(seat, &client).await,
            Command::Watch { game, client, reply } => {
                let running = self.running.get(&game);
                let _ = reply.send(running.is_some());
                if let Some(running) = running {
                    running.stub.tell(Order::Watch(client)).await;
                }
            }
            Command::Unwatch { game, client } => {
                if let Some(running) = self.running.get(&game) {
                    running.stub.tell(Order::Unwatch(client)).await;
                }
            }
        }
    }

    // ---- coming and going -----------------------------------------------------------------------

    fn greet(&mut self, seat: SeatNo, name: Name) {
        self.standings.enter(&name);
        let active = self.players.clients().count();
        self.players.gossip(seat, &format!("Player {name} joined tournament ({active} active players)"));
        self.report(Event::Joined { player: name });
    }

    /// A connection is gone, and with it the game that was played on it.
    async fn leave(&mut self, seat: SeatNo, client: &Client) {
        let Some(player) = self.players.seated(seat, client) else { return };
        let (doing, name) = (player.doing, player.name.clone());
        match doing {
            Doing::Waiting => {}
            Doing::Invited(tag) => self.call_off(tag, &format!("Player {name} left")),
            Doing::Playing(tag) => {
                if let Some((stub, side)) = self.running_game(tag, seat) {
                    stub.tell(Order::Gone(side)).await;
                }
            }
        }
        self.part(seat, name);
    }

    /// The seat is empty from now on, and free for somebody else if nothing happened on it.
    fn part(&mut self, seat: SeatNo, name: Name) {
        self.players.leave(seat);
        // Who has played keeps the seat; in a tournament with an end, so does everybody once it has begun.
        let playing = self.players.get(seat).is_some_and(|p| matches!(p.doing, Doing::Playing(_)));
        let begun = self.config.players.is_some() && self.players.len() >= self.wanted();
        if !begun && !playing && self.standings.games(&name) == 0 {
            self.standings.leave(&name);
            self.players.remove(seat);
        }
        let active = self.players.clients().count();
        self.players.gossip(seat, &format!("Player {name} left tournament ({active} active players)"));
        self.report(Event::Left { player: name });
    }

    /// How many have to join before anybody is paired.
    fn wanted(&self) -> usize {
        self.config.players.unwrap_or(0)
    }

    // ---- pairings and deadlines -----------------------------------------------------------------

    fn pair(&mut self) {
        if self.players.len() >= self.wanted() {
            for pairing in self.schedule.pair(&self.players.free()) {
                self.invite(pairing);
            }
        }
    }

    /// When the next patience ends.
    fn deadline(&self) -> Option<Instant> {
        let acks = self.invitations.values().map(|invitation| invitation.until);
        acks.chain(self.absent().map(|(_, until)| until)).min()
    }

    /// Who is away and when that is for too long; only a tournament with an end cannot wait.
    fn absent(&self) -> impl Iterator<Item = (SeatNo, Instant)> {
        let counts = self.config.players.is_some_and(|wanted| self.players.len() >= wanted);
        self.players.absent(self.config.absent_after).filter(move |_| counts)
    }

    fn expire(&mut self) {
        let now = Instant::now();
        let silent = self.invitations.iter().filter(|(_, invitation)| invitation.until <= now);
        for tag in silent.map(|(&tag, _)| tag).collect::<Vec<_>>() {
            self.dismiss_silent(tag);
        }
        let absent = self.absent().filter(|(_, until)| *until <= now);
        for seat in absent.map(|(seat, _)| seat).collect::<Vec<_>>() {
            self.withdraw(seat);
        }
    }

    /// A player who stayed away forfeits the rest.
    fn withdraw(&mut self, seat: SeatNo) {
        let Some(player) = self.players.get_mut(seat) else { return };
        player.absent_since = None;
        let name = player.name.clone();
        let forfeited = self.schedule.withdraw(seat, self.players.seats());
        for (opponent, games) in &forfeited {
            let Some(opponent) = self.players.get(*opponent) else { continue };
            (0..*games).for_each(|_| self.standings.forfeit(&name, &opponent.name));
        }
        if !forfeited.is_empty() {
            self.players.gossip(seat, &format!("Player {name} stayed away and forfeits the remaining games"));
            self.report(Event::Withdrawn { player: name });
            self.report_standings();
        }
    }

    // ---- from a game to the table ---------------------------------------------------------------

    async fn ended(&mut self, ended: Result<Finished, JoinError>) {
        let tag = match &ended {
            Ok(finished) => Some(finished.tag),
            Err(error) => self.running.iter().find(|(_, r)| r.task == error.id()).map(|(&tag, _)| tag),
        };
        let Some(running) = tag.and_then(|tag| self.running.remove(&tag)) else { return };
        for seat in running.pairing.seats.0 {
            if let Some(player) = self.players.get_mut(seat) {
                player.doing = Doing::Waiting;
                player.rests_until = Instant::now() + self.config.pause;
            }
        }
        match ended {
            Ok(finished) => self.record(running, finished).await,
            Err(error) => {
                tracing::error!(%error, "a game broke down, it will be paired again");
                for client in self.clients(running.pairing).iter().flat_map(|clients| &clients.0) {
                    client.tell(FromServer::GameAborted { reason: "The game broke down".into() });
                }
            }
        }
    }

    async fn record(&mut self, running: Running, finished: Finished) {
        let Running { pairing, names, round, .. } = running;
        let Finished { tag, record } = finished;
        let GameRecord { ending, plies, .. } = &record;
        self.report(Event::GameEnded {
            game: tag,
            names: names.clone(),
            result: ending.result,
            reason: ending.cause.to_string(),
            plies: plies.len(),
        });
        if let Some(result) = ending.result {
            self.schedule.played(pairing);
            self.standings.record([&names[Color::White], &names[Color::Black]], result);
            self.report_standings();
        }
        let (event, time_control) = (self.config.name.clone(), self.config.time);
        self.store.write(Record { event, round, names, time_control, record }.pgn()).await;
    }

    /// Have all met who were to meet?
    fn is_complete(&self) -> bool {
        let expected = self
            .config
            .players
            .is_some_and(|wanted| self.players.len() >= wanted && self.schedule.is_complete(wanted));
        expected && self.running.is_empty()
    }

    /// Breaks off what runs, and says goodbye.
    async fn close(&mut self, complete: bool) {
        self.games_stop.cancel();
        while let Some(ended) = self.games.join_next().await {
            self.ended(ended).await;
        }
        let goodbye = match complete {
            true => format!("Tournament {} is over", self.config.name),
            false => "The arena is shutting down".to_owned(),
        };
        for tag in self.invitations.keys().copied().collect::<Vec<_>>() {
            self.call_off(tag, &goodbye);
        }
        self.players.clients().for_each(|client| client.hang_up(goodbye.clone()));
        if complete {
            self.report(Event::Over);
        }
    }

    // ---- small helpers --------------------------------------------------------------------------

    /// The game of that tag, and which side the seat has in it.
    fn running_game(&self, tag: GameTag, seat: SeatNo) -> Option<(&GameStub, Color)> {
        self.running.get(&tag).map(|running| (&running.stub, side_of(running.pairing, seat)))
    }

    fn set_doing(&mut self, seat: SeatNo, doing: Doing) {
        if let Some(player) = self.players.get_mut(seat) {
            player.doing = doing;
        }
    }

    fn names(&self, pairing: Pairing) -> Option<ByColor<Name>> {
        let name = |seat| self.players.get(seat).map(|player| player.name.clone());
        let [white, black] = pairing.seats.0;
        Some(ByColor([name(white)?, name(black)?]))
    }

    /// `None` unless both are there.
    fn clients(&self, pairing: Pairing) -> Option<ByColor<Client>> {
        let client = |seat| self.players.get(seat)?.client.clone();
        let [white, black] = pairing.seats.0;
        Some(ByColor([client(white)?, client(black)?]))
    }

    /// The table is not small: it is copied only for somebody.
    fn report_standings(&self) {
        if self.news.receiver_count() > 0 {
            self.report(Event::Standings(Arc::new(self.standings.clone())));
        }
    }

    fn report(&self, event: Event) {
        // An error means that nobody watches.
        let _ = self.news.send(News { tournament: self.config.name.clone(), event });
    }
}

fn side_of(pairing: Pairing, seat: SeatNo) -> Color {
    if pairing.seats[Color::White] == seat { Color::White } else { Color::Black }
}
