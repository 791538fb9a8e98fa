//! World of a hosted game: what the players send and when it comes, what the disk does, and when the arena is killed.

use std::{fmt, time::Duration};

use tokio::{sync::mpsc, time::Instant};
use zeitnot_host::{
    hosted_game::Host,
    live::{Event as PageEvent, Feed},
};
use zeitnot_referee::{
    Adjudication, Allowance, DrawRule, Expiry, Opinion, RefereeRules, ResignRule, Untimed,
};
use zeitnot_rules::{ByColor, Color, GameKind, GameResult, TimeControl};
use zeitnot_wire::uci::UciScore;

use super::{
    super::{
        disk::{Attempt, Disk},
        event_queue::EventQueue,
        history::{Broken, History},
        law::Mutant,
        virtual_time::VirtualTime,
    },
    front::{Action, Front, Heard, Setup},
    laws::RESTORED,
    watch::Watch,
};

/// Steps of a seed.
const MAX_STEPS: usize = 120;
/// Positions from which games soon end, besides the usual ones.
const STARTS: [(GameKind, Option<&str>); 7] = [
    (GameKind::Chess, None),
    (GameKind::MinichessImcs, None),
    (GameKind::Atomic, None),
    (GameKind::Chess, Some("7k/8/5KQ1/8/8/8/8/8 w - - 0 1")),
    (GameKind::Chess, Some("7k/8/5KQ1/8/8/8/8/8 b - - 0 1")),
    (GameKind::Chess, Some("8/8/8/4k3/8/8/4p3/K7 w - - 96 80")),
    (GameKind::Chess, Some("8/5P2/8/8/k7/8/8/K7 w - - 0 1")),
];

/// Request on its way.
#[derive(Clone, Debug)]
struct Request {
    number: u64,
    color: Color,
    action: Action,
}

#[derive(Debug)]
enum Event {
    /// A request is read from its connection.
    Read(Request),
    /// The game gets to a request that was read at this time.
    Make(Request, Duration),
    /// A player who was asked after so many moves has thought enough.
    Thought(usize),
    /// Something that nobody expects.
    Whim,
}

pub(super) struct World<'h> {
    random: fastrand::Rng,
    mutant: Option<&'static Mutant>,
    history: &'h mut History,
    time: &'h VirtualTime,
    events: EventQueue<Event>,
    requests: u64,
    setup: Setup,
    disk: Disk,
}

/// One life of the arena.
struct Life {
    front: Front,
    page: mpsc::Receiver<PageEvent>,
}

fn millis(random: &mut fastrand::Rng, range: std::ops::Range<u64>) -> Duration {
    Duration::from_millis(random.u64(range))
}

fn setup(random: &mut fastrand::Rng) -> Setup {
    let (kind, start) = STARTS[random.usize(..STARTS.len())];
    let allowance = match random.u8(..8) {
        0 => Allowance::Unlimited,
        _ => Allowance::Game(TimeControl {
            initial: millis(random, 500..8_000),
            increment: millis(random, 0..300) * random.u32(..2),
        }),
    };
    let untimed = Untimed {
        plies: 2,
        limit: millis(random, 500..2_000),
        expiry: if random.bool() { Expiry::Abort } else { Expiry::Loss },
    };
    let adjudication = Adjudication {
        draw: random.bool().then_some(DrawRule { move_number: 3, move_count: 2, score: 10 }),
        resign: random.bool().then_some(ResignRule { move_count: 2, score: 500 }),
        max_moves: random.bool().then(|| random.u32(4..20)),
    };
    let rules = RefereeRules {
        illegal_move_loses: random.u8(..4) == 0,
        margin: millis(random, 0..100) * random.u32(..2),
        transit: millis(random, 0..100),
        flag_needs_winner: random.bool(),
        untimed: random.bool().then_some(untimed),
        abort_before: random.usize(..3),
        draw_offers_from: random.bool().then_some(2),
        adjudication,
    };
    Setup { kind, start, allowances: ByColor::both(allowance), rules }
}

