//! Rate limits of an account: none of a kind of requests is sent while the server limits it, and most are sent one at
//! a time. While a kind fails, one attempt at a time probes the server after the delays of a [`SharedBackoff`], or
//! several where an answer takes longer than a clock allows; a success releases the others. Each attempt takes a token
//! of its kind, and one of use gives two back: failures are bounded, however many games run, and a server that is up
//! keeps nobody waiting. The first opening of a game's stream takes none. Moves never wait.

use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

use tokio::{
    select,
    sync::{Mutex as AsyncMutex, MutexGuard, Notify},
    time::Instant,
};
use zeitnot_net::{Rate, Ration};

use super::{
    game_clocks::GameClocks,
    recent::RecentTimes,
    shared_backoff::{Limit, SharedBackoff},
};
use crate::{
    backoff::{Reconnect, max_in_game},
    wait::{now, until},
};

/// Lichess's limit per [`WINDOW`] for opening event streams and joining.
const MAX_REQUESTS: usize = 30;
const WINDOW: Duration = Duration::from_secs(600);
/// Our own limit for attempts of a kind that are of no use, or not yet: at most 180 within a minute.
const TOKENS: Rate = Rate { burst: 60, interval: Duration::from_millis(500) };

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

    /// Returns whether one request at a time is enough. Requests of different games must not wait for each other.
    fn is_serial(self) -> bool {
        use RequestKind::{EventStream, Game, GameStream, Move};
        !matches!(self, Move | Game | EventStream | GameStream)
    }

    /// Returns whether a stream of this kind is kept open as long as it lasts.
    pub(crate) fn is_followed(self) -> bool {
        matches!(self, RequestKind::EventStream | RequestKind::GameStream)
    }

    /// Returns whether its callers space attempts that fail.
    fn is_spaced_by_callers(self) -> bool {
        use RequestKind::{Account, Bots, Online, Playing};
        matches!(self, Account | Bots | Online | Playing)
    }

    fn has_window(self) -> bool {
        matches!(self, RequestKind::EventStream | RequestKind::Join)
    }
}

/// Limits of an account, which its clocks shorten.
#[derive(Debug)]
pub(crate) struct RateLimits {
    /// Clocks of the running games.
    pub(crate) clocks: GameClocks,
    /// Queues of serial requests, in the order of their arrival. The first keeps its turn until it is answered.
    queues: [AsyncMutex<()>; RequestKind::COUNT],
    states: Mutex<[State; RequestKind::COUNT]>,
    /// Notified of each outcome.
    changed: Notify,
}

#[derive(Debug)]
struct State {
    backoff: SharedBackoff,
    sent: RecentTimes,
    tokens: Ration,
    /// Beginning of the latest probe, while it is not answered.
    probe: Option<Instant>,
    answered: Option<Instant>,
}

impl State {
    fn new(reconnect: &Reconnect) -> State {
        State {
            backoff: SharedBackoff::new(reconnect),
            sent: RecentTimes::default(),
            tokens: Ration::new(TOKENS),
            probe: None,
            answered: None,
        }
    }

    /// Counts one request. Otherwise returns when to try again; `None`: when something has changed.
    fn try_acquire(
        &mut self,
        kind: RequestKind,
        is_first: bool,
        time_left: Option<Duration>,
        now: Instant,
    ) -> Result<(), Option<Instant>> {
        // The game must not wait for long for a probe that may hang.
        let unanswered = self.probe.map(|began| time_left.map(|left| began + max_in_game(left)));
        if let Some(next) = unanswered.filter(|next| next.is_none_or(|next| now < next)) {
            return Err(next);
        }
        let due = self.backoff.due(time_left).map(Instant::from_std);
        let token_due = self.tokens.due().filter(|_| !is_first);
        if let Some(due) = due.max(token_due).filter(|due| *due > now) {
            return Err(Some(due));
        }
        if kind.has_window() {
            let is_full = self.sent.count(WINDOW, now.into_std()) >= MAX_REQUESTS;
            if let Some(oldest) = self.sent.oldest().filter(|_| is_full) {
                return Err(Some(Instant::from_std(oldest) + WINDOW));
            }
            self.sent.push(now.into_std());
        }
        if !is_first {
            self.tokens.charge(1);
        }
        if self.backoff.is_failing() {
            self.probe = Some(now);
        }
        Ok(())
    }

    /// Gives back the token of an attempt, and one more for the next, as the server is up.
    fn repay(&mut self) {
        self.tokens.refund();
        self.tokens.refund();
    }

    /// Notes that an attempt ended without success. Returns whether that is news of the server.
    fn ended(&mut self, began: Instant, is_probe: bool) -> bool {
        self.probe = self.probe.filter(|probe| *probe != began);
        let is_outdated = self.answered.is_some_and(|answered| began < answered);
        !is_outdated && (is_probe || !self.backoff.is_failing())
    }
}

/// Permission for one request, which takes its outcome.
#[derive(Debug)]
pub(crate) struct Permit<'l> {
    limits: &'l RateLimits,
    kind: RequestKind,
    time_left: Option<Duration>,
    began: Instant,
    /// The others of its kind wait for its outcome.
    is_probe: bool,
    is_settled: bool,
    _turn: Option<MutexGuard<'l, ()>>,
}

