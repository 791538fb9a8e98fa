//! Task that owns all tables: seats by their tokens, timers, the bot's moves, rematches.

use std::{
    collections::{BTreeMap, HashMap},
    fmt,
    sync::Arc,
    time::Duration,
};

use tokio::{select, sync::watch, time::Instant};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use zeitnot_host::{
    database::Database,
    hosted_game::Host,
    jobs::{self, Handle, Jobs, WeakHandle},
    live::Feed,
    origin::Origin,
    panic_guard,
    tag::GameTag,
};
use zeitnot_net::{Rate, secret::Secret, wait::until};
use zeitnot_rules::{ByColor, Color};

use super::{
    action::Action,
    refusal::{BadAction, NoTable},
    request::{CreatedTable, Setup, Sitter, TableRequest},
    search::{Found, Searcher, Strength},
    table::{Question, Table},
    view::{SeatView, TableNotice},
};
use crate::keyed::Rations;

/// Tables at once.
const MAX_TABLES: usize = 256;
/// Tables of one address: a class behind one router fits.
const MAX_PER_ADDRESS: usize = 128;
/// Tables that an address may ask for.
const REQUESTS: Rate = Rate { burst: 60, interval: Duration::from_secs(1) };

pub(crate) struct Tables {
    handle: WeakHandle<Tables>,
    searcher: Arc<dyn Searcher>,
    host: Host,
    tables: BTreeMap<GameTag, Table>,
    /// A map by keyed hashes: how long a look-up takes tells nothing about the tokens.
    seats: HashMap<Secret, SeatRef>,
    requests: Rations,
    tracker: TaskTracker,
}

/// Seat at a table.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct SeatRef {
    table: GameTag,
    color: Color,
}

impl fmt::Debug for Tables {
    /// Omits the tables: there are tokens among them.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} tables", self.tables.len())
    }
}

impl Tables {
    pub(crate) fn channel(searcher: Arc<dyn Searcher>, feed: Feed) -> (Handle<Tables>, TablesActor) {
        let (handle, jobs) = jobs::channel();
        let tables = Tables {
            handle: handle.downgrade(),
            searcher,
            host: Host { feed, database: None },
            tables: BTreeMap::new(),
            seats: HashMap::new(),
            requests: Rations::new(REQUESTS),
            tracker: TaskTracker::new(),
        };
        (handle, TablesActor { tables, jobs })
    }

    /// Makes a table.
    pub(crate) fn create(&mut self, request: TableRequest, from: Origin) -> Result<CreatedTable, NoTable> {
        if !self.requests.take(from) {
            return Err(NoTable::TooFast);
        }
        let setup = request.check()?;
        let host = setup.host;
        let id = self.open(setup, from, Instant::now())?;
        let table = self.tables.get(&id).ok_or(NoTable::Full)?;
        let token = |color: Color| table.seats[color].token.expose().to_owned();
        let invitation = (table.seats[!host].sitter == Sitter::Human).then(|| token(!host));
        Ok(CreatedTable { game: id.to_string(), seat: token(host), invitation })
    }

    fn open(&mut self, setup: Setup, from: Origin, now: Instant) -> Result<GameTag, NoTable> {
        self.make_room(from, now)?;
        let tokens =
            ByColor([Secret::random(), Secret::random()].map(|token| token.ok_or(NoTable::NoRandom)));
        let ByColor([white, black]) = tokens;
        let table = Table::new(setup, ByColor([white?, black?]), from, self.host.clone(), now);
        let id = table.id;
        for color in Color::BOTH {
            let seat = &table.seats[color];
            if seat.sitter == Sitter::Human {
                self.seats.insert(seat.token.clone(), SeatRef { table: id, color });
            }
        }
        self.tables.insert(id, table);
        Ok(id)
    }

    /// Closes a table that is not in use, if there is no room for another.
    fn make_room(&mut self, from: Origin, now: Instant) -> Result<(), NoTable> {
        let theirs = self.tables.values().filter(|table| table.from == from).count();
        let is_crowded = theirs >= MAX_PER_ADDRESS;
        if self.tables.len() < MAX_TABLES && !is_crowded {
            return Ok(());
        }
        let candidates = self.tables.values().filter(|table| !is_crowded || table.from == from);
        let ranked = candidates.filter_map(|table| Some((table.eviction_rank(now)?, table.id)));
        match ranked.min() {
            Some((_, id)) => self.close(id),
            None if is_crowded => return Err(NoTable::FullForAddress),
            None => return Err(NoTable::Full),
        }
        Ok(())
    }

