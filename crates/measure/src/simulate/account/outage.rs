//! Three hours without the server: requests a minute, of the client as it is and as it was.
//!
//! Thirty games with one minute for each side run when the server dies. It answers nothing for eleven minutes, and then
//! 502. [`before`] models the former client. Now, the look-ups are those of the account's state machine, and [`streams`]
//! opens the streams by the program's own back-off.

use std::time::Duration;

use fastrand::Rng;

use super::{
    super::history::{Broken, History},
    laws::Kind,
    plan::{Outage, Plan, Weather, millis},
    world::{Happening, World},
};

mod before;
mod streams;

const GAMES: u32 = 30;
const SECOND: Duration = Duration::from_secs(1);
const MINUTE: Duration = Duration::from_secs(60);
/// The server does not answer from here …
const FROM: u32 = 1;
/// … until here, and from then on with 502, until three hours are over.
const DEAD_UNTIL: u32 = FROM + 11;
const UNTIL: u32 = FROM + 180;
/// Minutes of a row.
const ROW: u32 = 15;
const END: u32 = 13 * ROW;

/// Game that runs when the server dies.
#[derive(Debug)]
struct Game {
    /// Time left of either side.
    left: Duration,
    is_our_turn: bool,
}

impl Game {
    fn all() -> Vec<Game> {
        let game = |number| Game { left: SECOND * (60 - number), is_our_turn: number % 2 == 0 };
        (0..GAMES).map(game).collect()
    }

    /// Returns our time left, as far as we know.
    fn time_left(&self, now: Duration) -> Duration {
        let spent = now.saturating_sub(FROM * MINUTE);
        if self.is_our_turn { self.left.saturating_sub(spent) } else { self.left }
    }
}

/// Requests of a client, by kind.
#[derive(Debug, Default)]
struct Sent {
    look_ups: Vec<Duration>,
    game_streams: Vec<Duration>,
    event_streams: Vec<Duration>,
}

impl Sent {
    fn kinds(&self) -> [&Vec<Duration>; 3] {
        [&self.look_ups, &self.game_streams, &self.event_streams]
    }
}

/// Returns when the reply to a request comes that is sent now, and whether it is a good one.
fn reply(rng: &mut Rng, now: Duration, timeout: Duration) -> (Duration, bool) {
    let is_dead = (FROM * MINUTE..DEAD_UNTIL * MINUTE).contains(&now);
    let delay = if is_dead { timeout } else { millis(rng, 20..200) };
    (now + delay, now >= UNTIL * MINUTE)
}

fn now() -> Result<Sent, Broken> {
    let (game_streams, event_streams) = streams::run();
    Ok(Sent { look_ups: look_ups()?, game_streams, event_streams })
}

/// Returns when the account looks something up.
fn look_ups() -> Result<Vec<Duration>, Broken> {
    let mut rng = Rng::with_seed(0);
    let outage = |from, to, weather| Outage { from: from * MINUTE, to: to * MINUTE, weather };
    let mut plan = Plan::quiet(GAMES);
    plan.outages =
        vec![outage(FROM, DEAD_UNTIL, Weather::Dead), outage(DEAD_UNTIL, UNTIL, Weather::BadGateway)];
    plan.game_length = Some(2 * MINUTE);
    fastrand::seed(rng.u64(..));
    let mut history = History::default();
    let mut world = World::planned(plan, rng, None, &mut history);
    world.queue.add(Duration::ZERO, Happening::Start);
    world.queue.add(FROM * MINUTE, Happening::StreamBreaks);
    for game in 0..GAMES {
        world.queue.add(SECOND * (game + 1), Happening::ForeignGame);
    }
    world.run_until(END * MINUTE)?;
    let is_look_up = |kind| matches!(kind, Kind::RunningGames | Kind::Token | Kind::Online | Kind::Opponents);
    let sent = world.requests.all.iter().filter(|(_, kind)| is_look_up(*kind));
    Ok(sent.map(|(at, _)| *at).collect())
}

/// Counts the requests in each minute of a span.
fn a_minute(sent: &[Duration], minutes: std::ops::Range<u32>) -> Vec<usize> {
    let count = |minute| sent.iter().filter(|at| at.as_secs() / 60 == u64::from(minute)).count();
    minutes.map(count).collect()
}

/// Returns the lines of a table.
///
/// # Errors
/// A law is broken.
pub(crate) fn table() -> Result<Vec<String>, Broken> {
    let (before, now) = (before::run(), now()?);
    let mut lines = vec![
        format!(
            "{GAMES} games of one minute; no answer from minute {FROM}, 502 from minute {DEAD_UNTIL} to minute {UNTIL}"
        ),
        "requests a minute, mean (most): look-ups, game streams, event stream; before | after".to_owned(),
    ];
    for start in (0..END).step_by(ROW as usize) {
        let cells = |sent: &Sent| {
            let cell = |sent: &Vec<Duration>| {
                let counts = a_minute(sent, start..start + ROW);
                let mean = counts.iter().sum::<usize>() as f64 / f64::from(ROW);
                format!("{mean:7.1} ({:4})", counts.iter().max().unwrap_or(&0))
            };
            sent.kinds().map(cell).join(" ")
        };
        lines.push(format!("{start:>4} to {:>3} min {} | {}", start + ROW, cells(&before), cells(&now)));
    }
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn look_ups_do_not_multiply_in_a_long_outage() {
        let most = |sent: &Sent, minutes: std::ops::Range<u32>| {
            sent.kinds().map(|sent| a_minute(sent, minutes.clone()).into_iter().max().unwrap_or(0))
        };
        let (before, now) = (before::run(), now().unwrap());
        let [look_ups, games, events] = most(&before, FROM..UNTIL);
        assert!(look_ups >= 400 && games >= 900 && events >= 30, "before: {look_ups}, {games}, {events}");
        let [look_ups, games, events] = most(&now, FROM..END);
        assert!(
            look_ups <= 10 && games <= 3 * GAMES as usize && events <= 10,
            "{look_ups}, {games}, {events}"
        );
        // Once the games must be over, their number does not matter.
        let [_, games, _] = most(&now, FROM + 5..UNTIL);
        assert!(games <= 10, "{games}");
    }
}
