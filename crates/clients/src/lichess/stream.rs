//! NDJSON streams: read line by line, watched for silence, and opened again when they end.

use std::time::{Duration, Instant};

use reqwest::Response;
use tokio::{sync::mpsc, time::timeout};
use tokio_util::{
    bytes::BytesMut,
    codec::{Decoder, LinesCodec},
    sync::CancellationToken,
    task::AbortOnDropHandle,
};
use tracing::debug;
use zeitnot_wire::{Message, lichess::line};

use super::{
    http::{FAILURES, Http, HttpError},
    rate_limits::RequestKind,
};
use crate::{
    Shutdown,
    session::{self, ConnectionEnd, Session},
};

/// Longer lines are skipped.
const MAX_LINE_BYTES: usize = 64 << 10;
/// Messages read ahead of the listener; then the socket waits.
const INBOX: usize = 64;

/// A reply in lines, read one by one.
#[derive(Debug)]
pub(crate) struct Lines {
    http: Http,
    path: String,
    response: Response,
    codec: LinesCodec,
    buffer: BytesMut,
    read_at: Instant,
    is_over: bool,
}

impl Lines {
    /// Opens a stream by GET, or by posting a form.
    pub(crate) async fn open(
        http: &Http,
        kind: RequestKind,
        path: &str,
        form: Option<String>,
    ) -> Result<Lines, HttpError> {
        let response = http.open_stream(kind, path, form).await?;
        Ok(Lines {
            http: http.clone(),
            path: path.to_owned(),
            response,
            codec: LinesCodec::new_with_max_length(MAX_LINE_BYTES),
            buffer: BytesMut::new(),
            read_at: Instant::now(),
            is_over: false,
        })
    }

    /// Returns the next message and when it was read, or `None` at the end. Skips lines that cannot be parsed.
    pub(crate) async fn next<M: Message>(&mut self) -> Result<Option<(M, Instant)>, HttpError> {
        loop {
            let decoded = match self.is_over {
                false => self.codec.decode(&mut self.buffer),
                true => self.codec.decode_eof(&mut self.buffer),
            };
            match decoded.map(|text| text.map(|text| line(&text))) {
                Ok(Some(Ok(Some(message)))) => return Ok(Some((message, self.read_at))),
                Ok(Some(Ok(None))) => {}
                Ok(Some(Err(error))) => self.skip(&error.to_string()),
                Ok(None) if self.is_over => return Ok(None),
                Ok(None) => self.read().await?,
                Err(error) => self.skip(&error.to_string()),
            }
        }
    }

    async fn read(&mut self) -> Result<(), HttpError> {
        let silence = self.http.timeouts().silence;
        let chunk = timeout(silence, self.response.chunk()).await;
        let silent = |_| HttpError::Network(format!("no data for {silence:?}"));
        match chunk.map_err(silent)?? {
            Some(chunk) => self.buffer.extend_from_slice(&chunk),
            None => self.is_over = true,
        }
        self.read_at = Instant::now();
        Ok(())
    }

    fn skip(&self, why: &str) {
        if self.is_over {
            // The connection broke in the middle of a line.
            return debug!("{}: skipped the last line: {why:?}", self.path);
        }
        let message = format_args!("{}: skipped a line: {why:?}", self.path);
        self.http.log().warn("lines that cannot be parsed", message);
    }
}

/// Event of a [`Stream`].
#[derive(Debug)]
pub(crate) enum StreamEvent<M> {
    /// The stream was opened, for the first time or again.
    Opened,
    /// A message, and the time of its arrival.
    Message(M, Instant),
    /// The server refuses the stream for good.
    Closed(HttpError),
}

/// The listener's end of a stream. The task behind it ends with it.
#[derive(Debug)]
pub(crate) struct Stream<M> {
    inbox: mpsc::Receiver<StreamEvent<M>>,
    _task: AbortOnDropHandle<()>,
}

impl<M: Message + Send + 'static> Stream<M> {
    /// Opens the stream at this path, and opens it again whenever it ends.
    pub(crate) fn follow(http: Http, kind: RequestKind, path: String) -> Stream<M> {
        let (outbox, inbox) = mpsc::channel(INBOX);
        let reconnect = http.timeouts().reconnect.clone();
        let mut follower = Follower { http, kind, path, outbox, notice: None };
        let task = async move {
            // The follower tells its end itself, and is stopped by dropping the task.
            let _ = session::run(&mut follower, &reconnect, &Shutdown::default()).await;
        };
        Stream { inbox, _task: AbortOnDropHandle::new(tokio::spawn(task)) }
    }

    /// Returns the next event. Cancel safe. Nothing follows [`StreamEvent::Closed`].
    pub(crate) async fn next(&mut self) -> StreamEvent<M> {
        let crashed = || StreamEvent::Closed(HttpError::Network("the stream's task ended".to_owned()));
        self.inbox.recv().await.unwrap_or_else(crashed)
    }
}

struct Follower<M> {
    http: Http,
    kind: RequestKind,
    path: String,
    outbox: mpsc::Sender<StreamEvent<M>>,
    /// Logged once the stream is open again; if that fails, the failure says more.
    notice: Option<String>,
}

#[derive(Debug, thiserror::Error)]
enum Disconnect {
    #[error("the server closed the stream")]
    Eof,
    #[error(transparent)]
    Http(#[from] HttpError),
}

impl<M: Message + Send> Session for Follower<M> {
    type Error = Disconnect;

    async fn connect_once(&mut self, _: &CancellationToken) -> Result<ConnectionEnd, Disconnect> {
        match self.follow_once().await {
            Err(Disconnect::Http(error)) if is_final(self.kind, &error) => {
                let _ = self.outbox.send(StreamEvent::Closed(error)).await;
                Ok(ConnectionEnd::Stopped)
            }
            Err(disconnect) => Err(disconnect),
            Ok(()) => Ok(ConnectionEnd::Stopped),
        }
    }

    fn report(&mut self, disconnect: &Disconnect, delay: Duration) {
        let path = &self.path;
        let message = format_args!("{path}: {disconnect}; reconnecting in {:.1} s", delay.as_secs_f64());
        self.notice = None;
        match (disconnect, self.kind) {
            // Streams of games close when games end, and proxies may close them at any time.
            (Disconnect::Eof, RequestKind::GameStream) => debug!("{message}"),
            (Disconnect::Eof, _) => self.notice = Some(format!("{path}: {disconnect}; reconnected")),
            (Disconnect::Http(error), _) => self.http.warn_failure(error, message),
        }
    }
}

impl<M: Message> Follower<M> {
    /// One connection, to its end. `Ok`: nobody listens any more.
    async fn follow_once(&mut self) -> Result<(), Disconnect> {
        let mut lines = Lines::open(&self.http, self.kind, &self.path, None).await?;
        if let Some(notice) = self.notice.take() {
            self.http.log().warn(FAILURES, format_args!("{notice}"));
        }
        let mut event = StreamEvent::Opened;
        while self.outbox.send(event).await.is_ok() {
            let (message, read_at) = lines.next().await?.ok_or(Disconnect::Eof)?;
            event = StreamEvent::Message(message, read_at);
        }
        Ok(())
    }
}

/// Returns whether the server will give the same answer next time. An unknown game stays unknown; but a 404 for the
/// event stream can only come from a proxy.
fn is_final(kind: RequestKind, error: &HttpError) -> bool {
    match error {
        HttpError::Unauthorized | HttpError::Refused { status: 403, .. } => true,
        HttpError::NotFound | HttpError::Refused { .. } => kind == RequestKind::GameStream,
        _ => false,
    }
}
