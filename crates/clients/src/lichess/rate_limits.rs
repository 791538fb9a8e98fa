//! Rate limits: most kinds of requests are sent one at a time, none of a kind that the server limits at present, and a
//! kind whose attempts fail after the delays of its back-off. Moves never wait.

use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

use tokio::{
    sync::{Mutex as AsyncMutex, MutexGuard},
    time::{Instant, sleep_until},
};

use zeitnot_net::{Rate, Ration};

use super::{recent::RecentTimes, shared_backoff::SharedBackoff};
use crate::{backoff::Reconnect, wait::now};

/// The server's limit for opening the event stream and for joining tournaments: so many requests …
const MAX_REQUESTS: usize = 30;
/// … within this time.
const WINDOW: Duration = Duration::from_secs(600);
/// Our own limit for failures, and for streams that are opened again: at most 180 attempts of a kind within a minute,
/// however the server answers and however many games run.
const REPEATS: Rate = Rate { burst: 60, interval: Duration::from_millis(500) };
/// Between two looks at a delay that a game may have shortened since.
const RECHECK: Duration = Duration::from_secs(1);

/// Kind of a request, with a limit of its own.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum RequestKind {
    Move,
    /// Resigning, claiming, aborting.
    Game,
    /// Aborting games that nobody plays.
    Abort,
    /// Accepting challenges and cancelling our own.
    Challenge,
    /// Declining challenges; apart, so that a flood of them delays no acceptance.
    Decline,
    /// Challenging others.
    Propose,
    /// Joining tournaments and teams.
    Join,
    Chat,
    /// Looking up our account, and whether a token is good.
    Account,
    /// Looking up our running games.
    Playing,
    /// Looking up whether the server sees us online.
    Online,
    /// Looking up a tournament.
    Tournament,
    /// Listing the bots that are online.
    Bots,
    EventStream,
    GameStream,
}

impl RequestKind {
    const COUNT: usize = RequestKind::GameStream as usize + 1;
    /// Streams that are kept open as long as they last.
    const FOLLOWED: [RequestKind; 2] = [RequestKind::EventStream, RequestKind::GameStream];

    /// Returns whether one request at a time is enough. Requests of different games must not wait for each other.
    fn is_serial(self) -> bool {
        use RequestKind::{EventStream, Game, GameStream, Move};
        !matches!(self, Move | Game | EventStream | GameStream)
    }

    /// Returns whether a stream of this kind is kept open as long as it lasts.
    pub(crate) fn is_followed(self) -> bool {
        RequestKind::FOLLOWED.contains(&self)
    }

    fn has_window(self) -> bool {
        matches!(self, RequestKind::EventStream | RequestKind::Join)
    }
}

#[derive(Debug)]
pub(crate) struct RateLimits {
    /// Queues of requests, in the order of their arrival. A request of a serial kind, and of any other that probes, is the
    /// first until it is answered.
    queues: [AsyncMutex<()>; RequestKind::COUNT],
    states: Mutex<[State; RequestKind::COUNT]>,
}

#[derive(Debug)]
struct State {
    backoff: SharedBackoff,
    sent: RecentTimes,
    /// Taken by failures, and by streams that ended.
    repeats: Ration,
}

impl State {
    fn new(reconnect: &Reconnect, stable_after: Duration) -> State {
        let backoff = SharedBackoff::new(reconnect, stable_after);
        State { backoff, sent: RecentTimes::default(), repeats: Ration::new(REPEATS) }
    }

    /// Counts one request, or returns when to try again.
    fn try_acquire(&mut self, kind: RequestKind, time_left: Option<Duration>) -> Result<(), Instant> {
        let now = Instant::now();
        let due = self.backoff.due(time_left).map(Instant::from_std);
        let due = due.max(self.repeats.due());
        if let Some(due) = due.filter(|due| *due > now) {
            return Err(due);
        }
        if kind.has_window() {
            let is_full = self.sent.count(WINDOW, now.into_std()) >= MAX_REQUESTS;
            if let Some(oldest) = self.sent.oldest().filter(|_| is_full) {
                return Err(Instant::from_std(oldest) + WINDOW);
            }
            self.sent.push(now.into_std());
        }
        Ok(())
    }
}

