//! World of a tournament: what its players and its organiser do and when, what the disk does, and when the arena is
//! killed. First anything may happen; then all who can play do so, until the tournament ends.

use std::{collections::BTreeSet, time::Duration};

use tokio::{sync::mpsc, time::Instant};
use zeitnot_arena::simulation::{Heard, Order, Saying, SimulatedTournament, TurnKind};
use zeitnot_host::{
    live::{Event as PageEvent, Feed},
    note::Note,
    tag::GameTag,
};
use zeitnot_pairing::Name;
use zeitnot_rules::{Color, GameResult};

use super::{
    super::{
        disk::{Attempt, Disk},
        event_queue::EventQueue,
        run::{Broken, Checked, Run},
        virtual_time::VirtualTime,
    },
    laws::{NO_PAIRING, RESTORED, TOLD_EARLY},
    observer::Observer,
    setup::{MOVES, Setup},
};

/// Steps in which anything may happen.
const WILD_STEPS: usize = 120;
/// Steps by which a tournament that nobody disturbs ends.
const CALM_STEPS: usize = 1500;
/// Turns at one moment.
const TURNS: usize = 8;

#[derive(Debug)]
enum Event {
    Join(Name),
    /// The connection breaks, or the player has seen that the tournament has closed it.
    Leave(Name),
    Say(Name, GameTag, Saying),
    /// A random order, a lost connection, or a fault of the disk.
    Random,
}

/// The arena between two kills.
struct Arena {
    tournament: SimulatedTournament,
    page: mpsc::Receiver<PageEvent>,
}

pub(super) struct World<'r> {
    run: &'r mut Run,
    time: &'r VirtualTime,
    events: EventQueue<Event>,
    setup: Setup,
    disk: Disk,
    observer: Observer,
    /// Players whose connections are about to be given up.
    leaving: BTreeSet<Name>,
    /// No faults any more, and nobody acts at random.
    is_calm: bool,
    /// No turn was possible.
    is_stuck: bool,
}

