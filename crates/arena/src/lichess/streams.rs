//! NDJSON streams: bounded queues that lose no move, and keep-alive lines.

use std::{
    collections::VecDeque,
    convert::Infallible,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use axum::body::{Body, Bytes};
use futures_util::stream::unfold;
use tokio::{
    select,
    sync::Notify,
    time::{Interval, MissedTickBehavior, interval},
};

use super::answer::Answer;

/// Lines queued before a reader counts as slow.
const SLOW: usize = 32;
/// Lines queued for a slow reader at most.
const MAX_QUEUE: usize = 256;

/// Treatment of a line whose reader is slow. No move and no end of a game is ever lost.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum LineKind {
    /// Replaced by the next one of its kind: a game's state has all of its moves.
    State,
    /// Replaced by the next one of its kind.
    Presence,
    /// Dropped.
    Chat,
    /// Kept. When there are too many, the stream ends behind them: the next one begins with what is true then.
    Event,
}

/// The writing end of a stream, which ends when this is dropped.
#[derive(Debug)]
pub(super) struct Feed(Arc<Shared>);

/// The reading end: the lines it begins with, and those to come.
#[derive(Debug)]
pub(super) struct Lines {
    first: Vec<String>,
    rest: Rest,
}

#[derive(Debug)]
struct Rest(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    queue: Mutex<Queue>,
    has_changed: Notify,
}

#[derive(Debug, Default)]
struct Queue {
    lines: VecDeque<(LineKind, Arc<str>)>,
    has_ended: bool,
}

/// Creates a stream that begins with these lines.
pub(super) fn feed(first: Vec<String>) -> (Feed, Lines) {
    let shared = Arc::new(Shared::default());
    (Feed(shared.clone()), Lines { first, rest: Rest(shared) })
}

impl Shared {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Queue {
    fn push(&mut self, kind: LineKind, line: Arc<str>) {
        let is_slow = self.lines.len() >= SLOW;
        match kind {
            LineKind::Chat if is_slow => return,
            LineKind::State | LineKind::Presence if is_slow => self.lines.retain(|(other, _)| *other != kind),
            LineKind::Event if self.lines.len() >= MAX_QUEUE => self.has_ended = true,
            _ => {}
        }
        if !self.has_ended {
            self.lines.push_back((kind, line));
        }
    }
}

impl Feed {
    pub(super) fn send(&self, kind: LineKind, line: String) {
        self.0.queue().push(kind, line.into());
        self.0.has_changed.notify_one();
    }

    /// Returns whether somebody reads the stream.
    pub(super) fn is_read(&self) -> bool {
        Arc::strong_count(&self.0) > 1
    }
}

impl Drop for Feed {
    fn drop(&mut self) {
        self.0.queue().has_ended = true;
        self.0.has_changed.notify_one();
    }
}

impl Rest {
    /// Returns the next line; `None` at the end. Cancel safe.
    async fn next(&self) -> Option<Arc<str>> {
        loop {
            {
                let mut queue = self.0.queue();
                if let Some((_, line)) = queue.lines.pop_front() {
                    return Some(line);
                } else if queue.has_ended {
                    return None;
                }
            }
            self.0.has_changed.notified().await;
        }
    }
}

struct Writer {
    first: VecDeque<String>,
    rest: Rest,
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

#[cfg(test)]
mod tests {
    use tokio::time::timeout;

    use super::*;

    async fn read(rest: &Rest) -> Vec<String> {
        let mut lines = Vec::new();
        while let Some(line) = timeout(Duration::from_secs(1), rest.next()).await.expect("an end") {
            lines.push(line.to_string());
        }
        lines
    }

    #[test]
    async fn a_slow_reader_of_a_game_gets_the_chat_it_has_room_for_and_the_last_state() {
        let (feed, lines) = feed(Vec::new());
        feed.send(LineKind::State, "e2e4".into());
        for number in 0..10 * MAX_QUEUE {
            feed.send(LineKind::Chat, format!("chat {number}"));
            feed.send(LineKind::State, format!("state {number}"));
            feed.send(LineKind::Presence, format!("gone {number}"));
        }
        feed.send(LineKind::State, "mate".into());
        drop(feed);
        let lines = read(&lines.rest).await;
        assert!(lines.len() <= SLOW + 2, "{}", lines.len());
        assert_eq!(lines.last().unwrap(), "mate");
        assert!(lines.contains(&"chat 0".to_owned()) && lines.contains(&"gone 2559".to_owned()));
    }

    #[test]
    async fn events_are_never_dropped_amid_others() {
        let (feed, lines) = feed(Vec::new());
        let event = |number| format!("event {number}");
        (0..2 * MAX_QUEUE).for_each(|number| feed.send(LineKind::Event, event(number)));
        assert!(feed.is_read());
        // The stream ends behind those it had room for, although its feed goes on.
        assert_eq!(read(&lines.rest).await, (0..MAX_QUEUE).map(event).collect::<Vec<_>>());
        drop(lines);
        assert!(!feed.is_read());
    }
}
