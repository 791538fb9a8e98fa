//! NDJSON streams, which lose no move, and their keep-alive lines.

use std::{collections::VecDeque, convert::Infallible, time::Duration};

use axum::body::{Body, Bytes};
use futures_util::stream::unfold;
use tokio::{
    select,
    time::{Interval, MissedTickBehavior, interval},
};

use super::answer::Answer;
use crate::outbox::{self, Outbox};

/// Kind of a line, by what a slow reader misses: no move and no end of a game is ever lost.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum LineKind {
    /// Replaced by the next one: a game's state has all of its moves.
    State,
    Presence,
    Chat,
    /// Kept. When there are too many, the stream ends behind them: the next one begins with what is true then.
    Event,
}

/// The writing end of a stream, which ends when this is dropped.
#[derive(Debug)]
pub(super) struct LineSender(outbox::Sender<LineKind, String>);

/// The reading end: the lines it begins with, and those to come.
#[derive(Debug)]
pub(super) struct Lines {
    first: Vec<String>,
    rest: Outbox<LineKind, String>,
}

/// Creates a stream that begins with these lines.
pub(super) fn feed(first: Vec<String>) -> (LineSender, Lines) {
    let (sender, rest) = outbox::channel();
    (LineSender(sender), Lines { first, rest })
}

impl LineSender {
    pub(super) fn send(&self, kind: LineKind, line: String) {
        match kind {
            // The stream ends if there is no room.
            LineKind::Event => {
                self.0.send(line);
            }
            _ => self.0.send_latest(kind, line),
        }
    }

    /// Returns whether somebody reads the stream.
    pub(super) fn is_read(&self) -> bool {
        self.0.is_read()
    }
}

struct Writer {
    first: VecDeque<String>,
    rest: Outbox<LineKind, String>,
    keep_alive: Interval,
}

impl Lines {
    /// Returns the stream as an answer, with an empty line after each `keep_alive` without another.
    pub(super) fn into_answer(self, keep_alive: Duration) -> Answer {
        let mut keep_alive = interval(keep_alive);
        keep_alive.set_missed_tick_behavior(MissedTickBehavior::Delay);
        // The first tick would come at once.
        keep_alive.reset();
        let Lines { first, rest } = self;
        let writer = Writer { first: first.into(), rest, keep_alive };
        Answer::Stream(Body::from_stream(unfold(writer, |mut writer| async move {
            let bytes = writer.next().await?;
            Some((Ok::<_, Infallible>(bytes), writer))
        })))
    }
}

impl Writer {
    /// The next bytes; `None` ends the stream.
    async fn next(&mut self) -> Option<Bytes> {
        if let Some(line) = self.first.pop_front() {
            return Some(terminated(&line));
        }
        select! {
            line = self.rest.next() => line.map(|line| terminated(&line)),
            _ = self.keep_alive.tick() => Some(Bytes::from_static(b"\n")),
        }
    }
}

fn terminated(line: &str) -> Bytes {
    [line, "\n"].concat().into()
}