impl<'r> World<'r> {
    pub(super) fn new(run: &'r mut Run, time: &'r VirtualTime) -> Option<World<'r>> {
        Some(World {
            setup: Setup::new(&mut run.rng)?,
            run,
            time,
            events: EventQueue::default(),
            disk: Disk::new(),
            observer: Observer::default(),
            leaving: BTreeSet::new(),
            is_calm: false,
            is_stuck: false,
        })
    }

    fn add(&mut self, most: u64, event: Event) {
        let wait = self.run.millis(0..most);
        self.events.add(self.run.now + wait, event);
    }

    pub(super) fn run(mut self) -> Checked {
        self.run.note(format_args!("{:?}", self.setup));
        let mut arena = self.start()?;
        for _ in 0..WILD_STEPS {
            self.step(&mut arena)?;
            if arena.tournament.is_complete() {
                break;
            }
            if self.run.one_in(40) {
                drop(arena);
                self.run.note(format_args!("killed"));
                arena = self.start()?;
                self.observer.restored(&arena.tournament, &self.disk.database, self.run)?;
            }
        }
        self.calm(&mut arena)?;
        self.close(arena)
    }

    /// Starts the arena; all players are away, and come.
    fn start(&mut self) -> Checked<Arena> {
        let (feed, page) = Feed::channel();
        let config = self.setup.config.clone();
        let started = SimulatedTournament::start(config, &mut self.disk.database, feed);
        self.events = EventQueue::default();
        self.leaving.clear();
        for name in self.setup.names.clone() {
            self.add(2_000, Event::Join(name));
        }
        if !self.is_calm {
            self.add(1_000, Event::Random);
        }
        let broken = |error| Broken { law: RESTORED.name, what: error };
        Ok(Arena { tournament: started.map_err(broken)?, page })
    }

    /// Handles the next event, and then all turns that are possible.
    fn step(&mut self, arena: &mut Arena) -> Checked {
        let due = arena.tournament.due().saturating_duration_since(self.time.start);
        match self.events.next_at().filter(|at| *at <= due || self.is_stuck) {
            Some(_) => {
                if let Some((at, event)) = self.events.pop() {
                    self.time.advance_to(at, self.run);
                    self.run.step(format_args!("{event:?}"));
                    self.handle(event, &mut arena.tournament);
                    self.look(arena)?;
                }
            }
            None => self.time.advance_to(due, self.run),
        }
        self.is_stuck = true;
        for _ in 0..TURNS {
            self.write(arena)?;
            let mut kinds = TurnKind::ALL;
            self.run.rng.shuffle(&mut kinds);
            if self.run.has(&NO_PAIRING) {
                kinds = kinds.map(|kind| if kind == TurnKind::Pairing { TurnKind::Settled } else { kind });
            }
            let Some(kind) = arena.tournament.turn(kinds) else { break };
            self.is_stuck = false;
            self.run.step(format_args!("{kind:?}"));
            self.look(arena)?;
        }
        Ok(())
    }

    /// Lets the writer get to what waits, or not yet.
    fn write(&mut self, arena: &Arena) -> Checked {
        match self.disk.attempt_at_random(self.run) {
            Attempt::Nothing => {}
            Attempt::Hangs => self.observer.hung(),
            Attempt::Failed => self.observer.failed(),
            Attempt::Written => {
                let database = &self.disk.database;
                self.observer.written(&self.setup, &arena.tournament, database, self.run)?;
            }
        }
        Ok(())
    }

    /// Looks at the boards, and lets players and the page hear what is new.
    fn look(&mut self, arena: &mut Arena) -> Checked {
        let database = &self.disk.database;
        let games = arena.tournament.games();
        if self.run.has(&TOLD_EARLY) {
            for (game, result) in games.iter().filter_map(|game| Some((game.game, game.result?))) {
                self.observer.heard(&Heard::Over { game, result }, database, self.run)?;
            }
        }
        self.observer.boards(games, self.run)?;
        while let Ok(event) = arena.page.try_recv() {
            if let PageEvent::Tournament(report) = event {
                self.observer.shown(&report, database, self.run)?;
            }
        }
        for (name, heard) in arena.tournament.heard() {
            self.run.note(format_args!("{name} hears {heard:?}"));
            self.observer.heard(&heard, &self.disk.database, self.run)?;
            self.answer(name, heard);
        }
        for (order, refusal) in arena.tournament.answers() {
            self.run.note(format_args!("{order:?}: {refusal:?}"));
        }
        for name in arena.tournament.closed() {
            if self.leaving.insert(name.clone()) {
                self.add(50, Event::Leave(name));
            }
        }
        Ok(())
    }

    /// A player answers what it hears: mostly as it should.
    fn answer(&mut self, name: Name, heard: Heard) {
        let mood = if self.is_calm { 0 } else { self.run.rng.u8(..20) };
        match (heard, mood) {
            (Heard::Paired { game }, 0..17) => {
                self.add(400, Event::Say(name, game, Saying::Ack));
            }
            (Heard::YourMove { game, fen }, 0..18) => {
                let saying = match self.run.rng.u8(..10) {
                    0..6 => Saying::Move(MOVES[plies(&fen)].to_owned()),
                    6 if !self.is_calm => Saying::Move("a1a1".to_owned()),
                    _ => Saying::Resign,
                };
                self.add(800, Event::Say(name, game, saying));
            }
            _ => {}
        }
    }

    fn handle(&mut self, event: Event, tournament: &mut SimulatedTournament) {
        match event {
            Event::Join(name) => {
                if tournament.is_here(&name) {
                    return;
                }
                if let Err(refusal) = tournament.join(&name) {
                    self.run.note(format_args!("{name} is refused: {refusal}"));
                    // The organiser may let it in later.
                    self.add(5_000, Event::Join(name));
                }
            }
            Event::Leave(name) => {
                self.leaving.remove(&name);
                tournament.leave(&name);
                self.add(if self.is_calm { 1_000 } else { 15_000 }, Event::Join(name));
            }
            Event::Say(name, game, saying) => tournament.say(&name, game, saying),
            Event::Random if self.is_calm => {
                if tournament.is_waiting() {
                    tournament.order(Order::Start);
                }
                if tournament.is_paused() {
                    tournament.order(Order::Resume);
                }
                self.add(2_000, Event::Random);
            }
            Event::Random => {
                self.act_at_random(tournament);
                self.add(1_500, Event::Random);
            }
        }
    }

    /// Breaks or repairs the disk, breaks a connection, or gives an order.
    fn act_at_random(&mut self, tournament: &mut SimulatedTournament) {
        let random = &mut self.run.rng;
        let names = &self.setup.names;
        let [one, other] = [(); 2].map(|()| names[random.usize(..names.len())].clone());
        let order = match random.u8(..40) {
            0..5 => return self.disk.change(random),
            5..12 => return self.add(10, Event::Leave(one)),
            12..20 => Order::Start,
            20..22 => Order::Pause,
            22..26 => Order::Resume,
            26 => Order::LateEntries(random.bool()),
            27 => Order::Remove(one),
            28..30 => Order::Forfeit(one),
            // Half of the organisers leave pairings and results alone.
            30.. if !self.setup.intervenes => return,
            30..32 => Order::Pair { white: one, black: other },
            _ => {
                let ids: Vec<_> = self.disk.database.games().map(|game| game.header.id.to_string()).collect();
                let Some(game) = ids.get(random.usize(..ids.len().max(1))).cloned() else { return };
                let results =
                    [GameResult::Draw, GameResult::Won(Color::White), GameResult::Won(Color::Black)];
                let result = (random.u8(..4) > 0).then(|| results[random.usize(..3)]);
                let Ok(note) = Note::try_from("looked at again") else { return };
                Order::Correct { game, result, note }
            }
        };
        // The pairing follows at once, and the answer comes when it is written.
        self.observer.is_by_hand |= matches!(order, Order::Pair { .. });
        self.observer.is_corrected |= matches!(order, Order::Correct { .. });
        tournament.order(order);
    }

    /// Lets all who can play do so, until the tournament ends.
    fn calm(&mut self, arena: &mut Arena) -> Checked {
        self.is_calm = true;
        self.disk.repair();
        self.run.note(format_args!("all goes well from now on"));
        for name in self.setup.names.clone() {
            self.add(500, Event::Join(name));
        }
        self.add(500, Event::Random);
        if self.setup.is_open() {
            return Ok(());
        }
        for _ in 0..CALM_STEPS {
            if arena.tournament.is_complete() {
                break;
            }
            self.step(arena)?;
        }
        // What a failing disk did not take is written soon.
        self.time.advance_to(self.run.now + Duration::from_secs(2), self.run);
        self.disk.attempt(Instant::now());
        // Whoever was removed before the beginning leaves too few.
        let cannot_begin = arena.tournament.is_waiting();
        let is_complete = arena.tournament.is_complete() || cannot_begin;
        let rows = arena.tournament.standings();
        self.observer.ended(&self.setup, is_complete, &rows, &self.disk.database, self.run)
    }

    /// Ends the tournament, and hears what is told then.
    fn close(mut self, mut arena: Arena) -> Checked {
        let (time, disk, run) = (self.time, &mut self.disk, &mut *self.run);
        arena.tournament.close(|| {
            disk.attempt(Instant::now());
            time.advance_to(run.now + Duration::from_millis(100), run);
        });
        self.look(&mut arena)
    }
}

/// Returns the number of moves before a position, of games of four moves.
fn plies(fen: &str) -> usize {
    let mut fields = fen.split(' ');
    let is_black = fields.nth(1) == Some("b");
    let number: usize = fields.next_back().and_then(|number| number.parse().ok()).unwrap_or(1);
    (2 * number.saturating_sub(1) + usize::from(is_black)).min(MOVES.len() - 1)
}
