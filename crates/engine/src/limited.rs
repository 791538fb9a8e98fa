//! Fixed limits of every move, whatever the clock allows.

use std::{
    fmt,
    num::{NonZeroU16, NonZeroU64},
    time::{Duration, Instant},
};

use zeitnot_rules::Game;
use zeitnot_settings::{HumanTime, settings};

use crate::{
    limits::Limits,
    thinker::{Report, Task, Thinker},
};

settings! {
    /// The first limit that is reached ends the search; the clock may end it before.
    #[derive(Copy, PartialEq, Eq)]
    pub struct MoveLimits {
        /// Maximum number of nodes. Of the programs, only for those that speak UCI.
        #[schemars(example = 1)]
        nodes: Option<NonZeroU64> = None,
        /// Maximum depth in plies. Not for the protocols "lines" and "files".
        #[schemars(example = 5)]
        depth: Option<NonZeroU16> = None,
        /// Maximum time.
        #[serde(with = "HumanTime")]
        #[schemars(example = &"1s")]
        move_time: Option<Duration> = None,
    }
}

impl MoveLimits {
    /// Returns whether there are none.
    pub fn is_none(self) -> bool {
        self == MoveLimits::default()
    }

    /// Returns the limits of a search that begins now.
    pub fn apply(self, limits: &Limits, now: Instant) -> Limits {
        let until = self.move_time.and_then(|time| now.checked_add(time));
        // Without a hard limit, the clocks may end before this limit: then they are told, and the search is stopped.
        let is_shorter = until.zip(limits.hard).is_some_and(|(until, hard)| until < hard);
        Limits {
            nodes: min(limits.nodes, self.nodes.map(NonZeroU64::get)),
            depth: min(limits.depth, self.depth.map(NonZeroU16::get)),
            hard: min(limits.hard, until),
            // By the clocks, an engine would plan with more time.
            clocks: limits.clocks.filter(|_| !is_shorter),
            ..limits.clone()
        }
    }
}

fn min<T: Ord>(one: Option<T>, other: Option<T>) -> Option<T> {
    one.into_iter().chain(other).min()
}

impl fmt::Display for MoveLimits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [
            self.nodes.map(|nodes| format!("{nodes} nodes")),
            self.depth.map(|depth| format!("depth {depth}")),
            self.move_time.map(|time| humantime_serde::re::humantime::format_duration(time).to_string()),
        ];
        write!(f, "at most {} a move", parts.into_iter().flatten().collect::<Vec<_>>().join(", "))
    }
}

/// A thinker within such limits.
pub(crate) struct Limited<G: Game> {
    pub(crate) thinker: Box<dyn Thinker<G>>,
    pub(crate) limits: MoveLimits,
}

impl<G: Game> Thinker<G> for Limited<G> {
    fn think(&mut self, task: &Task<'_, G>) -> Report {
        let limits = self.limits.apply(task.limits, Instant::now());
        self.thinker.think(&Task { limits: &limits, ..*task })
    }

    fn new_game(&mut self) {
        self.thinker.new_game();
    }
}

#[cfg(test)]
mod tests {
    use zeitnot_rules::{ByColor, GameHistory, chess::Chess};

    use super::*;
    use crate::{Clocks, Config, EngineFactory, think_now};

    const SECOND: Duration = Duration::from_secs(1);

    fn limits(nodes: u64, depth: u16, seconds: u64) -> MoveLimits {
        MoveLimits {
            nodes: NonZeroU64::new(nodes),
            depth: NonZeroU16::new(depth),
            move_time: (seconds > 0).then_some(Duration::from_secs(seconds)),
        }
    }

    #[test]
    fn the_smallest_limit_counts() {
        let now = Instant::now();
        let clocks =
            Clocks { left: ByColor([SECOND; 2]), increment: SECOND, moves_to_go: None, read_at: now };
        let asked = Limits {
            depth: Some(9),
            hard: Some(now + 5 * SECOND),
            clocks: Some(clocks),
            ..Limits::default()
        };
        let all = limits(1, 5, 1).apply(&asked, now);
        assert_eq!(
            (all.nodes, all.depth, all.hard, all.clocks),
            (Some(1), Some(5), Some(now + SECOND), None)
        );
        let more = limits(0, 10, 6).apply(&asked, now);
        assert_eq!(more, asked);
        let in_a_match = limits(0, 0, 5).apply(&Limits { hard: None, ..asked.clone() }, now);
        assert_eq!((in_a_match.hard, in_a_match.clocks), (Some(now + 5 * SECOND), asked.clocks));
        let endless = limits(0, 0, u64::MAX).apply(&Limits::default(), now);
        assert_eq!(endless.hard, None);
    }

    #[test]
    fn our_engine_keeps_them() {
        let config =
            Config { hash_mib: 1.try_into().unwrap(), limits: limits(100_000, 3, 0), ..Config::default() };
        let factory = EngineFactory::new(&config).unwrap();
        let game = GameHistory::new(Chess::start());
        let (best, _) = think_now(&mut *factory.thinker(), &game, &Limits::default());
        assert_eq!(best.depth, 3);
        let usual = Config { limits: MoveLimits::default(), ..config };
        assert_ne!(factory.fingerprint(), EngineFactory::new(&usual).unwrap().fingerprint());
    }
}
