//! Streams of the client: those of a kind are held back by one [`SharedBackoff`].

use std::time::{Duration, Instant};

use fastrand::Rng;
use zeitnot_clients::lichess::{
    Config,
    simulation::{Backoff, SharedBackoff},
};

use super::{super::super::event_queue::EventQueue, END, FROM, GAMES, Game, MINUTE, SECOND, reply};

/// From the end of both clocks until a game bounds no delay any more.
const END_TIMEOUT: Duration = Duration::from_secs(30);

#[derive(Debug)]
enum Step {
    /// A stream is to be opened, as soon as it is its turn.
    Wanted,
    Due,
    Opened {
        is_probe: bool,
        is_answered: bool,
    },
}

/// Returns when the streams of the games and the event stream are opened.
pub(super) fn run() -> (Vec<Duration>, Vec<Duration>) {
    fastrand::seed(0);
    let games = Game::all();
    let left = |now: Duration| {
        let is_running = |game: &&Game| now < FROM * MINUTE + 2 * game.left + END_TIMEOUT;
        games.iter().filter(is_running).map(|game| game.time_left(now)).min()
    };
    (openings(GAMES, left), openings(1, |now| left(now).map(|_| Duration::MAX)))
}

/// Returns when so many streams are opened, where the games leave us this much time.
fn openings(streams: u32, left: impl Fn(Duration) -> Option<Duration>) -> Vec<Duration> {
    let timeouts = Config::default().timeouts;
    let (base, mut rng) = (Instant::now(), Rng::with_seed(0));
    let mut backoff = SharedBackoff::new(&timeouts.reconnect);
    let mut queue = EventQueue::default();
    // All break at once, each after it was of use.
    for _ in 0..streams {
        let delay = Backoff::new(&timeouts.reconnect).next(left(FROM * MINUTE));
        queue.add(FROM * MINUTE + delay, Step::Wanted);
    }
    let (mut waiting, mut is_probing) = (0, false);
    let mut opened = Vec::new();
    while let Some((now, step)) = queue.pop().filter(|(now, _)| *now < END * MINUTE) {
        match step {
            Step::Wanted => waiting += 1,
            Step::Due => {}
            Step::Opened { is_probe, is_answered } => {
                is_probing &= !is_probe;
                if is_answered {
                    backoff.succeeded(base + now);
                } else {
                    if is_probe || !backoff.is_failing() {
                        backoff.failed(base + now, left(now));
                    }
                    let due = backoff.due(left(now)).map_or(now, |due| due.saturating_duration_since(base));
                    queue.add(due.max(now), Step::Wanted);
                }
            }
        }
        while waiting > 0 && !is_probing {
            let due = backoff.due(left(now)).map(|due| due.saturating_duration_since(base));
            if let Some(due) = due.filter(|due| *due > now) {
                // A game may shorten the delay.
                queue.add(due.min(now + SECOND), Step::Due);
                break;
            }
            (waiting, is_probing) = (waiting - 1, backoff.is_failing());
            opened.push(now);
            let (at, is_answered) = reply(&mut rng, now, timeouts.silence);
            queue.add(at, Step::Opened { is_probe: is_probing, is_answered });
        }
    }
    opened
}
