//! A connection with all its faults.

use std::{
    future::pending,
    time::{Duration, Instant},
};

use fastrand::Rng;
use tokio::time::sleep_until;
use zeitnot_seat::Turn;

use super::{SECOND, Server, Watched};
use crate::{
    drive::{Input, Machine, Wire},
    wait::now,
};

/// Connection that loses, delays, doubles and reorders what the server says, and ends at any step.
pub(super) struct Network<M: Machine, S> {
    server: S,
    random: Rng,
    /// Lines may overtake each other.
    is_unordered: bool,
    arriving: Vec<(Instant, M::Message)>,
    sent: Option<(Turn, Instant)>,
    speaks_at: Instant,
    /// Steps until the end, and whether nobody tells it.
    left: u32,
    is_silent_end: bool,
}

impl<M: Machine<Message: Clone>, S: Server<M>> Network<M, S> {
    pub(super) fn new(server: S, mut random: Rng) -> Self {
        let is_unordered = random.u32(0..4) == 0;
        let (left, is_silent_end) = (random.u32(1..200), random.bool());
        let speaks_at = now();
        Network {
            server,
            is_unordered,
            arriving: Vec::new(),
            sent: None,
            speaks_at,
            left,
            is_silent_end,
            random,
        }
    }

    fn deliver(&mut self, messages: Vec<M::Message>) {
        for message in messages {
            let (copies, wait) = match self.random.u32(0..100) {
                0..3 => (0, 0),
                3..7 => (2, 500),
                7..10 => (1, 20_000),
                _ => (1, 200),
            };
            for _ in 0..copies {
                let last = self.arriving.iter().map(|(at, _)| *at).max();
                let at = now() + Duration::from_millis(self.random.u64(0..=wait));
                let at = if self.is_unordered { at } else { last.map_or(at, |last| last.max(at)) };
                self.arriving.push((at, message.clone()));
            }
        }
    }
}

impl<M: Machine<Message: Clone, Command: Clone>, S: Server<M>> Wire<Watched<M>> for Network<M, S> {
    async fn send(&mut self, command: M::Command, answers: Option<Turn>) -> Result<(), M::Lost> {
        self.sent = answers.map(|turn| (turn, now()));
        let replies = self.server.hear(Some(&command), &mut self.random);
        self.deliver(replies);
        Ok(())
    }

    async fn next(&mut self) -> Result<Input<M::Message>, M::Lost> {
        if let Some((turn, at)) = self.sent.take() {
            return Ok(Input::Sent(turn, at));
        }
        loop {
            if self.left == 0 && !self.is_silent_end {
                return Err(S::closed());
            }
            let first = (0..self.arriving.len()).min_by_key(|number| self.arriving[*number].0);
            match first.filter(|_| self.left > 0) {
                Some(number) => {
                    sleep_until(self.arriving[number].0.into()).await;
                    self.left -= 1;
                    return Ok(Input::Message(self.arriving.remove(number).1, now()));
                }
                None if self.left > 0 => {
                    sleep_until(self.speaks_at.into()).await;
                    self.left -= 1;
                    self.speaks_at = now() + SECOND * self.random.u32(1..6);
                    let said = self.server.hear(None, &mut self.random);
                    self.deliver(said);
                }
                None => pending().await,
            }
        }
    }
}
