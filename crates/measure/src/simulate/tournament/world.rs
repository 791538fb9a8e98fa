//! World of a tournament: what its players and its organiser do and when, what the disk does, and when the arena is
//! killed. First anything may happen; then all who can play do so, until the tournament ends.

use std::{collections::BTreeSet, fmt, time::Duration};

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
        history::{Broken, History},
        law::Mutant,
        virtual_time::VirtualTime,
    },
    laws::{NO_PAIRING, RESTORED, TOLD_EARLY},
    setup::{MOVES, Setup},
    watch::Watch,
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
    /// Something that nobody expects.
    Whim,
}

/// One life of the arena.
struct Life {
    tournament: SimulatedTournament,
    page: mpsc::Receiver<PageEvent>,
}

pub(super) struct World<'h> {
    random: fastrand::Rng,
    mutant: Option<&'static Mutant>,
    history: &'h mut History,
    time: &'h VirtualTime,
    events: EventQueue<Event>,
    setup: Setup,
    disk: Disk,
    watch: Watch,
    /// Players whose connections are about to be given up.
    leaving: BTreeSet<Name>,
    is_calm: bool,
    /// No turn was possible.
    is_stuck: bool,
}

fn millis(random: &mut fastrand::Rng, most: u64) -> Duration {
    Duration::from_millis(random.u64(..most))
}

