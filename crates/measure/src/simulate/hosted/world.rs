//! World of a hosted game: what the players send and when it comes, what the disk does, and when the arena is killed.

use std::time::Duration;

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
        run::{Checked, Run},
        virtual_time::VirtualTime,
    },
    front::{Action, Front, Heard, Setup},
    laws::{RESTORED, SHOWN_EARLY},
    observer::Observer,
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
    /// A random request, or a fault of the disk.
    Random,
}

pub(super) struct World<'r> {
    run: &'r mut Run,
    time: &'r VirtualTime,
    events: EventQueue<Event>,
    requests: u64,
    setup: Setup,
    disk: Disk,
    observer: Observer,
}

/// The arena between two kills.
struct Arena {
    front: Front,
    page: mpsc::Receiver<PageEvent>,
}

fn setup(run: &mut Run) -> Setup {
    let (kind, start) = STARTS[run.rng.usize(..STARTS.len())];
    let allowance = match run.rng.u8(..8) {
        0 => Allowance::Unlimited,
        _ => Allowance::Game(TimeControl {
            initial: run.millis(500..8_000),
            increment: run.millis(0..300) * run.rng.u32(..2),
        }),
    };
    let untimed = Untimed {
        plies: 2,
        limit: run.millis(500..2_000),
        expiry: if run.rng.bool() { Expiry::Abort } else { Expiry::Loss },
    };
    let adjudication = Adjudication {
        draw: run.rng.bool().then_some(DrawRule { move_number: 3, move_count: 2, score: 10 }),
        resign: run.rng.bool().then_some(ResignRule { move_count: 2, score: 500 }),
        max_moves: run.rng.bool().then(|| run.rng.u32(4..20)),
    };
    let rules = RefereeRules {
        illegal_move_loses: run.rng.u8(..4) == 0,
        margin: run.millis(0..100) * run.rng.u32(..2),
        transit: run.millis(0..100),
        flag_needs_winner: run.rng.bool(),
        untimed: run.rng.bool().then_some(untimed),
        abort_before: run.rng.usize(..3),
        draw_offers_from: run.rng.bool().then_some(2),
        adjudication,
    };
    Setup { kind, start, allowances: ByColor::both(allowance), rules }
}