/// Permission for one request, which takes its outcome.
#[derive(Debug)]
pub(crate) struct Permit<'l> {
    limits: &'l RateLimits,
    kind: RequestKind,
    time_left: Option<Duration>,
    /// The others of its kind wait for its outcome.
    is_probe: bool,
    is_settled: bool,
    _turn: Option<MutexGuard<'l, ()>>,
}

impl RateLimits {
    /// Creates limits without requests so far. A stream that lasts resets the delays of its kind.
    pub(crate) fn new(reconnect: &Reconnect) -> RateLimits {
        let state = |at| {
            let is_followed = RequestKind::FOLLOWED.iter().any(|kind| *kind as usize == at);
            State::new(reconnect, if is_followed { reconnect.stable_after } else { Duration::ZERO })
        };
        RateLimits { queues: Default::default(), states: Mutex::new(std::array::from_fn(state)) }
    }

    /// Waits until a request of this kind may be sent, where a game that needs it leaves us this much time. Cancel safe.
    pub(crate) async fn acquire(
        &self,
        kind: RequestKind,
        time_left: impl Fn() -> Option<Duration>,
    ) -> Permit<'_> {
        let permit = |time_left, is_probe, turn| Permit {
            limits: self,
            kind,
            time_left,
            is_probe,
            is_settled: false,
            _turn: turn,
        };
        if kind == RequestKind::Move {
            return permit(None, false, None);
        }
        let turn = self.queues[kind as usize].lock().await;
        loop {
            let time_left = time_left();
            let acquired = self
                .with(kind, |state| state.try_acquire(kind, time_left).map(|()| state.backoff.is_failing()));
            match acquired {
                Ok(is_probe) => {
                    let turn = (is_probe || kind.is_serial()).then_some(turn);
                    return permit(time_left, is_probe, turn);
                }
                Err(due) => sleep_until(due.min(Instant::now() + RECHECK)).await,
            }
        }
    }

    /// Returns for how long no request of a kind is sent.
    pub(crate) fn closed_for(&self, kind: RequestKind, time_left: Option<Duration>) -> Duration {
        let due = self.with(kind, |state| state.backoff.due(time_left));
        due.map_or(Duration::ZERO, |due| due.saturating_duration_since(now()))
    }

    /// Returns whether most requests of a kind that the server limits are used up.
    pub(crate) fn is_scarce(&self, kind: RequestKind) -> bool {
        let used = self.with(kind, |state| state.sent.count(WINDOW, now()));
        kind.has_window() && used >= MAX_REQUESTS / 2
    }

    /// Notes a failure. Those of attempts that began before it are no news.
    fn failed(&self, kind: RequestKind, is_probe: bool, time_left: Option<Duration>) {
        self.with(kind, |state| {
            state.repeats.charge(1);
            if is_probe || !state.backoff.is_failing() {
                state.backoff.failed(now(), time_left);
            }
        });
    }

    /// Notes the end of a stream. If it was of no use, its opening counts as a failure.
    pub(crate) fn stream_ended(&self, kind: RequestKind, was_useful: bool, time_left: Option<Duration>) {
        match was_useful {
            true => self.with(kind, |state| state.repeats.charge(1)),
            false => self.failed(kind, false, time_left),
        }
    }

    fn succeeded(&self, kind: RequestKind) {
        let now = now();
        let mut states = self.states.lock().unwrap_or_else(PoisonError::into_inner);
        if states[kind as usize].backoff.succeeded(now) {
            states.iter_mut().for_each(|state| state.backoff.hurry(now));
        }
    }

    fn with<T>(&self, kind: RequestKind, act: impl FnOnce(&mut State) -> T) -> T {
        act(&mut self.states.lock().unwrap_or_else(PoisonError::into_inner)[kind as usize])
    }
}

