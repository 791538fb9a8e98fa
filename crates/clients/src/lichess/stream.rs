//! An NDJSON stream that is followed: read line by line, watched for silence, opened again when it ends.
//!
//! A task of its own does it, so that whoever listens can act while the stream is away.

use std::time::{Duration, Instant};

use reqwest::Response;
use tokio::{
    sync::mpsc,
    time::{sleep, timeout},
};
use tokio_util::{
    bytes::BytesMut,
    codec::{Decoder, LinesCodec},
    task::AbortOnDropHandle,
};
use tracing::debug;

use zeitnot_wire::{Message, lichess::line};

use super::{
    http::{Http, HttpError},
    limits::Kind,
    tally::FAILURES,
};
use crate::backoff::Backoff;

/// A line that is longer is skipped.
const LONGEST_LINE: usize = 64 << 10;
/// Messages read ahead of whoever listens; then the socket has to wait.
const INBOX: usize = 64;

/// What comes from a stream.
#[derive(Debug)]
pub(super) enum Heard<M> {
    /// It is open, once more or for the first time: what is told now is how things are.
    Opened,
    /// A message, and when it was read.
    Message(M, Instant),
    /// It will not be opened again: the server does not want to.
    Over(HttpError),
}

/// The listener's end of a stream. The task behind it ends with it.
#[derive(Debug)]
pub(super) struct Stream<M> {
    inbox: mpsc::Receiver<Heard<M>>,
    _task: AbortOnDropHandle<()>,
}

impl<M: Message + Send + 'static> Stream<M> {
    /// Opens what is at this path, again and again.
    pub fn follow(http: Http, kind: Kind, path: String) -> Stream<M> {
        let (outbox, inbox) = mpsc::channel(INBOX);
        let follower =
            Follower { backoff: http.patience().backoff(), http, kind, path, outbox, untold: None };
        Stream { inbox, _task: AbortOnDropHandle::new(tokio::spawn(follower.run())) }
    }

    /// What comes next. Cancel safe. After [`Heard::Over`] there is nothing to wait for.
    pub async fn next(&mut self) -> Heard<M> {
        let died = || Heard::Over(HttpError::Network("the stream's task ended".to_owned()));
        self.inbox.recv().await.unwrap_or_else(died)
    }
}

/// The task behind a stream.
struct Follower<M> {
    http: Http,
    kind: Kind,
    path: String,
    outbox: mpsc::Sender<Heard<M>>,
    backoff: Backoff,
    /// Said when the stream is open again: where that fails, the failure says more.
    untold: Option<String>,
}

/// Why one opening of a stream ended.
#[derive(Debug, thiserror::Error)]
enum Lost {
    #[error("the server closed the stream")]
    Closed,
    #[error("nothing on the stream for {0:?}")]
    Silent(Duration),
    #[error(transparent)]
    Http(#[from] HttpError),
}

impl<M: Message> Follower<M> {
    async fn run(mut self) {
        loop {
            let began = Instant::now();
            let lost = match self.visit().await {
                Ok(()) => return,
                Err(Lost::Http(error)) if is_final(self.kind, &error) => {
                    let _ = self.outbox.send(Heard::Over(error)).await;
                    return;
                }
                Err(lost) => lost,
            };
            let pause = self.backoff.pause(began.elapsed());
            self.tell(&lost, pause);
            sleep(pause).await;
        }
    }

    fn tell(&mut self, lost: &Lost, pause: Duration) {
        let words = format_args!("{}: {lost}; next try in {:.1} s", self.path, pause.as_secs_f64());
        self.untold = None;
        match (lost, self.kind) {
            // Games' streams close as games do, and a proxy may do so whenever it likes.
            (Lost::Closed, Kind::Stream) => debug!("{words}"),
            (Lost::Closed, _) => self.untold = Some(format!("{}: {lost}; opened again", self.path)),
            (Lost::Http(error), _) => self.http.tally().failed(error, words),
            _ => self.http.tally().warn(FAILURES, words),
        }
    }

    /// One opening, to its end. `Ok`: nobody listens any more.
    async fn visit(&mut self) -> Result<(), Lost> {
        let mut response = self.http.open(self.kind, &self.path).await?;
        if let Some(words) = self.untold.take() {
            self.http.tally().warn(FAILURES, format_args!("{words}"));
        }
        if self.outbox.send(Heard::Opened).await.is_err() {
            return Ok(());
        }
        let silence = self.http.patience().silence;
        let mut lines = LinesCodec::new_with_max_length(LONGEST_LINE);
        let mut buffer = BytesMut::new();
        loop {
            let chunk = timeout(silence, Response::chunk(&mut response));
            let chunk = chunk.await.map_err(|_| Lost::Silent(silence))?.map_err(HttpError::from)?;
            let read_at = Instant::now();
            // What stands at the end without a line's end was cut.
            buffer.extend_from_slice(&chunk.ok_or(Lost::Closed)?);
            loop {
                match lines.decode(&mut buffer) {
                    Ok(Some(text)) => {
                        if let Some(message) = self.read(&text)
                            && self.outbox.send(Heard::Message(message, read_at)).await.is_err()
                        {
                            return Ok(());
                        }
                    }
                    Ok(None) => break,
                    Err(error) => self.skip(&error.to_string()),
                }
            }
        }
    }

    fn read(&self, text: &str) -> Option<M> {
        line(text).unwrap_or_else(|error| {
            self.skip(&error.to_string());
            None
        })
    }

    fn skip(&self, why: &str) {
        let words = format_args!("{}: skipped a line: {why:?}", self.path);
        self.http.tally().warn("lines that cannot be read", words);
    }
}

/// Will the server say the same the next time? A game that it does not know stays unknown; but of an account's
/// events that can only be a proxy's opinion.
fn is_final(kind: Kind, error: &HttpError) -> bool {
    match error {
        HttpError::Unauthorized | HttpError::Refused { status: 403, .. } => true,
        HttpError::NotFound | HttpError::Refused { .. } => kind == Kind::Stream,
        _ => false,
    }
}
