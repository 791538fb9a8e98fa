//! The world of an account: time, the events in it, and the phases of a run.

use std::{
    ops::Range,
    time::{Duration, Instant},
};

use zeitnot_clients::lichess::simulation::{DeclineHistory, Input, Reply, Request};
use zeitnot_seat::{Reservation, Seats};
use zeitnot_wire::lichess::{ChallengeEnd, ChallengeId, Event, GameId};

use super::{
    super::{
        event_queue::EventQueue,
        run::{Checked, Run},
    },
    laws,
    plan::Plan,
    program::{Program, Task},
    sent_requests::{Kind, SentRequests},
    server::{Origin, PLAYERS, Server, Tournament},
    stream::Stream,
};

/// Time without new faults in which everything must be well again.
pub(super) const SETTLE: Duration = Duration::from_secs(45 * 60);
/// Longest time until the program has left after that; longer than any game.
const MAX_LEAVING: Duration = Duration::from_secs(3 * 3600);
/// Events of one run at most.
const MAX_EVENTS: u32 = 4_000_000;

/// Something that happens in the world, at the time that the queue says.
#[derive(Debug)]
pub(super) enum WorldEvent {
    /// A player challenges us.
    Challenge,
    /// A challenge to us ends unanswered.
    Withdrawn(ChallengeId),
    /// The opponent answers our challenge.
    Answered(ChallengeId, ChallengeEnd),
    /// Another program of our account begins a game.
    ForeignGame,
    /// The tournament pairs us, if we have asked for it.
    Paired,
    /// Both players have moved.
    Moved(GameId),
    /// It is our turn in a correspondence game.
    OurTurn(GameId),
    GameOver(GameId),
    /// An event reaches the program's stream, if that is still the same.
    Event(u32, Box<Event>),
    StreamBreaks,
    StreamOpens(u32),
    /// A request reaches the server; the reply goes to the program of this generation.
    Arrives(u32, Request),
    /// Something happens in the program, if it is still that of this generation.
    Program(u32, ProgramEvent),
    TaskCrashes,
    Start,
    Kill,
    Stop,
    Order,
    Reconfigure,
    SeatTaken,
    SeatFreed,
    FaultsEnd,
    Settled,
}

/// Something that happens in one generation of the program.
#[derive(Debug)]
pub(super) enum ProgramEvent {
    /// The reply to a request of this kind; `None`: what became of a challenge of ours.
    Replied(Option<Kind>, Reply),
    /// A request was refused with 401.
    Unauthorized,
    /// The old logic looks up the running games again.
    OldLookup,
    Wake,
    TaskEnds(GameId),
    OpponentKnown(GameId),
    /// A game is without news; again after this time.
    Overdue(GameId, Duration),
    MustHaveLeft,
}

pub(super) struct World<'r> {
    pub(super) base: Instant,
    pub(super) queue: EventQueue<WorldEvent>,
    pub(super) plan: Plan,
    pub(super) server: Server,
    pub(super) program: Option<Program>,
    /// Number of the program, as a kill ends one and another starts.
    pub(super) generation: u32,
    pub(super) stream: Stream,
    pub(super) seats: Seats,
    /// Seats that other clients have taken.
    pub(super) others: Vec<Reservation>,
    pub(super) saved: Option<DeclineHistory>,
    pub(super) requests: SentRequests,
    /// No request of a kind is sent before, after a 429.
    pub(super) closed_until: [Duration; Kind::COUNT],
    /// Last time that a fault disturbed something.
    pub(super) disturbed: Duration,
    /// Last time that no seat was free.
    pub(super) full: Duration,
    pub(super) stopped: Option<Duration>,
    pub(super) has_left: bool,
    pub(super) run: &'r mut Run,
}