impl<'r> World<'r> {
    pub(super) fn new(run: &'r mut Run, time: &'r VirtualTime) -> Option<World<'r>> {
        let setup = setup(run);
        let observer = Observer::new(&setup, setup.board()?);
        Some(World {
            run,
            time,
            events: EventQueue::default(),
            requests: 0,
            setup,
            disk: Disk::new(),
            observer,
        })
    }

    pub(super) fn run(mut self) -> Checked {
        let Some(board) = self.setup.board() else { return Ok(()) };
        self.run.note(format_args!("{:?}", self.setup));
        let planted = self.run.planted;
        let begun = self.start(|setup, host, now| Some(Front::begin(setup, board, host, planted, now)));
        let Some(mut arena) = begun else { return Ok(()) };
        for _ in 0..MAX_STEPS {
            self.step(&mut arena)?;
            if self.run.one_in(40) {
                match self.kill(arena)? {
                    Some(restored) => arena = restored,
                    None => return Ok(()),
                }
            } else if self.observer.has_told() {
                break;
            }
        }
        // Once more: nothing is told twice.
        self.disk.repair();
        self.step(&mut arena)
    }

    /// Starts the arena, which begins a game, or goes on with one.
    fn start(&mut self, begin: impl FnOnce(&Setup, Host, Instant) -> Option<Front>) -> Option<Arena> {
        let (feed, page) = Feed::channel();
        let host = Host { feed, database: Some(self.disk.database.start()) };
        let front = begin(&self.setup, host, Instant::now())?;
        self.events = EventQueue::default();
        self.events.add(self.run.now, Event::Random);
        self.ask(&front);
        Some(Arena { front, page })
    }

    /// Handles the next event.
    fn step(&mut self, arena: &mut Arena) -> Checked {
        let due = arena.front.due().map(|due| due.duration_since(self.time.start));
        let next = self.events.next_at();
        // What was read before a flag falls is judged before it.
        let is_event = next.is_some_and(|next| due.is_none_or(|due| next <= due));
        let mut read_at = None;
        if let Some((at, event)) = is_event.then(|| self.events.pop()).flatten() {
            self.time.advance_to(at, self.run);
            self.run.step(format_args!("{event:?}"));
            read_at = self.handle(event, arena)?;
        } else if let Some(due) = due {
            self.time.advance_to(due, self.run);
            self.run.step(format_args!("the time is over"));
            arena.front.tick(Instant::now());
        }
        let now = Instant::now();
        self.write(arena);
        let heard = arena.front.settle(now);
        self.observer.check(&arena.front.game, read_at.unwrap_or(now), now, self.run)?;
        let row = self.disk.database.games().next();
        let is_early = self.run.has(&SHOWN_EARLY) && arena.front.game.referee.ending.is_some();
        while let Ok(event) = arena.page.try_recv() {
            if matches!(event, PageEvent::Ended(_)) {
                self.observer.shown(row, self.run)?;
            }
        }
        if is_early {
            self.observer.shown(row, self.run)?;
        }
        if let Some(Heard::Ended(ending)) = heard {
            self.run.note(format_args!("told: {ending:?}"));
            self.observer.ended(ending, row, self.run)?;
        }
        Ok(())
    }

    /// Returns when the request was read that was made, if one was.
    fn handle(&mut self, event: Event, arena: &mut Arena) -> Checked<Option<Instant>> {
        let (now, elapsed) = (Instant::now(), self.run.now);
        match event {
            Event::Thought(plies) => self.think(&arena.front, plies),
            Event::Read(request) => {
                let lag = if self.run.rng.bool() { Duration::ZERO } else { self.run.millis(0..60) };
                self.events.add(elapsed + lag, Event::Make(request, elapsed));
            }
            Event::Make(Request { number, color, action }, read_at) => {
                let read_at = self.time.start + read_at;
                let heard = arena.front.act(color, &action, read_at, now);
                match &heard {
                    Some(Heard::Played(mover, mv)) => {
                        self.observer.played(number, (*mover, mv), read_at, self.run)?;
                    }
                    Some(Heard::TakenBack(kept)) => self.observer.taken_back(*kept, now),
                    Some(Heard::Ended(_)) | None => {}
                }
                if heard.is_some() {
                    self.run.note(format_args!("heard: {heard:?}"));
                    self.ask(&arena.front);
                }
                return Ok(Some(read_at));
            }
            Event::Random => {
                self.act_at_random(&arena.front);
                let next = self.run.millis(20..800);
                self.events.add(elapsed + next, Event::Random);
            }
        }
        Ok(None)
    }

    /// Lets the writer get to what waits, or not yet.
    fn write(&mut self, arena: &Arena) {
        match self.disk.attempt_at_random(self.run) {
            Attempt::Nothing | Attempt::Hangs => {}
            Attempt::Written => self.observer.written(&arena.front.game.referee.plies),
            Attempt::Failed => self.observer.failed(),
        }
    }

    /// The side to move is asked for a move, and thinks.
    fn ask(&mut self, front: &Front) {
        let thinks = match self.run.rng.u8(..12) {
            0 => self.run.millis(0..12_000),
            _ => self.run.millis(0..900),
        };
        let plies = front.game.referee.plies.len();
        self.events.add(self.run.now + thinks, Event::Thought(plies));
    }

    /// Sends a move, mostly a legal one, and once in a while again.
    fn think(&mut self, front: &Front, plies: usize) {
        let referee = &front.game.referee;
        if referee.plies.len() != plies || referee.ending.is_some() {
            return;
        }
        let moves = referee.board.legal_moves();
        let Some((mv, _)) = self.run.pick(&moves) else { return };
        let text = match self.run.rng.u8(..15) {
            0 => "a1a1".to_owned(),
            1 => "é".repeat(40),
            _ => mv.to_string(),
        };
        let score = UciScore::Cp([0, 700, -700][self.run.rng.usize(..3)]);
        let opinion = self.run.rng.bool().then_some(Opinion { score, depth: 9 });
        self.send(referee.turn(), Action::Move(text, opinion));
        // An illegal move is followed by another one.
        self.ask(front);
    }

    fn send(&mut self, color: Color, action: Action) {
        self.requests += 1;
        let request = Request { number: self.requests, color, action };
        let elapsed = self.run.now;
        for _ in 0..1 + usize::from(self.run.rng.u8(..8) == 0) {
            let way = self.run.millis(0..40);
            self.events.add(elapsed + way, Event::Read(request.clone()));
        }
    }

    /// Breaks or repairs the disk, or sends a request that nobody expects: a move out of turn, an offer, a resignation.
    fn act_at_random(&mut self, front: &Front) {
        let random = &mut self.run.rng;
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
    fn kill(&mut self, arena: Arena) -> Checked<Option<Arena>> {
        drop(arena);
        self.run.note(format_args!("killed"));
        // A result that was told while the disk failed may be lost.
        if self.observer.has_told() {
            return Ok(None);
        }
        let row = self.disk.database.games().next().cloned();
        if !self.observer.killed(row.as_ref(), self.run)? {
            return Ok(None);
        }
        let (Some(row), Some(board)) = (row, self.setup.board()) else { return Ok(None) };
        let planted = self.run.planted;
        let arena = self.start(|setup, host, now| Front::restore(setup, board, &row, host, planted, now));
        let readable = arena.is_some();
        self.run.check(&RESTORED, readable, || format!("the row cannot be replayed: {row:?}"))?;
        if let Some(arena) = &arena {
            self.observer.restored(&arena.front.game, Instant::now(), self.run)?;
        }
        Ok(arena)
    }
}