impl Permit<'_> {
    pub(crate) fn kind(&self) -> RequestKind {
        self.kind
    }

    /// The request never arrived, and is not counted.
    pub(crate) fn refund(&mut self) {
        if self.kind.has_window() {
            self.limits.with(self.kind, |state| state.sent.pop());
        }
    }

    /// The server has answered.
    pub(crate) fn succeeded(mut self) {
        self.is_settled = true;
        self.limits.succeeded(self.kind);
    }

    /// Holds back further requests of this kind. That the other attempts under way fail too is no news.
    pub(crate) fn failed(mut self) {
        self.note_failure();
    }

    /// Holds back further requests of this kind after a 429.
    pub(crate) fn limited(mut self, wait: Duration) {
        self.is_settled = true;
        self.limits.with(self.kind, |state| {
            state.repeats.charge(1);
            state.backoff.limited(now(), wait);
        });
    }

    fn note_failure(&mut self) {
        self.is_settled = true;
        self.limits.failed(self.kind, self.is_probe, self.time_left);
    }
}

impl Drop for Permit<'_> {
    /// A probe that is given up has failed, before the next one gets its turn.
    fn drop(&mut self) {
        if self.is_probe && !self.is_settled {
            self.note_failure();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tokio::{
        task::JoinSet,
        time::{sleep, timeout},
    };

    use super::*;
    use crate::lichess::{game_clocks::GameClocks, timeouts::Timeouts};

    const SECOND: Duration = Duration::from_secs(1);
    const MINUTE: Duration = Duration::from_secs(60);
    const GAMES: u32 = 30;

    fn limits() -> RateLimits {
        RateLimits::new(&Timeouts::default().reconnect)
    }

    fn no_game() -> Option<Duration> {
        None
    }

    /// Clocks of games that begin now, with a minute for each side, in which we are to move.
    fn one_minute_games() -> GameClocks {
        let clocks = GameClocks::default();
        for number in 0..GAMES {
            let id = format!("{number:08}").parse().unwrap();
            clocks.begin(id, now());
            clocks.update(id, MINUTE, now(), true, MINUTE, 2 * MINUTE);
        }
        clocks
    }

    /// Lets the streams of all games fail for three hours, each attempt after a tenth of a second. Returns the number of
    /// attempts in each minute, and how long the streams wait once the server is back.
    async fn outage(clocks: GameClocks) -> (Vec<usize>, Duration) {
        let shared = Arc::new((limits(), clocks));
        let began = Instant::now();
        let end = began + 180 * MINUTE;
        let mut streams = JoinSet::new();
        for _ in 0..GAMES {
            let shared = shared.clone();
            streams.spawn(async move {
                let (limits, clocks) = &*shared;
                let mut attempts = Vec::new();
                loop {
                    let permit = limits.acquire(RequestKind::GameStream, || clocks.time_left(now())).await;
                    attempts.push(began.elapsed());
                    sleep(SECOND / 10).await;
                    if Instant::now() >= end {
                        permit.succeeded();
                        return attempts;
                    }
                    permit.failed();
                }
            });
        }
        let attempts = streams.join_all().await.concat();
        let in_minute = |minute| attempts.iter().filter(|at| at.as_secs() / 60 == minute).count();
        ((0..180).map(in_minute).collect(), end.elapsed())
    }

    #[test(start_paused = true)]
    async fn an_outage_of_three_hours_costs_few_attempts_however_many_games_run() {
        let (minutes, reopened) = outage(one_minute_games()).await;
        // With running clocks; then with the clocks near their end; then without.
        assert!(minutes[0] <= 180 && minutes[1] <= 120, "{minutes:?}");
        assert!(minutes[4..].iter().all(|count| *count <= 4), "{minutes:?}");
        assert!(reopened <= 31 * SECOND, "{reopened:?}");
    }

    #[test(start_paused = true)]
    async fn long_games_share_one_probe_every_two_seconds_and_open_at_once() {
        let clocks = one_minute_games();
        let id = "longgame".parse().unwrap();
        clocks.begin(id, now());
        clocks.update(id, 180 * MINUTE, now(), false, 180 * MINUTE, 360 * MINUTE);
        (0..GAMES).for_each(|number| clocks.end(format!("{number:08}").parse().unwrap()));
        let (minutes, reopened) = outage(clocks).await;
        assert!(minutes.iter().all(|count| *count <= 60 + GAMES as usize), "{minutes:?}");
        assert!(minutes[1..].iter().all(|count| (25..=60).contains(count)), "{minutes:?}");
        assert!(reopened <= 5 * SECOND / 2, "{reopened:?}");
    }

    #[test(start_paused = true)]
    async fn a_probe_that_is_given_up_has_failed_and_its_successor_waits() {
        let limits = limits();
        limits.acquire(RequestKind::Game, no_game).await.failed();
        let probe = limits.acquire(RequestKind::Game, no_game).await;
        assert!(timeout(MINUTE, limits.acquire(RequestKind::Game, no_game)).await.is_err());
        drop(probe);
        assert!(!limits.closed_for(RequestKind::Game, None).is_zero());
        limits.acquire(RequestKind::Game, no_game).await.succeeded();
        assert!(limits.closed_for(RequestKind::Game, None).is_zero());
    }

    #[test(start_paused = true)]
    async fn a_kind_that_succeeds_again_hurries_the_others() {
        let limits = limits();
        for _ in 0..10 {
            limits.acquire(RequestKind::Playing, no_game).await.failed();
        }
        limits.acquire(RequestKind::EventStream, no_game).await.failed();
        assert!(limits.closed_for(RequestKind::Playing, None) > 10 * SECOND);
        limits.acquire(RequestKind::EventStream, no_game).await.succeeded();
        assert!(limits.closed_for(RequestKind::Playing, None).is_zero());
    }

    #[test(start_paused = true)]
    async fn a_limit_of_one_look_up_holds_back_no_other() {
        use RequestKind::{Account, Bots, Online, Playing, Tournament};
        let limits = limits();
        limits.acquire(Tournament, no_game).await.limited(MINUTE);
        let began = Instant::now();
        for other in [Account, Bots, Online, Playing] {
            limits.acquire(other, no_game).await.succeeded();
        }
        assert!(began.elapsed() < SECOND);
    }

    #[test(start_paused = true)]
    async fn only_the_limited_kind_waits_and_moves_never_do() {
        let limits = limits();
        limits.acquire(RequestKind::Chat, no_game).await.limited(MINUTE);
        let began = Instant::now();
        limits.acquire(RequestKind::Game, no_game).await;
        limits.acquire(RequestKind::Move, no_game).await.limited(MINUTE);
        limits.acquire(RequestKind::Move, no_game).await;
        assert!(began.elapsed() < Duration::from_secs(1));
        limits.acquire(RequestKind::Chat, no_game).await;
        assert!(began.elapsed() >= MINUTE);
    }

    #[test(start_paused = true)]
    async fn a_longer_wait_is_not_overwritten_by_a_shorter_one() {
        let limits = limits();
        let first = limits.acquire(RequestKind::Game, no_game).await;
        let second = limits.acquire(RequestKind::Game, no_game).await;
        let began = Instant::now();
        first.limited(MINUTE);
        second.limited(MINUTE / 10);
        assert_eq!(limits.closed_for(RequestKind::Game, None), MINUTE);
        limits.acquire(RequestKind::Game, no_game).await;
        assert!(began.elapsed() >= MINUTE);
    }

    #[test(start_paused = true)]
    async fn serial_kinds_are_sent_one_at_a_time() {
        let limits = limits();
        let first = limits.acquire(RequestKind::Account, no_game).await;
        assert!(timeout(MINUTE, limits.acquire(RequestKind::Account, no_game)).await.is_err());
        first.succeeded();
        assert!(timeout(MINUTE, limits.acquire(RequestKind::Account, no_game)).await.is_ok());
        // A request that hangs in one game delays no other game.
        let _claim = limits.acquire(RequestKind::Game, no_game).await;
        assert!(timeout(MINUTE, limits.acquire(RequestKind::Game, no_game)).await.is_ok());
    }

    #[test(start_paused = true)]
    async fn the_event_stream_is_opened_thirty_times_in_ten_minutes() {
        // Openings that never arrived do not count.
        let limits = limits();
        let began = Instant::now();
        for _ in 0..MAX_REQUESTS {
            limits.acquire(RequestKind::EventStream, no_game).await.refund();
            limits.acquire(RequestKind::EventStream, no_game).await.succeeded();
        }
        assert!(began.elapsed() < Duration::from_secs(1));
        assert!(limits.is_scarce(RequestKind::EventStream));
        assert!(!limits.is_scarce(RequestKind::Join));
        limits.acquire(RequestKind::EventStream, no_game).await;
        assert!(began.elapsed() >= WINDOW);
    }
}