    fn close(&mut self, id: GameTag) {
        self.contain(id, |tables| tables.abandon(id));
        self.remove(id);
    }

    fn abandon(&mut self, id: GameTag) {
        let Some(table) = self.tables.get_mut(&id) else { return };
        let now = Instant::now();
        table.abandon(now);
        if let Some(settling) = table.hosted.settling() {
            self.tracker.spawn(settling);
        }
        table.tell_end(now);
    }

    fn remove(&mut self, id: GameTag) {
        let Some(table) = self.tables.remove(&id) else { return };
        for seat in table.seats.0 {
            self.seats.remove(&seat.token);
            seat.view.send_modify(|view| view.is_closed = true);
        }
    }

    /// Runs a step at one table. A panic ends its game, which its players are told, and no other.
    fn contain<T>(&mut self, id: GameTag, step: impl FnOnce(&mut Tables) -> T) -> Option<T> {
        let panic = match panic_guard::contain(|| step(self)) {
            Ok(done) => return Some(done),
            Err(panic) => panic,
        };
        tracing::error!(game = %id, "the game at a table broke down: {panic}; please report it");
        let end = |tables: &mut Tables| {
            if let Some(table) = tables.tables.get_mut(&id) {
                table.break_down(Instant::now());
            }
            tables.settle(id);
        };
        // A table that cannot even be told of its end is closed.
        if panic_guard::contain(|| end(self)).is_err() {
            self.remove(id);
        }
        None
    }

    /// Finds the seat of a token.
    pub(crate) fn check_seat(&self, token: &str) -> Result<SeatRef, BadAction> {
        let seat = Secret::try_from(token).ok().and_then(|token| self.seats.get(&token).copied());
        seat.ok_or(BadAction::NoTable)
    }

    /// Opens the seat of a token.
    pub(crate) fn join(&mut self, token: &str) -> Result<(SeatRef, watch::Receiver<SeatView>), BadAction> {
        let seat = self.check_seat(token)?;
        let table = self.tables.get_mut(&seat.table).ok_or(BadAction::NoTable)?;
        let mut view = table.seats[seat.color].view.subscribe();
        self.contain(seat.table, |tables| {
            if let Some(table) = tables.tables.get_mut(&seat.table) {
                table.enter(seat.color, Instant::now());
                tables.settle(seat.table);
            }
        });
        view.mark_changed();
        Ok((seat, view))
    }

    /// Notes that a connection is gone, whose view is dropped already.
    pub(crate) fn leave(&mut self, seat: SeatRef) {
        self.contain(seat.table, |tables| {
            if let Some(table) = tables.tables.get_mut(&seat.table) {
                table.leave(Instant::now());
                tables.settle(seat.table);
            }
        });
    }

    /// Does what a player asked for at this instant.
    pub(crate) fn act(&mut self, seat: SeatRef, action: Action, at: Instant) -> Result<(), BadAction> {
        // That the game broke down is told as its end.
        self.contain(seat.table, |tables| tables.try_act(seat, action, at)).unwrap_or(Ok(()))
    }

    fn try_act(&mut self, seat: SeatRef, action: Action, at: Instant) -> Result<(), BadAction> {
        let now = Instant::now();
        let table = self.tables.get_mut(&seat.table).ok_or(BadAction::NoTable)?;
        let wants_rematch = action == Action::Rematch;
        let mut done = table.act(seat.color, action, at.min(now), now);
        if done.is_ok() && wants_rematch && table.has_rematch() {
            done = self.rematch(seat.table, now).map_err(|error| BadAction::NoRematch(Box::new(error)));
        }
        self.settle(seat.table);
        done
    }

    /// Sets the same game up with the colours swapped, and tells both players their new seats.
    fn rematch(&mut self, id: GameTag, now: Instant) -> Result<(), NoTable> {
        let Some(table) = self.tables.get(&id) else { return Ok(()) };
        if table.seats.0.iter().any(|seat| seat.view.borrow().rematch.is_some()) {
            return Ok(());
        }
        let next = self.open(table.again(), table.from, now)?;
        let tokens = self.tables.get(&next).map(|next| next.seats.0.each_ref().map(|it| it.token.clone()));
        if let (Some(tokens), Some(table)) = (tokens, self.tables.get(&id)) {
            for color in Color::BOTH {
                let seat = ByColor(tokens.clone())[!color].expose().to_owned();
                let notice = TableNotice::Rematch { seat }.print();
                table.seats[color].view.send_modify(|view| view.rematch = Some(notice));
            }
        }
        Ok(())
    }

