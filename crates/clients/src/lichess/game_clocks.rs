//! Clocks of the running games of an account. They bound every delay between attempts while a game may be running, and
//! tell which game is to be looked up, as it has been without news for longer than its clocks allow.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use tokio::sync::{Notify, futures::Notified};
use zeitnot_wire::lichess::GameId;

/// A game tells of itself in this time after its start.
const START_TIMEOUT: Duration = Duration::from_secs(60);
/// A game whose clocks are not known runs for this time.
const UNKNOWN_LENGTH: Duration = Duration::from_secs(600);
/// Time from the end of a clock until the game's end must have been told.
const END_TIMEOUT: Duration = Duration::from_secs(30);
/// Bounds of the delay before a game without news is looked up again.
const MIN_PERIOD: Duration = Duration::from_secs(60);
const MAX_PERIOD: Duration = Duration::from_secs(1800);

#[derive(Clone, Debug)]
struct WatchedClock {
    /// Our time left, which runs since then if it is our turn.
    left: Duration,
    runs_since: Option<Instant>,
    /// Both clocks have run out by then, whatever happens. After that the game bounds no delay.
    runs_until: Instant,
    /// It is looked up then, unless there is news.
    look_up_at: Instant,
    /// Time between look-ups that find the game running.
    period: Duration,
}

impl WatchedClock {
    fn time_left(&self, now: Instant) -> Duration {
        let spent = self.runs_since.map(|since| now.saturating_duration_since(since));
        self.left.saturating_sub(spent.unwrap_or_default())
    }
}

/// Games with clocks, shared by all tasks of an account.
#[derive(Debug, Default)]
pub(crate) struct GameClocks {
    games: Mutex<HashMap<GameId, WatchedClock>>,
    /// Notified of each game and each clock that is told.
    changed: Notify,
}

impl GameClocks {
    /// Waits until a game begins, or its clocks are told.
    pub(crate) fn changed(&self) -> Notified<'_> {
        self.changed.notified()
    }

    /// Notes a game whose clocks are not known yet.
    pub(crate) fn begin(&self, id: GameId, now: Instant) {
        self.games().insert(
            id,
            WatchedClock {
                left: Duration::MAX,
                runs_since: None,
                runs_until: now + UNKNOWN_LENGTH,
                look_up_at: now + START_TIMEOUT,
                period: MIN_PERIOD,
            },
        );
        self.changed.notify_waiters();
    }

    /// Notes our time left, which runs since then if it is our turn. The next news is due within `news`, and both clocks
    /// run out within `length`.
    pub(crate) fn update(
        &self,
        id: GameId,
        left: Duration,
        read_at: Instant,
        is_our_turn: bool,
        news: Duration,
        length: Duration,
    ) {
        if let Some(clock) = self.games().get_mut(&id) {
            *clock = WatchedClock {
                left,
                runs_since: is_our_turn.then_some(read_at),
                runs_until: read_at + length + END_TIMEOUT,
                look_up_at: read_at + news + END_TIMEOUT,
                period: MIN_PERIOD,
            };
        }
        self.changed.notify_waiters();
    }

    pub(crate) fn end(&self, id: GameId) {
        self.games().remove(&id);
    }

    /// Returns our shortest time left in a game, if one runs; `Duration::MAX` if none is known. Games that must be over by
    /// now do not count.
    pub(crate) fn time_left(&self, now: Instant) -> Option<Duration> {
        let games = self.games();
        let running = games.values().filter(|clock| now < clock.runs_until);
        running.map(|clock| clock.time_left(now)).min()
    }

    /// Returns when a game may have been without news for too long.
    pub(crate) fn due(&self) -> Option<Instant> {
        self.games().values().map(|clock| clock.look_up_at).min()
    }

    /// Returns the games without news for too long. They are looked up again later, and later each time.
    pub(crate) fn take_overdue(&self, now: Instant) -> Vec<GameId> {
        let mut games = self.games();
        let overdue = games.iter_mut().filter(|(_, clock)| now >= clock.look_up_at);
        overdue
            .map(|(id, clock)| {
                clock.look_up_at = now + clock.period;
                clock.period = (2 * clock.period).min(MAX_PERIOD);
                *id
            })
            .collect()
    }

    fn games(&self) -> MutexGuard<'_, HashMap<GameId, WatchedClock>> {
        self.games.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn id(number: u32) -> GameId {
        format!("{number:08}").parse().unwrap()
    }

    #[test]
    fn the_shortest_of_our_clocks_counts_while_its_game_runs() {
        let clocks = GameClocks::default();
        let now = Instant::now();
        assert_eq!((clocks.time_left(now), clocks.due()), (None, None));
        clocks.begin(id(1), now);
        assert_eq!(clocks.time_left(now), Some(Duration::MAX));
        clocks.begin(id(2), now);
        clocks.update(id(2), 10 * SECOND, now, true, 10 * SECOND, 10 * SECOND);
        assert_eq!(clocks.time_left(now + 4 * SECOND), Some(6 * SECOND));
        clocks.update(id(1), 5 * SECOND, now, false, 90 * SECOND, 95 * SECOND);
        assert_eq!(clocks.time_left(now + 4 * SECOND), Some(5 * SECOND));
        clocks.end(id(1));
        assert_eq!(clocks.time_left(now + 20 * SECOND), Some(Duration::ZERO));
        // It was lost on time, if not by then.
        assert_eq!(clocks.time_left(now + 40 * SECOND), None);
    }

    #[test]
    fn a_game_whose_clocks_ran_out_bounds_no_delay_although_it_is_looked_up() {
        let clocks = GameClocks::default();
        let now = Instant::now();
        clocks.begin(id(1), now);
        clocks.begin(id(2), now);
        clocks.update(id(1), 60 * SECOND, now, true, 60 * SECOND, 120 * SECOND);
        // Our move may have arrived, and the opponent's turn have begun.
        assert_eq!(clocks.take_overdue(now + 90 * SECOND).len(), 2);
        assert_eq!(clocks.time_left(now + 149 * SECOND), Some(Duration::ZERO));
        clocks.end(id(2));
        for second in [150, 200, 300, 10_000] {
            clocks.take_overdue(now + second * SECOND);
            assert_eq!(clocks.time_left(now + second * SECOND), None);
        }
    }

    #[test]
    fn a_game_without_news_is_looked_up_rarely() {
        let clocks = GameClocks::default();
        let now = Instant::now();
        clocks.begin(id(1), now);
        clocks.update(id(1), 60 * SECOND, now, false, 60 * SECOND, 120 * SECOND);
        assert_eq!(clocks.take_overdue(now + 89 * SECOND), []);
        let looked: Vec<_> =
            (90..90 + 86_400).filter(|s| !clocks.take_overdue(now + *s * SECOND).is_empty()).collect();
        assert!((45..=55).contains(&looked.len()), "{}", looked.len());
        assert_eq!(looked[..3], [90, 150, 270]);
    }
}
