//! The world of an account: time, the server's side of what happens, and the phases of a run.

use std::time::{Duration, Instant};

use fastrand::Rng;
use zeitnot_clients::lichess::simulation::{DeclineHistory, Reply, Request};
use zeitnot_seat::{Reservation, Seats};
use zeitnot_wire::lichess::{ChallengeEnd, ChallengeId, Event, GameId};

use super::{
    super::{
        event_queue::EventQueue,
        history::{Broken, History},
        law::Mutant,
    },
    laws::{self, Kind, Requests},
    plan::{Plan, seconds},
    program::Program,
    server::{Origin, PLAYERS, Server, Tournament},
    stream::Stream,
};

/// Time without new faults in which everything must be well again.
pub(super) const SETTLE: Duration = Duration::from_secs(45 * 60);
/// Longest time until the program has left after that; longer than any game.
const MAX_LEAVING: Duration = Duration::from_secs(3 * 3600);
/// Happenings of one run at most.
const MAX_HAPPENINGS: u32 = 4_000_000;

/// Something that happens in the world, at the time that the queue says.
#[derive(Debug)]
pub(super) enum Happening {
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
    /// A request of a run of the program reaches the server.
    Arrives(u32, Request),
    /// Its reply reaches the program.
    Replied(u32, Kind, Option<ChallengeId>, Reply),
    /// The old logic looks up the running games again.
    OldLookup(u32),
    Wake(u32),
    TaskEnds(u32, GameId),
    TaskCrashes,
    OpponentKnown(u32, GameId),
    /// A game is without news; again after this time.
    Overdue(u32, GameId, Duration),
    Start,
    Kill,
    Stop,
    Order,
    Reconfigure,
    SeatTaken,
    SeatFreed,
    /// No faults from now on.
    Heals,
    Settled,
    MustHaveLeft,
}

pub(super) struct World<'h> {
    pub(super) now: Duration,
    pub(super) base: Instant,
    pub(super) rng: Rng,
    pub(super) queue: EventQueue<Happening>,
    pub(super) plan: Plan,
    pub(super) server: Server,
    pub(super) program: Option<Program>,
    /// Run of the program, which a kill ends.
    pub(super) run: u32,
    pub(super) stream: Stream,
    pub(super) seats: Seats,
    /// Places that other clients have taken.
    pub(super) others: Vec<Reservation>,
    pub(super) saved: Option<DeclineHistory>,
    pub(super) requests: Requests,
    /// No request of a kind is sent before, after a 429.
    pub(super) closed_until: [Duration; Kind::COUNT],
    /// Last time that a fault disturbed something.
    pub(super) disturbed: Duration,
    /// Last time that no place was free.
    pub(super) full: Duration,
    pub(super) stopped: Option<Duration>,
    pub(super) has_left: bool,
    pub(super) mutant: Option<&'static str>,
    pub(super) history: &'h mut History,
}