    /// Asks the bot if it is to move, and tells everybody at a table what has changed.
    fn settle(&mut self, id: GameTag) {
        let now = Instant::now();
        let Some(table) = self.tables.get_mut(&id) else { return };
        if let Some(Question { level, clock, stop, number }) = table.question(now) {
            let game = table.hosted.referee.board.game();
            let search = self.searcher.find(game, Strength::Level(level), clock, stop.clone());
            let handle = self.handle.clone();
            self.tracker.spawn(async move {
                let found = panic_guard::contain_all(search).await.ok().flatten();
                // The table has another question by now, or none.
                if stop.is_cancelled() {
                    return;
                }
                if let Some(tables) = handle.upgrade() {
                    tables.send(move |tables| tables.answer(id, number, found)).await;
                }
            });
        }
        let Some(settling) = table.hosted.settling() else { return self.tell(id) };
        let handle = self.handle.clone();
        self.tracker.spawn(async move {
            settling.await;
            if let Some(tables) = handle.upgrade() {
                tables.send(move |tables| tables.tell_end(id)).await;
            }
        });
    }

    /// Tells a game's end, which is on the disk.
    fn tell_end(&mut self, id: GameTag) {
        if let Some(table) = self.tables.get_mut(&id) {
            table.tell_end(Instant::now());
        }
    }

    /// Tells what has changed, unless it is an end on its way to the disk.
    fn tell(&mut self, id: GameTag) {
        if let Some(table) = self.tables.get_mut(&id).filter(|table| !table.hosted.is_ending()) {
            table.tell(Instant::now());
        }
    }

    fn answer(&mut self, id: GameTag, number: u64, found: Option<Found>) {
        self.contain(id, |tables| {
            if let Some(table) = tables.tables.get_mut(&id) {
                table.answer(number, found, &tables.host.feed, Instant::now());
                tables.settle(id);
            }
        });
    }

    fn deadline(&self) -> Option<Instant> {
        self.tables.values().map(Table::deadline).min()
    }

    /// Ends games whose clocks have run out, and closes tables that are left.
    fn check_time(&mut self) {
        let now = Instant::now();
        let due = self.tables.values().filter(|table| table.deadline() <= now).map(|table| table.id);
        for id in due.collect::<Vec<_>>() {
            if self.tables.get(&id).is_some_and(|table| table.closes() <= now) {
                self.close(id);
                continue;
            }
            self.contain(id, |tables| {
                if let Some(table) = tables.tables.get_mut(&id) {
                    table.check_time(now);
                    tables.settle(id);
                }
            });
        }
    }

    fn stop(&mut self) {
        for id in self.tables.keys().copied().collect::<Vec<_>>() {
            self.contain(id, |tables| {
                if let Some(table) = tables.tables.get_mut(&id) {
                    table.stop(Instant::now());
                }
            });
            self.close(id);
        }
    }
}

/// The task of the tables.
#[derive(Debug)]
pub(crate) struct TablesActor {
    tables: Tables,
    jobs: Jobs<Tables>,
}

impl TablesActor {
    /// Keeps the games in this database.
    pub(crate) fn with_database(mut self, database: Database) -> TablesActor {
        self.tables.host.database = Some(database);
        self
    }

    /// Runs until `stop`; then all games have ended.
    pub(crate) async fn run(self, stop: CancellationToken) {
        let TablesActor { mut tables, mut jobs } = self;
        loop {
            select! {
                biased;
                () = stop.cancelled() => break,
                () = until(tables.deadline()) => tables.check_time(),
                job = jobs.recv() => match job {
                    Some(job) => {
                        if let Err(panic) = panic_guard::contain(|| job(&mut tables)) {
                            tracing::error!("a request to the tables has failed: {panic}; please report it");
                        }
                    }
                    None => break,
                },
            }
        }
        tables.stop();
        drop(jobs);
        tables.tracker.close();
        tables.tracker.wait().await;
    }
}