impl<'r> World<'r> {
    pub(super) fn new(plan: Plan, run: &'r mut Run) -> World<'r> {
        let starts = run.secs(0..plan.active.as_secs());
        let ends = starts + run.secs(600..3600);
        let id = "tourney1".parse().unwrap_or_else(|error| panic!("{error}"));
        World {
            base: Instant::now(),
            queue: EventQueue::default(),
            server: Server::new(Tournament { id, starts, ends, is_joined: false }),
            program: None,
            generation: 0,
            stream: Stream::default(),
            seats: Seats::new(plan.seats),
            others: Vec::new(),
            saved: None,
            requests: SentRequests::default(),
            closed_until: Default::default(),
            disturbed: Duration::ZERO,
            full: Duration::ZERO,
            stopped: None,
            has_left: false,
            plan,
            run,
        }
    }

    /// Returns whether no more faults happen.
    pub(super) fn is_faultless(&self) -> bool {
        self.run.now >= self.faults_end()
    }

    /// Returns when the last outage is over, and no other fault begins.
    pub(super) fn faults_end(&self) -> Duration {
        let outages = self.plan.outages.iter().map(|outage| outage.to);
        outages.fold(self.plan.active, Duration::max)
    }

    /// Adds an event after this time.
    pub(super) fn after(&mut self, delay: Duration, event: WorldEvent) {
        self.queue.add(self.run.now + delay, event);
    }

    /// Adds an event after a random time in seconds.
    pub(super) fn after_secs(&mut self, range: Range<u64>, event: WorldEvent) {
        let delay = self.run.secs(range);
        self.after(delay, event);
    }

    /// Adds an event of the program that runs now.
    pub(super) fn in_program(&mut self, delay: Duration, event: ProgramEvent) {
        self.after(delay, WorldEvent::Program(self.generation, event));
    }

    /// Adds events at random times while there are faults.
    fn sometimes(&mut self, times: u32, event: impl Fn() -> WorldEvent) {
        for _ in 0..times {
            let at = self.run.secs(0..self.plan.active.as_secs());
            self.queue.add(at, event());
        }
    }

    /// Runs to the end, and checks all laws on the way.
    pub(super) fn run(mut self) -> Checked {
        self.schedule();
        let end = self.faults_end() + SETTLE + MAX_LEAVING;
        self.run_until(end)
    }

    /// Handles all events until then, or until the program has left.
    pub(super) fn run_until(&mut self, end: Duration) -> Checked {
        let mut events = 0;
        while let Some((at, event)) = self.queue.pop().filter(|(at, _)| *at <= end && !self.has_left) {
            self.run.now = at;
            events += 1;
            self.run
                .check(&laws::NO_BUSY_LOOP, events < MAX_EVENTS, || "it never comes to an end".to_owned())?;
            if events == MAX_EVENTS {
                break;
            }
            self.note_full();
            self.handle(event)?;
            self.note_full();
        }
        Ok(())
    }

    fn schedule(&mut self) {
        self.queue.add(Duration::ZERO, WorldEvent::Start);
        let first = self.pause();
        self.after(first, WorldEvent::Challenge);
        let Plan { foreign_games, stream_breaks, kills, orders, .. } = self.plan;
        self.sometimes(foreign_games, || WorldEvent::ForeignGame);
        self.sometimes(stream_breaks, || WorldEvent::StreamBreaks);
        self.sometimes(kills, || WorldEvent::Kill);
        self.sometimes(orders, || WorldEvent::Order);
        let seats = self.run.rng.u32(..3);
        self.sometimes(seats, || WorldEvent::SeatTaken);
        self.sometimes(seats, || WorldEvent::SeatFreed);
        let changes = self.run.one_in(4).into();
        self.sometimes(changes, || WorldEvent::Reconfigure);
        let crashes = self.run.one_in(4).into();
        self.sometimes(crashes, || WorldEvent::TaskCrashes);
        for outage in &self.plan.outages {
            self.queue.add(outage.from, WorldEvent::StreamBreaks);
        }
        if let Some(stop) = self.plan.stop {
            self.queue.add(stop, WorldEvent::Stop);
        }
        let end = self.faults_end();
        self.queue.add(end, WorldEvent::FaultsEnd);
        self.queue.add(end + SETTLE, WorldEvent::Settled);
    }

    /// Returns the time until the next challenge.
    pub(super) fn pause(&mut self) -> Duration {
        self.plan.challenge_every.mul_f64(2.0 * self.run.rng.f64())
    }

    fn handle(&mut self, event: WorldEvent) -> Checked {
        match event {
            WorldEvent::Challenge => self.challenged(),
            WorldEvent::Withdrawn(id) => self.withdrawn(id, &ChallengeEnd::Canceled)?,
            WorldEvent::Answered(id, end) => self.our_challenge_ends(id, &end),
            WorldEvent::ForeignGame => {
                let id = self.server.new_id().into();
                let opponent = self.run.rng.usize(..PLAYERS);
                self.game_begins(id, opponent, Origin::Foreign, false);
            }
            WorldEvent::Paired => self.paired(),
            WorldEvent::Moved(id) => {
                let is_played = self.task(id).is_some();
                if let Some(game) = self.server.games.get_mut(&id) {
                    game.has_moved |= is_played;
                }
            }
            WorldEvent::OurTurn(id) => {
                if let Some(game) = self.server.games.get_mut(&id) {
                    game.is_my_turn = true;
                }
            }
            WorldEvent::GameOver(id) => self.game_over(id)?,
            WorldEvent::Event(stream, event) => self.event_arrives(stream, *event)?,
            WorldEvent::StreamBreaks => self.stream_breaks(),
            WorldEvent::StreamOpens(stream) => self.stream_opens(stream)?,
            WorldEvent::Arrives(generation, request) => self.arrives(generation, request),
            WorldEvent::Program(generation, event) if generation == self.generation => {
                self.handle_in_program(event)?;
            }
            WorldEvent::Program(..) => {}
            WorldEvent::TaskCrashes => self.task_crashes()?,
            WorldEvent::Start => self.start(),
            WorldEvent::Kill => self.kill(),
            WorldEvent::Stop => self.stop()?,
            WorldEvent::Order => self.order()?,
            WorldEvent::Reconfigure => self.reconfigure()?,
            WorldEvent::SeatTaken => {
                self.others.extend(self.seats.reserve());
                self.seats_changed();
            }
            WorldEvent::SeatFreed => {
                self.others.pop();
                self.seats_changed();
            }
            WorldEvent::FaultsEnd => {
                self.others.clear();
                self.seats_changed();
                self.run.note(format_args!("no more faults"));
            }
            WorldEvent::Settled => self.settled()?,
        }
        Ok(())
    }

    fn handle_in_program(&mut self, event: ProgramEvent) -> Checked {
        match event {
            ProgramEvent::Replied(kind, reply) => self.replied(kind, reply),
            ProgramEvent::Unauthorized => self.tell(Input::Unauthorized),
            ProgramEvent::OldLookup => self.send(Request::RunningGames),
            ProgramEvent::Wake => self.wake(),
            ProgramEvent::TaskEnds(id) => self.task_ends(id),
            ProgramEvent::OpponentKnown(id) => self.opponent_known(id),
            ProgramEvent::Overdue(id, period) => self.overdue(id, period),
            ProgramEvent::MustHaveLeft => self.must_have_left(),
        }
    }

    pub(super) fn task(&mut self, id: GameId) -> Option<&mut Task> {
        self.program.as_mut()?.tasks.get_mut(&id)
    }

    /// Returns whether a fault of so many in a thousand happens now.
    pub(super) fn has_fault(&mut self, of_thousand: u32) -> bool {
        let has_fault = !self.is_faultless() && self.run.rng.u32(..1000) < of_thousand;
        if has_fault {
            self.disturbed = self.disturbed.max(self.run.now);
        }
        has_fault
    }

    /// The program has stopped by itself, and a supervisor does not start it again.
    pub(super) fn finish(&mut self) {
        self.program = None;
        self.generation += 1;
        self.has_left = true;
    }
}
