//! Who may ask the server for what, and when: most kinds one at a time, none of a kind that the server has
//! had enough of, and moves before everything: they are never held up here.

use std::{
    collections::VecDeque,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use tokio::{
    sync::{Mutex as Turns, MutexGuard},
    time::{Instant, sleep_until},
};

/// The event stream may be opened, and tournaments joined, so often …
const OFTEN: usize = 30;
/// … in this time.
const WINDOW: Duration = Duration::from_secs(600);

/// What requests are about: a server that has had enough of one kind need not be spared the others.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A move. It waits for nothing.
    Move,
    /// Resigning, claiming, aborting.
    Game,
    /// Accepting challenges, and taking our own back.
    Challenge,
    /// Declining challenges: many of them hold up none that is accepted.
    Decline,
    /// Challenging others.
    Propose,
    /// Joining tournaments and teams.
    Join,
    /// Chat.
    Chat,
    /// Looking things up.
    Lookup,
    /// Opening the event stream.
    Events,
    /// Opening a game's stream.
    Stream,
}

impl Kind {
    /// Is one at a time enough? A stream that takes long to open must not keep the other games' from opening, nor
    /// a claim that hangs keep another game from being resigned.
    fn takes_turns(self) -> bool {
        !matches!(self, Kind::Move | Kind::Game | Kind::Events | Kind::Stream)
    }

    /// Does the server count these over a while?
    fn is_rationed(self) -> bool {
        matches!(self, Kind::Events | Kind::Join)
    }
}

/// How many kinds there are.
const KINDS: usize = Kind::Stream as usize + 1;

/// The owner of all limits of an account.
#[derive(Debug, Default)]
pub(super) struct Limits {
    turns: [Turns<()>; KINDS],
    gates: Mutex<[Gate; KINDS]>,
}

#[derive(Debug, Default)]
struct Gate {
    closed_until: Option<Instant>,
    /// When there was one, the oldest first, where they are counted.
    passed: VecDeque<Instant>,
}

impl Gate {
    /// Takes one request now, or says when to come back.
    fn enter(&mut self, kind: Kind) -> Result<(), Instant> {
        let now = Instant::now();
        if kind == Kind::Move {
            return Ok(());
        }
        if let Some(until) = self.closed_until.filter(|until| *until > now) {
            return Err(until);
        }
        if kind.is_rationed() {
            self.passed.retain(|passed| *passed + WINDOW > now);
            match self.passed.front() {
                Some(oldest) if self.passed.len() >= OFTEN => return Err(*oldest + WINDOW),
                _ => self.passed.push_back(now),
            }
        }
        Ok(())
    }
}

/// May send one request; where turns are taken, others of its kind wait until it is dropped.
#[derive(Debug)]
pub(super) struct Pass<'l> {
    limits: &'l Limits,
    kind: Kind,
    _turn: Option<MutexGuard<'l, ()>>,
}

impl Limits {
    /// Waits until a request of this kind may be sent. Cancel safe.
    pub async fn enter(&self, kind: Kind) -> Pass<'_> {
        let turn = match kind.takes_turns() {
            true => Some(self.turns[kind as usize].lock().await),
            false => None,
        };
        while let Err(until) = self.try_enter(kind) {
            sleep_until(until).await;
        }
        Pass { limits: self, kind, _turn: turn }
    }

    fn try_enter(&self, kind: Kind) -> Result<(), Instant> {
        self.gates()[kind as usize].enter(kind)
    }

    fn gates(&self) -> std::sync::MutexGuard<'_, [Gate; KINDS]> {
        self.gates.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pass<'_> {
    /// The server has had enough of this kind.
    pub fn close(&self, wait: Duration) {
        let until = Instant::now() + wait;
        self.limits.gates()[self.kind as usize].closed_until = Some(until);
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::timeout;

    use super::*;

    const MINUTE: Duration = Duration::from_secs(60);

    #[tokio::test(start_paused = true)]
    async fn a_kind_that_was_refused_waits_and_the_others_do_not() {
        let limits = Limits::default();
        limits.enter(Kind::Chat).await.close(MINUTE);
        let began = Instant::now();
        limits.enter(Kind::Game).await;
        limits.enter(Kind::Move).await.close(MINUTE);
        limits.enter(Kind::Move).await;
        assert!(began.elapsed() < Duration::from_secs(1));
        limits.enter(Kind::Chat).await;
        assert!(began.elapsed() >= MINUTE);
    }

    #[tokio::test(start_paused = true)]
    async fn one_of_a_kind_at_a_time() {
        let limits = Limits::default();
        let first = limits.enter(Kind::Lookup).await;
        assert!(timeout(MINUTE, limits.enter(Kind::Lookup)).await.is_err());
        drop(first);
        assert!(timeout(MINUTE, limits.enter(Kind::Lookup)).await.is_ok());
        // But what hangs in one game holds up no other.
        let _claim = limits.enter(Kind::Game).await;
        assert!(timeout(MINUTE, limits.enter(Kind::Game)).await.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn the_event_stream_is_opened_thirty_times_in_ten_minutes() {
        let limits = Limits::default();
        let began = Instant::now();
        for _ in 0..OFTEN {
            limits.enter(Kind::Events).await;
        }
        assert!(began.elapsed() < Duration::from_secs(1));
        limits.enter(Kind::Events).await;
        assert!(began.elapsed() >= WINDOW);
    }
}