impl<'h> World<'h> {
    pub(super) fn new(seed: u64, mutant: Option<&'static Mutant>, history: &'h mut History) -> World<'h> {
        let mut rng = Rng::with_seed(seed);
        let plan = Plan::draw(&mut rng);
        World::planned(plan, rng, mutant.map(|mutant| mutant.name), history)
    }

    pub(super) fn planned(
        plan: Plan,
        mut rng: Rng,
        mutant: Option<&'static str>,
        history: &'h mut History,
    ) -> World<'h> {
        let starts = seconds(&mut rng, 0..plan.active.as_secs());
        let ends = starts + seconds(&mut rng, 600..3600);
        let id = "tourney1".parse().unwrap_or_else(|error| panic!("{error}"));
        World {
            now: Duration::ZERO,
            base: Instant::now(),
            queue: EventQueue::default(),
            server: Server::new(Tournament { id, starts, ends, is_joined: false }),
            program: None,
            run: 0,
            stream: Stream::default(),
            seats: Seats::new(plan.seats),
            others: Vec::new(),
            saved: None,
            requests: Requests::default(),
            closed_until: Default::default(),
            disturbed: Duration::ZERO,
            full: Duration::ZERO,
            stopped: None,
            has_left: false,
            mutant,
            history,
            plan,
            rng,
        }
    }

    pub(super) fn is(&self, mutant: &Mutant) -> bool {
        self.mutant == Some(mutant.name)
    }

    pub(super) fn is_healed(&self) -> bool {
        self.now >= self.healed_at()
    }

    /// Returns when the last outage is over, and no other fault begins.
    pub(super) fn healed_at(&self) -> Duration {
        let outages = self.plan.outages.iter().map(|outage| outage.to);
        outages.fold(self.plan.active, Duration::max)
    }

    /// Adds something that happens after this time.
    pub(super) fn after(&mut self, delay: Duration, happening: Happening) {
        self.queue.add(self.now + delay, happening);
    }

    /// Adds something at a random time while there are faults.
    fn sometime(&mut self, happening: Happening) {
        let at = seconds(&mut self.rng, 0..self.plan.active.as_secs());
        self.queue.add(at, happening);
    }

    /// Runs to the end, and checks all laws on the way.
    pub(super) fn run(mut self) -> Result<(), Broken> {
        self.schedule();
        let end = self.healed_at() + SETTLE + MAX_LEAVING;
        self.run_until(end)
    }

    /// Lets everything happen until then, or until the program has left.
    pub(super) fn run_until(&mut self, end: Duration) -> Result<(), Broken> {
        let mut happened = 0;
        while let Some((at, happening)) = self.queue.pop() {
            if at > end {
                break;
            }
            self.now = at;
            happened += 1;
            let is_calm = happened < MAX_HAPPENINGS;
            self.history.check(&laws::CALM, is_calm, || "it never comes to an end".to_owned())?;
            if !is_calm {
                break;
            }
            self.happens(happening)?;
            if self.has_left {
                break;
            }
        }
        Ok(())
    }

    fn schedule(&mut self) {
        self.queue.add(Duration::ZERO, Happening::Start);
        let first = self.pause();
        self.after(first, Happening::Challenge);
        for _ in 0..self.plan.foreign_games {
            self.sometime(Happening::ForeignGame);
        }
        for _ in 0..self.plan.stream_breaks {
            self.sometime(Happening::StreamBreaks);
        }
        for _ in 0..self.plan.kills {
            self.sometime(Happening::Kill);
        }
        for _ in 0..self.plan.orders {
            self.sometime(Happening::Order);
        }
        for _ in 0..self.rng.u32(..3) {
            self.sometime(Happening::SeatTaken);
            self.sometime(Happening::SeatFreed);
        }
        for happening in [Happening::Reconfigure, Happening::TaskCrashes] {
            if self.rng.u8(..4) == 0 {
                self.sometime(happening);
            }
        }
        for outage in self.plan.outages.clone() {
            self.queue.add(outage.from, Happening::StreamBreaks);
        }
        if let Some(stop) = self.plan.stop {
            self.queue.add(stop, Happening::Stop);
        }
        let healed = self.healed_at();
        self.queue.add(healed, Happening::Heals);
        self.queue.add(healed + SETTLE, Happening::Settled);
    }

    /// Returns the time until the next challenge.
    pub(super) fn pause(&mut self) -> Duration {
        self.plan.challenge_every.mul_f64(2.0 * self.rng.f64())
    }

    fn happens(&mut self, happening: Happening) -> Result<(), Broken> {
        self.note_full();
        match happening {
            Happening::Challenge => self.challenged(),
            Happening::Withdrawn(id) => self.withdrawn(id, &ChallengeEnd::Canceled)?,
            Happening::Answered(id, end) => self.our_challenge_ends(id, &end),
            Happening::ForeignGame => {
                let id = self.server.new_id().into();
                let opponent = self.rng.usize(..PLAYERS);
                self.game_begins(id, opponent, Origin::Foreign, false);
            }
            Happening::Paired => self.paired(),
            Happening::Moved(id) => {
                let is_played = self.program.as_ref().is_some_and(|program| program.tasks.contains_key(&id));
                if let Some(game) = self.server.games.get_mut(&id) {
                    game.has_moved |= is_played;
                }
            }
            Happening::OurTurn(id) => {
                if let Some(game) = self.server.games.get_mut(&id) {
                    game.is_my_turn = true;
                }
            }
            Happening::GameOver(id) => self.game_over(id)?,
            Happening::Event(stream, event) => self.event_arrives(stream, *event)?,
            Happening::StreamBreaks => self.stream_breaks(),
            Happening::StreamOpens(stream) => self.stream_opens(stream)?,
            Happening::Arrives(run, request) => self.arrives(run, request),
            Happening::Replied(run, kind, accepted, reply) => self.replied(run, kind, accepted, reply)?,
            Happening::OldLookup(run) if run == self.run => self.send(Request::RunningGames)?,
            Happening::Wake(run) if run == self.run => self.wake()?,
            Happening::TaskEnds(run, id) if run == self.run => self.task_ends(id)?,
            Happening::TaskCrashes => self.task_crashes()?,
            Happening::OpponentKnown(run, id) if run == self.run => self.opponent_known(id)?,
            Happening::Overdue(run, id, period) if run == self.run => self.overdue(id, period)?,
            Happening::OldLookup(_)
            | Happening::OpponentKnown(..)
            | Happening::Wake(_)
            | Happening::TaskEnds(..)
            | Happening::Overdue(..) => {}
            Happening::Start => self.start(),
            Happening::Kill => self.kill(),
            Happening::Stop => self.stop()?,
            Happening::Order => self.order()?,
            Happening::Reconfigure => self.reconfigure()?,
            Happening::SeatTaken => {
                self.others.extend(self.seats.reserve());
                self.seats_changed();
            }
            Happening::SeatFreed => {
                self.others.pop();
                self.seats_changed();
            }
            Happening::Heals => {
                self.others.clear();
                self.seats_changed();
                self.history.note(self.now, format_args!("no more faults"));
            }
            Happening::Settled => self.settled()?,
            Happening::MustHaveLeft => self.must_have_left()?,
        }
        self.note_full();
        Ok(())
    }

    /// Returns whether a fault of so many in a thousand happens now.
    pub(super) fn has_fault(&mut self, of_thousand: u32) -> bool {
        let has_fault = !self.is_healed() && self.rng.u32(..1000) < of_thousand;
        if has_fault {
            self.disturbed = self.now;
        }
        has_fault
    }

    /// The program has stopped by itself, and a supervisor does not start it again.
    pub(super) fn finish(&mut self) {
        self.program = None;
        self.run += 1;
        self.has_left = true;
    }
}
