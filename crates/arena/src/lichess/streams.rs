//! NDJSON streams: bounded queues, keep-alive lines, and the faults that tests ask for.

use std::{collections::VecDeque, convert::Infallible, future::pending, sync::Arc, time::Duration};

use axum::body::{Body, Bytes};
use futures_util::stream::unfold;
use tokio::{
    select,
    sync::broadcast::{self, error::RecvError},
    time::{Instant, Interval, MissedTickBehavior, interval, sleep_until},
};

use super::faults::StreamFaults;

/// Lines queued for a slow reader; beyond them it loses the oldest.
const QUEUE: usize = 32;
const GARBAGE: &[u8] = b"<html>{\"type\": \xff\xfe\n";

/// The writing end of a stream, which ends when this is dropped.
pub(super) type Feed = broadcast::Sender<Arc<str>>;

/// The reading end: the lines it begins with, and those to come.
#[derive(Debug)]
pub(super) struct Lines {
    first: Vec<String>,
    rest: broadcast::Receiver<Arc<str>>,
}

/// Creates a stream that begins with these lines.
pub(super) fn feed(first: Vec<String>) -> (Feed, Lines) {
    let (feed, rest) = broadcast::channel(QUEUE);
    (feed, Lines { first, rest })
}

struct Writer {
    first: VecDeque<String>,
    rest: broadcast::Receiver<Arc<str>>,
    keep_alive: Interval,
    faults: StreamFaults,
    /// A line was cut on purpose: nothing follows it.
    is_cut: bool,
}

impl Lines {
    pub(super) fn into_body(self, keep_alive: Duration, faults: StreamFaults) -> Body {
        let mut keep_alive = interval(keep_alive);
        keep_alive.set_missed_tick_behavior(MissedTickBehavior::Delay);
        // The first tick would come at once.
        keep_alive.reset();
        let Lines { first, rest } = self;
        let writer = Writer { first: first.into(), rest, keep_alive, faults, is_cut: false };
        Body::from_stream(unfold(writer, |mut writer| async move {
            let bytes = writer.next().await?;
            Some((Ok::<_, Infallible>(bytes), writer))
        }))
    }
}

impl Writer {
    /// The next bytes; `None` ends the stream.
    async fn next(&mut self) -> Option<Bytes> {
        if self.is_cut {
            return None;
        } else if let Some(line) = self.first.pop_front() {
            return Some(self.line(&line));
        }
        loop {
            let (is_silent, until) = self.faults.silence(Instant::now());
            let turn = async {
                match until {
                    Some(until) => sleep_until(until).await,
                    None => pending().await,
                }
            };
            select! {
                line = self.rest.recv(), if !is_silent => match line {
                    Ok(line) => return Some(self.line(&line)),
                    Err(RecvError::Lagged(_)) => {}
                    Err(RecvError::Closed) => return None,
                },
                _ = self.keep_alive.tick(), if !is_silent => return Some(Bytes::from_static(b"\n")),
                () = turn => {}
                () = self.faults.changed() => {}
            }
        }
    }

    fn line(&mut self, line: &str) -> Bytes {
        let (is_cut, has_garbage) = self.faults.next_line();
        let garbage = if has_garbage { GARBAGE } else { b"" };
        let line = line.as_bytes();
        self.is_cut = is_cut;
        match is_cut {
            true => [garbage, &line[..line.len() / 2]].concat().into(),
            false => [garbage, line, b"\n"].concat().into(),
        }
    }
}