impl<'h> World<'h> {
    pub(super) fn new(
        seed: u64,
        mutant: Option<&'static Mutant>,
        time: &'h VirtualTime,
        history: &'h mut History,
    ) -> World<'h> {
        // Ids of games are drawn from it.
        fastrand::seed(seed);
        let mut random = fastrand::Rng::with_seed(seed);
        let (setup, events) = (setup(&mut random), EventQueue::default());
        World { setup, random, mutant, history, time, events, requests: 0, disk: Disk::new() }
    }

    pub(super) fn run(mut self) -> Result<(), Broken> {
        let Some(board) = self.setup.board() else { return Ok(()) };
        let mut watch = Watch::new(&self.setup, board.again());
        self.history.note(Duration::ZERO, format_args!("{:?}", self.setup));
        let mutant = self.mutant;
        let begun = self.start(|setup, host, now| Some(Front::begin(setup, board, host, mutant, now)));
        let Some(mut life) = begun else { return Ok(()) };
        for _ in 0..MAX_STEPS {
            self.step(&mut life, &mut watch)?;
            if self.random.u8(..40) == 0 {
                match self.kill(life, &mut watch)? {
                    Some(restored) => life = restored,
                    None => return Ok(()),
                }
            } else if watch.has_told() {
                break;
            }
        }
        // Once more: nothing is told twice.
        self.disk.repair();
        self.step(&mut life, &mut watch)
    }

    fn note(&mut self, what: fmt::Arguments<'_>) {
        self.history.note(self.time.elapsed(), what);
    }

    /// Starts the arena, which begins a game, or goes on with one.
    fn start(&mut self, begin: impl FnOnce(&Setup, Host, Instant) -> Option<Front>) -> Option<Life> {
        let (feed, page) = Feed::channel();
        let host = Host { feed, database: Some(self.disk.database.start()) };
        let front = begin(&self.setup, host, Instant::now())?;
        self.events = EventQueue::default();
        self.events.add(self.time.elapsed(), Event::Whim);
        self.ask(&front);
        Some(Life { front, page })
    }

    /// Lets the next thing happen.
    fn step(&mut self, life: &mut Life, watch: &mut Watch) -> Result<(), Broken> {
        let due = life.front.due().map(|due| due.duration_since(self.time.start()));
        let next = self.events.next_at();
        // What was read before a flag falls is judged before it.
        let is_event = next.is_some_and(|next| due.is_none_or(|due| next <= due));
        let mut read_at = None;
        if let Some((at, event)) = is_event.then(|| self.events.pop()).flatten() {
            self.time.advance_to(at);
            self.history.step(at, format_args!("{event:?}"));
            read_at = self.happen(event, life, watch)?;
        } else if let Some(due) = due {
            self.time.advance_to(due);
            self.history.step(due, format_args!("the time is over"));
            life.front.tick(Instant::now());
        }
        let now = Instant::now();
        self.write(life, watch);
        let heard = life.front.settle(now);
        watch.check(&life.front.game, read_at.unwrap_or(now), now, self.history)?;
        while let Ok(event) = life.page.try_recv() {
            if matches!(event, PageEvent::Ended(_)) {
                watch.shown();
            }
        }
        if let Some(Heard::Ended(ending)) = heard {
            self.note(format_args!("told: {ending:?}"));
            watch.ended(ending, self.disk.database.games().next(), now, self.history)?;
        }
        Ok(())
    }

    /// Returns when the request was read that was made, if one was.
    fn happen(
        &mut self,
        event: Event,
        life: &mut Life,
        watch: &mut Watch,
    ) -> Result<Option<Instant>, Broken> {
        let (now, elapsed) = (Instant::now(), self.time.elapsed());
        match event {
            Event::Thought(plies) => self.think(&life.front, plies),
            Event::Read(request) => {
                let lag = if self.random.bool() { Duration::ZERO } else { millis(&mut self.random, 0..60) };
                self.events.add(elapsed + lag, Event::Make(request, elapsed));
            }
            Event::Make(Request { number, color, action }, read_at) => {
                let read_at = self.time.start() + read_at;
                let heard = life.front.act(color, &action, read_at, now);
                match &heard {
                    Some(Heard::Played(mover, mv)) => {
                        watch.played(number, (*mover, mv), read_at, self.history)?;
                    }
                    Some(Heard::TakenBack(kept)) => watch.taken_back(*kept, now),
                    Some(Heard::Ended(_)) | None => {}
                }
                if heard.is_some() {
                    self.note(format_args!("heard: {heard:?}"));
                    self.ask(&life.front);
                }
                return Ok(Some(read_at));
            }
            Event::Whim => {
                self.have_whim(&life.front);
                let next = millis(&mut self.random, 20..800);
                self.events.add(elapsed + next, Event::Whim);
            }
        }
        Ok(None)
    }

    /// Lets the writer get to what waits, or not yet.
    fn write(&mut self, life: &Life, watch: &mut Watch) {
        if self.random.u8(..3) == 0 {
            return;
        }
        match self.disk.attempt(Instant::now()) {
            Attempt::Nothing | Attempt::Hangs => {}
            Attempt::Written => {
                self.note(format_args!("written"));
                watch.written(&life.front.game.referee.plies);
            }
            Attempt::Failed => {
                self.note(format_args!("not written"));
                watch.failed();
            }
        }
    }

    /// The side to move is asked for a move, and thinks.
    fn ask(&mut self, front: &Front) {
        let thinks = match self.random.u8(..12) {
            0 => millis(&mut self.random, 0..12_000),
            _ => millis(&mut self.random, 0..900),
        };
        let plies = front.game.referee.plies.len();
        self.events.add(self.time.elapsed() + thinks, Event::Thought(plies));
    }

    /// Sends a move, mostly a legal one, and once in a while again.
    fn think(&mut self, front: &Front, plies: usize) {
        let referee = &front.game.referee;
        if referee.plies.len() != plies || referee.ending.is_some() {
            return;
        }
        let moves = referee.board.legal_moves();
        let Some((mv, _)) = moves.get(self.random.usize(..moves.len().max(1))) else { return };
        let text = match self.random.u8(..15) {
            0 => "a1a1".to_owned(),
            1 => "é".repeat(40),
            _ => mv.to_string(),
        };
        let score = UciScore::Cp([0, 700, -700][self.random.usize(..3)]);
        let opinion = self.random.bool().then_some(Opinion { score, depth: 9 });
        self.send(referee.turn(), Action::Move(text, opinion));
        // An illegal move is followed by another one.
        self.ask(front);
    }

    fn send(&mut self, color: Color, action: Action) {
        self.requests += 1;
        let request = Request { number: self.requests, color, action };
        let elapsed = self.time.elapsed();
        for _ in 0..1 + usize::from(self.random.u8(..8) == 0) {
            let way = millis(&mut self.random, 0..40);
            self.events.add(elapsed + way, Event::Read(request.clone()));
        }
    }

    /// Does something at any moment: a move out of turn, an offer, a resignation, a fault of the disk.
    fn have_whim(&mut self, front: &Front) {
        let random = &mut self.random;
        let (color, agrees) = (Color::BOTH[random.usize(..2)], random.u8(..3) > 0);
        let results = [GameResult::Draw, GameResult::Won(color)];
        let referee = &front.game.referee;
        let action = match random.u8(..60) {
            0..6 => return self.disk.change(random),
            6..20 => Action::Takeback(agrees),
            20..28 => Action::Draw(agrees),
            28 => Action::Resign,
            29 => Action::Abort,
            30 => Action::Claim(results[random.usize(..2)]),
            31 => Action::Leave,
            32 => Action::Decide,
            // A move that was legal at some time, and may be so again.
            33..45 if !referee.plies.is_empty() => {
                let old = &referee.plies[random.usize(..referee.plies.len())];
                Action::Move(old.mv.to_string(), None)
            }
            _ => {
                let moves = referee.board.legal_moves();
                let Some((mv, _)) = moves.get(random.usize(..moves.len().max(1))) else { return };
                Action::Move(mv.to_string(), None)
            }
        };
        self.send(color, action);
    }

    /// Kills the arena and starts it again; `None`: there is nothing to go on with.
    fn kill(&mut self, life: Life, watch: &mut Watch) -> Result<Option<Life>, Broken> {
        drop(life);
        self.note(format_args!("killed"));
        // A result that was told while the disk failed may be lost.
        if watch.has_told() {
            return Ok(None);
        }
        let row = self.disk.database.games().next().cloned();
        if !watch.killed(row.as_ref(), self.history)? {
            return Ok(None);
        }
        let (Some(row), Some(board)) = (row, self.setup.board()) else { return Ok(None) };
        let mutant = self.mutant;
        let life = self.start(|setup, host, now| Front::restore(setup, board, &row, host, mutant, now));
        let readable = life.is_some();
        self.history.check(&RESTORED, readable, || format!("the row cannot be replayed: {row:?}"))?;
        if let Some(life) = &life {
            watch.restored(&life.front.game, Instant::now(), self.history)?;
        }
        Ok(life)
    }
}
