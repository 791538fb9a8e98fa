//! Three hours without the server while thirty games run: requests a minute, of the account as it is and as it was.

use std::time::Duration;

use fastrand::Rng;

use super::{
    super::{
        history::{Broken, History},
        subject::Mutant,
    },
    laws::{self, Kind},
    mutants,
    plan::{Outage, Plan, Weather},
    world::{Happening, World},
};

const GAMES: u32 = 30;
const MINUTE: Duration = Duration::from_secs(60);
/// Clocks of the games.
const LENGTH: Duration = Duration::from_secs(3600);
/// The server does not answer from here …
const FROM: u32 = 15;
/// … until here, and from then on with 502, until three hours are over.
const DEAD_UNTIL: u32 = FROM + 11;
const UNTIL: u32 = FROM + 180;
const END: u32 = UNTIL + 30;
/// Minutes of a row.
const ROW: u32 = 15;

/// Returns the lines of a table: look-ups a minute, before and after.
///
/// # Errors
/// A law is broken.
pub(crate) fn table() -> Result<Vec<String>, Broken> {
    let before = sent(Some(&mutants::OLD_LOOKUPS), END)?;
    let after = sent(None, END)?;
    let mut lines = vec![
        format!(
            "{GAMES} games of one hour; no answer from minute {FROM}, 502 from minute {DEAD_UNTIL} to minute {UNTIL}"
        ),
        "requests a minute, mean (most): lists of running games before and after; all requests after"
            .to_owned(),
    ];
    for start in (0..END).step_by(ROW as usize) {
        let of = |sent: &[(Duration, Kind)], kind: Option<Kind>| {
            let counts = (start..start + ROW).map(|minute| {
                let is_in = |at: &Duration| (minute * MINUTE..(minute + 1) * MINUTE).contains(at);
                sent.iter().filter(|(at, sent)| is_in(at) && kind.is_none_or(|kind| kind == *sent)).count()
            });
            let counts: Vec<_> = counts.collect();
            let mean = counts.iter().sum::<usize>() as f64 / f64::from(ROW);
            format!("{mean:7.1} ({:4})", counts.iter().max().unwrap_or(&0))
        };
        let playing = Some(Kind::RunningGames);
        lines.push(format!(
            "{start:>4} to {:>4} min {} {} {}",
            start + ROW,
            of(&before, playing),
            of(&after, playing),
            of(&after, None)
        ));
    }
    Ok(lines)
}

/// Returns the requests that are asked for until this minute, and when.
fn sent(mutant: Option<&'static Mutant>, end: u32) -> Result<Vec<(Duration, Kind)>, Broken> {
    let mut rng = Rng::with_seed(0);
    let outage = |from, to, weather| Outage { from: from * MINUTE, to: to * MINUTE, weather };
    let mut plan = Plan::quiet(GAMES);
    plan.outages =
        vec![outage(FROM, DEAD_UNTIL, Weather::Dead), outage(DEAD_UNTIL, UNTIL, Weather::BadGateway)];
    plan.game_length = Some(LENGTH);
    fastrand::seed(rng.u64(..));
    let mut history = History::default();
    // The old logic is to be counted, not to be caught.
    mutant.iter().for_each(|_| history.focus(&laws::STAYS));
    let mut world = World::planned(plan, rng, mutant.map(|mutant| mutant.name), &mut history);
    world.queue.add(Duration::ZERO, Happening::Start);
    world.queue.add(FROM * MINUTE, Happening::StreamBreaks);
    for game in 0..GAMES {
        world.queue.add(Duration::from_secs(game.into()), Happening::ForeignGame);
    }
    world.run_until(end * MINUTE)?;
    Ok(world.requests.all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn look_ups_do_not_multiply_in_a_long_outage() {
        let most = |sent: Vec<(Duration, Kind)>| {
            let of = |minute: u32| {
                let span = minute * MINUTE..(minute + 1) * MINUTE;
                sent.iter().filter(|(at, kind)| *kind == Kind::RunningGames && span.contains(at)).count()
            };
            (FROM..UNTIL).map(of).max()
        };
        let before = most(sent(Some(&mutants::OLD_LOOKUPS), DEAD_UNTIL + 60).unwrap());
        let after = most(sent(None, END).unwrap());
        assert!(before >= Some(500) && after <= Some(10), "{before:?}, {after:?}");
    }
}