impl RateLimits {
    /// Creates limits without requests so far.
    pub(crate) fn new(reconnect: &Reconnect) -> RateLimits {
        let states = Mutex::new(std::array::from_fn(|_| State::new(reconnect)));
        let (clocks, queues) = Default::default();
        RateLimits { clocks, queues, states, changed: Notify::new() }
    }

    /// Waits until a request of this kind may be sent, as the clocks of running games allow. `is_first`: it opens the
    /// stream of a game for the first time. Cancel safe.
    pub(crate) async fn acquire(&self, kind: RequestKind, is_first: bool) -> Permit<'_> {
        let turn = if kind.is_serial() { Some(self.queues[kind as usize].lock().await) } else { None };
        loop {
            let (outcome, clock) = (self.changed.notified(), self.clocks.changed());
            let time_left = self.time_left(kind);
            // It identifies a probe among the attempts that end.
            let began = Instant::now();
            let acquired = self.with(kind, |state| {
                // A move neither waits nor counts.
                let acquired = match kind {
                    RequestKind::Move => Ok(()),
                    _ => state.try_acquire(kind, is_first, time_left, began),
                };
                acquired.map(|()| state.probe.is_some())
            });
            match acquired {
                Ok(is_probe) => {
                    let (limits, is_settled) = (self, false);
                    return Permit { limits, kind, time_left, began, is_probe, is_settled, _turn: turn };
                }
                Err(due) => select! {
                    () = outcome => {}
                    () = clock => {}
                    () = until(due) => {}
                },
            }
        }
    }

    /// Returns our shortest time left in a game that needs requests of this kind. No clock runs for the event stream,
    /// which the server lets open only so often.
    pub(crate) fn time_left(&self, kind: RequestKind) -> Option<Duration> {
        let left = self.clocks.time_left(now())?;
        match kind {
            RequestKind::GameStream | RequestKind::Game => Some(left),
            RequestKind::EventStream => (!self.is_scarce(kind)).then_some(Duration::MAX),
            _ => None,
        }
    }

    /// Returns for how long no request of a kind is sent, after a failure or as the server limits them.
    pub(crate) fn closed_for(&self, kind: RequestKind) -> Duration {
        let time_left = self.time_left(kind);
        let due = self.with(kind, |state| state.backoff.due(time_left));
        due.map_or(Duration::ZERO, |due| due.saturating_duration_since(now()))
    }

    /// Returns whether most requests of a kind that the server limits are used up.
    fn is_scarce(&self, kind: RequestKind) -> bool {
        let used = self.with(kind, |state| state.sent.count(WINDOW, now()));
        kind.has_window() && used >= MAX_REQUESTS / 2
    }

    /// Notes that a game's stream, which was opened again, has a message.
    pub(crate) fn stream_told(&self) {
        self.with(RequestKind::GameStream, State::repay);
        self.changed.notify_waiters();
    }

    fn with<T>(&self, kind: RequestKind, act: impl FnOnce(&mut State) -> T) -> T {
        act(&mut self.states.lock().unwrap_or_else(PoisonError::into_inner)[kind as usize])
    }
}

impl Permit<'_> {
    /// The request never arrived, and is not counted.
    pub(crate) fn refund(&mut self) {
        if self.kind.has_window() {
            self.limits.with(self.kind, |state| state.sent.pop());
        }
    }

    /// The server has answered. A game's stream is of use once it has a message.
    pub(crate) fn succeeded(mut self) {
        let now = Instant::now();
        let mut states = self.limits.states.lock().unwrap_or_else(PoisonError::into_inner);
        let state = &mut states[self.kind as usize];
        (state.probe, state.answered) = (None, Some(now));
        if self.kind != RequestKind::GameStream {
            state.repay();
        }
        if state.backoff.succeeded(now.into_std()) {
            states.iter_mut().for_each(|state| state.backoff.hurry(now.into_std()));
        }
        drop(states);
        self.settled();
    }

    /// Holds back further requests of this kind. That the other attempts under way fail too is no news, nor what began
    /// before the latest answer.
    pub(crate) fn failed(mut self) {
        self.note_failure();
    }

    /// Holds back further requests of this kind after a 429, which may have told the delay. Clocks shorten that of
    /// streams of games only.
    pub(crate) fn limited(mut self, wait: Duration, is_told: bool) {
        let limit = match (self.kind, is_told) {
            (RequestKind::GameStream, true) => Limit::Told,
            (RequestKind::GameStream, false) => Limit::Guessed,
            _ => Limit::Fixed,
        };
        self.limits.with(self.kind, |state| {
            state.ended(self.began, self.is_probe);
            state.backoff.limited(now(), wait, limit);
        });
        self.settled();
    }

    fn note_failure(&mut self) {
        self.limits.with(self.kind, |state| {
            if state.ended(self.began, self.is_probe) && !self.kind.is_spaced_by_callers() {
                state.backoff.failed(now(), self.time_left);
            }
        });
        self.settled();
    }

    fn settled(&mut self) {
        self.is_settled = true;
        self.limits.changed.notify_waiters();
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
mod tests;