impl<'h> World<'h> {
    pub(super) fn new(
        seed: u64,
        mutant: Option<&'static Mutant>,
        time: &'h VirtualTime,
        history: &'h mut History,
    ) -> Option<World<'h>> {
        // Ids of games, and colours, are drawn from it.
        fastrand::seed(seed);
        let mut random = fastrand::Rng::with_seed(seed);
        Some(World {
            setup: Setup::new(&mut random)?,
            random,
            mutant,
            history,
            time,
            events: EventQueue::default(),
            disk: Disk::new(),
            watch: Watch::new(mutant),
            leaving: BTreeSet::new(),
            is_calm: false,
            is_stuck: false,
        })
    }

    fn has(&self, mutant: &Mutant) -> bool {
        self.mutant.is_some_and(|planted| planted.name == mutant.name)
    }

    fn note(&mut self, what: fmt::Arguments<'_>) {
        self.history.note(self.time.elapsed(), what);
    }

    fn add(&mut self, most: u64, event: Event) {
        let wait = millis(&mut self.random, most);
        self.events.add(self.time.elapsed() + wait, event);
    }

    pub(super) fn run(mut self) -> Result<(), Broken> {
        self.history.note(Duration::ZERO, format_args!("{:?}", self.setup));
        let mut life = self.start()?;
        for _ in 0..WILD_STEPS {
            self.step(&mut life)?;
            if life.tournament.is_complete() {
                break;
            }
            if self.random.u8(..40) == 0 {
                drop(life);
                self.note(format_args!("killed"));
                life = self.start()?;
                self.watch.restored(&life.tournament, &self.disk.database, self.history)?;
            }
        }
        self.calm(&mut life)?;
        self.close(life)
    }

    /// Starts the arena; all players are away, and come.
    fn start(&mut self) -> Result<Life, Broken> {
        let (feed, page) = Feed::channel();
        let config = self.setup.config.clone();
        let started = SimulatedTournament::start(config, &mut self.disk.database, feed);
        let error = started.as_ref().err().cloned();
        self.history.check(&RESTORED, error.is_none(), || format!("it cannot start: {error:?}"))?;
        self.events = EventQueue::default();
        self.leaving.clear();
        for name in self.setup.names.clone() {
            self.add(2_000, Event::Join(name));
        }
        if !self.is_calm {
            self.add(1_000, Event::Whim);
        }
        let broken = |error| Broken { law: RESTORED.name, what: error };
        Ok(Life { tournament: started.map_err(broken)?, page })
    }

    /// Lets the next thing happen, and then all turns that are possible.
    fn step(&mut self, life: &mut Life) -> Result<(), Broken> {
        let due = life.tournament.due().saturating_duration_since(self.time.start());
        match self.events.next_at().filter(|at| *at <= due || self.is_stuck) {
            Some(_) => {
                if let Some((at, event)) = self.events.pop() {
                    self.time.advance_to(at);
                    self.history.step(at, format_args!("{event:?}"));
                    self.happen(event, &mut life.tournament);
                    self.look(life)?;
                }
            }
            None => self.time.advance_to(due),
        }
        self.is_stuck = true;
        for _ in 0..TURNS {
            self.write(life)?;
            let mut kinds = TurnKind::ALL;
            self.random.shuffle(&mut kinds);
            if self.has(&NO_PAIRING) {
                kinds = kinds.map(|kind| if kind == TurnKind::Pairing { TurnKind::Settled } else { kind });
            }
            let Some(kind) = life.tournament.turn(kinds) else { break };
            self.is_stuck = false;
            self.history.step(self.time.elapsed(), format_args!("{kind:?}"));
            self.look(life)?;
        }
        Ok(())
    }

    /// Lets the writer get to what waits, or not yet.
    fn write(&mut self, life: &Life) -> Result<(), Broken> {
        let now = Instant::now();
        if self.random.u8(..3) == 0 {
            return Ok(());
        }
        match self.disk.attempt(now) {
            Attempt::Nothing => Ok(()),
            Attempt::Hangs => {
                self.watch.hung();
                Ok(())
            }
            Attempt::Failed => {
                self.note(format_args!("not written"));
                self.watch.failed(now);
                Ok(())
            }
            Attempt::Written => {
                self.note(format_args!("written"));
                self.watch.written(&self.setup, &life.tournament, &self.disk.database, self.history)
            }
        }
    }

    /// Looks at the boards, and lets players and the page hear what is new.
    fn look(&mut self, life: &mut Life) -> Result<(), Broken> {
        let (now, database) = (Instant::now(), &self.disk.database);
        let games = life.tournament.games();
        if self.has(&TOLD_EARLY) {
            for (game, result) in games.iter().filter_map(|game| Some((game.game, game.result?))) {
                self.watch.heard(&Heard::Over { game, result }, database, now, self.history)?;
            }
        }
        self.watch.boards(games, now, self.history)?;
        while let Ok(event) = life.page.try_recv() {
            if let PageEvent::Tournament(report) = event {
                self.watch.shown(&report, database, now, self.history)?;
            }
        }
        for (name, heard) in life.tournament.heard() {
            self.note(format_args!("{name} hears {heard:?}"));
            self.watch.heard(&heard, &self.disk.database, now, self.history)?;
            self.answer(name, heard);
        }
        for (order, refusal) in life.tournament.answers() {
            self.note(format_args!("{order:?}: {refusal:?}"));
        }
        for name in life.tournament.closed() {
            if self.leaving.insert(name.clone()) {
                self.add(50, Event::Leave(name));
            }
        }
        Ok(())
    }

    /// A player answers what it hears: mostly as it should.
    fn answer(&mut self, name: Name, heard: Heard) {
        let mood = if self.is_calm { 0 } else { self.random.u8(..20) };
        match (heard, mood) {
            (Heard::Paired { game }, 0..17) => {
                self.add(400, Event::Say(name, game, Saying::Ack));
            }
            (Heard::YourMove { game, fen }, 0..18) => {
                let saying = match self.random.u8(..10) {
                    0..6 => Saying::Move(MOVES[plies(&fen)].to_owned()),
                    6 if !self.is_calm => Saying::Move("a1a1".to_owned()),
                    _ => Saying::Resign,
                };
                self.add(800, Event::Say(name, game, saying));
            }
            _ => {}
        }
    }

    fn happen(&mut self, event: Event, tournament: &mut SimulatedTournament) {
        match event {
            Event::Join(name) => {
                if tournament.is_here(&name) {
                    return;
                }
                if let Err(refusal) = tournament.join(&name) {
                    self.note(format_args!("{name} is refused: {refusal}"));
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
            Event::Whim if self.is_calm => {
                if tournament.is_waiting() {
                    tournament.order(Order::Start);
                }
                if tournament.is_paused() {
                    tournament.order(Order::Resume);
                }
                self.add(2_000, Event::Whim);
            }
            Event::Whim => {
                self.have_whim(tournament);
                self.add(1_500, Event::Whim);
            }
        }
    }

    /// Does something at any moment: a fault of the disk, a lost connection, an order.
    fn have_whim(&mut self, tournament: &mut SimulatedTournament) {
        let random = &mut self.random;
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
            30.. if !self.setup.is_meddled => return,
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
        self.watch.is_by_hand |= matches!(order, Order::Pair { .. });
        self.watch.is_corrected |= matches!(order, Order::Correct { .. });
        tournament.order(order);
    }

    /// Lets all who can play do so, until the tournament ends.
    fn calm(&mut self, life: &mut Life) -> Result<(), Broken> {
        self.is_calm = true;
        self.disk.repair();
        self.note(format_args!("all goes well from now on"));
        for name in self.setup.names.clone() {
            self.add(500, Event::Join(name));
        }
        self.add(500, Event::Whim);
        if self.setup.is_open() {
            return Ok(());
        }
        for _ in 0..CALM_STEPS {
            if life.tournament.is_complete() {
                break;
            }
            self.step(life)?;
        }
        // What a failing disk did not take is written soon.
        self.time.advance_to(self.time.elapsed() + Duration::from_secs(2));
        self.disk.attempt(Instant::now());
        // Whoever was removed before the beginning leaves too few.
        let cannot_begin = life.tournament.is_waiting();
        let is_complete = life.tournament.is_complete() || cannot_begin;
        let rows = life.tournament.standings();
        self.watch.ended(&self.setup, is_complete, &rows, &self.disk.database, self.history)
    }

    /// Ends the tournament, and hears what is told then.
    fn close(mut self, mut life: Life) -> Result<(), Broken> {
        let (time, disk) = (self.time, &mut self.disk);
        life.tournament.close(|| {
            disk.attempt(Instant::now());
            time.advance_to(time.elapsed() + Duration::from_millis(100));
        });
        self.look(&mut life)
    }
}

/// Moves before a position, of games of four moves.
fn plies(fen: &str) -> usize {
    let mut fields = fen.split(' ');
    let is_black = fields.nth(1) == Some("b");
    let number: usize = fields.next_back().and_then(|number| number.parse().ok()).unwrap_or(1);
    (2 * number.saturating_sub(1) + usize::from(is_black)).min(MOVES.len() - 1)
}
