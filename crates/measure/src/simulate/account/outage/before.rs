//! The former client, as far as it sent requests: each cause began a chain of look-ups, and each stream was opened again
//! by itself.

use std::{collections::VecDeque, time::Duration};

use fastrand::Rng;
use zeitnot_clients::lichess::{Config, simulation::Backoff};

use super::{super::super::event_queue::EventQueue, END, FROM, GAMES, Game, MINUTE, Sent, reply};

/// Before a failed look-up was repeated.
const LOOKUP_DELAY: Duration = Duration::from_secs(2);
/// Between two checks that the server sees us online, while games run.
const KEEP_WARM: Duration = Duration::from_secs(45);
/// From the end of a clock until its game was looked up, and until then it bounded the delays of all streams.
const END_TIMEOUT: Duration = Duration::from_secs(30);
/// Longest time between two look-ups of a game; it went on bounding delays.
const MAX_PERIOD: Duration = Duration::from_secs(1800);
const EVENTS: usize = GAMES as usize;

#[derive(Copy, Clone, Debug)]
enum Lookup {
    /// Of the running games; repeated until it succeeds.
    Playing,
    Online,
}

#[derive(Debug)]
enum Step {
    Overdue(usize),
    CheckOnline,
    Wanted(Lookup),
    LookedUp(Lookup, bool),
    /// A stream by its number; the last one has the events.
    Open(usize),
    Opened(usize, bool),
}

/// Clock of a game that is not known to be over.
#[derive(Debug)]
struct Clock {
    game: Game,
    overdue_at: Duration,
    period: Duration,
}

struct Client {
    rng: Rng,
    timeouts: (Duration, Duration),
    queue: EventQueue<Step>,
    clocks: Vec<Option<Clock>>,
    delays: Vec<Backoff>,
    /// Look-ups were sent one at a time.
    waiting: VecDeque<Lookup>,
    is_looking_up: bool,
    sent: Sent,
}

/// Returns the requests of the former client.
pub(super) fn run() -> Sent {
    let timeouts = Config::default().timeouts;
    let mut client = Client {
        rng: Rng::with_seed(0),
        queue: EventQueue::default(),
        clocks: Vec::new(),
        delays: (0..=EVENTS).map(|_| Backoff::new(&timeouts.reconnect)).collect(),
        waiting: VecDeque::new(),
        is_looking_up: false,
        sent: Sent::default(),
        timeouts: (timeouts.reply, timeouts.silence),
    };
    fastrand::seed(0);
    let from = FROM * MINUTE;
    for (number, game) in Game::all().into_iter().enumerate() {
        let overdue_at = from + game.left + END_TIMEOUT;
        client.queue.add(overdue_at, Step::Overdue(number));
        client.clocks.push(Some(Clock { game, overdue_at, period: MINUTE }));
    }
    client.queue.add(from, Step::CheckOnline);
    // All streams break at once.
    (0..=EVENTS).for_each(|stream| client.lost(stream, from));
    while let Some((now, step)) = client.queue.pop().filter(|(now, _)| *now < END * MINUTE) {
        client.step(step, now);
    }
    client.sent
}

impl Client {
    fn step(&mut self, step: Step, now: Duration) {
        match step {
            Step::Overdue(number) => self.overdue(number, now),
            Step::CheckOnline => {
                self.queue.add(now + KEEP_WARM, Step::CheckOnline);
                self.waiting.push_back(Lookup::Online);
            }
            Step::Wanted(lookup) => self.waiting.push_back(lookup),
            Step::LookedUp(lookup, is_answered) => {
                self.is_looking_up = false;
                match lookup {
                    // The games are over.
                    Lookup::Playing if is_answered => self.clocks.iter_mut().for_each(|clock| *clock = None),
                    Lookup::Playing => self.queue.add(now + LOOKUP_DELAY, Step::Wanted(lookup)),
                    Lookup::Online => {}
                }
            }
            Step::Open(stream) => self.open(stream, now),
            Step::Opened(stream, false) => self.lost(stream, now),
            Step::Opened(EVENTS, true) => self.waiting.push_back(Lookup::Playing),
            // It tells that its game is over.
            Step::Opened(stream, true) => self.clocks[stream] = None,
        }
        self.look_up(now);
    }

    fn overdue(&mut self, number: usize, now: Duration) {
        if let Some(clock) = &mut self.clocks[number] {
            clock.overdue_at = now + clock.period;
            clock.period = (2 * clock.period).min(MAX_PERIOD);
            self.queue.add(clock.overdue_at, Step::Overdue(number));
            self.waiting.push_back(Lookup::Playing);
        }
    }

    fn look_up(&mut self, now: Duration) {
        if self.is_looking_up {
            return;
        }
        if let Some(lookup) = self.waiting.pop_front() {
            self.is_looking_up = true;
            self.sent.look_ups.push(now);
            let (at, is_answered) = reply(&mut self.rng, now, self.timeouts.0);
            self.queue.add(at, Step::LookedUp(lookup, is_answered));
        }
    }

    fn open(&mut self, stream: usize, now: Duration) {
        let opened = match self.clocks.get(stream) {
            Some(None) => return,
            Some(Some(_)) => &mut self.sent.game_streams,
            None => &mut self.sent.event_streams,
        };
        opened.push(now);
        let (at, is_answered) = reply(&mut self.rng, now, self.timeouts.1);
        self.queue.add(at, Step::Opened(stream, is_answered));
    }

    /// Opens a stream again, after a delay of its own that the clocks bound.
    fn lost(&mut self, stream: usize, now: Duration) {
        let running = self.clocks.iter().flatten().filter(|clock| now < clock.overdue_at);
        let left = running.map(|clock| clock.game.time_left(now)).min();
        let left = if stream == EVENTS { left.map(|_| Duration::MAX) } else { left };
        let delay = self.delays[stream].next(left);
        self.queue.add(now + delay, Step::Open(stream));
    }
}
