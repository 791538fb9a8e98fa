//! NDJSON replies: read line by line, and watched for silence.

use std::time::Instant;

use reqwest::Response;
use tokio::time::{Instant as TokioInstant, timeout};
use tokio_util::{
    bytes::BytesMut,
    codec::{Decoder, LinesCodec},
};
use tracing::debug;
use zeitnot_wire::{Message, WireError, lichess::line};

use super::{connections::Pool, http::Http, http_error::HttpError, rate_limits::RequestKind};

/// Longer lines are skipped.
const MAX_LINE_BYTES: usize = 64 << 10;

/// A reply in lines, read one by one.
#[derive(Debug)]
pub(crate) struct Lines {
    http: Http,
    kind: RequestKind,
    path: String,
    response: Response,
    /// The connections that the response comes from.
    pool: Pool,
    codec: LinesCodec,
    buffer: BytesMut,
    /// When data was read last; before, when the request was sent.
    pub(crate) read_at: Instant,
    /// Arrival of the last line, if it was empty.
    empty_at: Option<TokioInstant>,
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
        let opened = http.open_stream(kind, path, form, false).await?;
        Ok(Lines::new(http, kind, path, opened))
    }

    pub(crate) fn new(
        http: &Http,
        kind: RequestKind,
        path: &str,
        (response, pool, read_at): (Response, Pool, Instant),
    ) -> Lines {
        Lines {
            http: http.clone(),
            kind,
            path: path.to_owned(),
            response,
            pool,
            codec: LinesCodec::new_with_max_length(MAX_LINE_BYTES),
            buffer: BytesMut::new(),
            read_at,
            empty_at: None,
            is_over: false,
        }
    }

    /// Returns the next message and when it was read, or `None` at the end. Skips lines that cannot be parsed.
    pub(crate) async fn next<M: Message>(&mut self) -> Result<Option<(M, Instant)>, HttpError> {
        self.next_read(|_, text| line(text)).await
    }

    /// The same, where the site has words of its own. `read` returns `None` for a line that only keeps the stream alive.
    pub(crate) async fn next_read<M>(
        &mut self,
        read: fn(&Http, &str) -> Result<Option<M>, WireError>,
    ) -> Result<Option<(M, Instant)>, HttpError> {
        loop {
            let decoded = match self.is_over {
                false => self.codec.decode(&mut self.buffer),
                true => self.codec.decode_eof(&mut self.buffer),
            };
            match decoded.map(|text| text.map(|text| read(&self.http, &text))) {
                Ok(Some(Ok(Some(message)))) => {
                    self.empty_at = None;
                    return Ok(Some((message, self.read_at)));
                }
                Ok(Some(Ok(None))) => self.measure(),
                Ok(Some(Err(error))) => self.skip(&error.to_string()),
                Ok(None) if self.is_over => return Ok(None),
                Ok(None) => self.read().await?,
                Err(error) => self.skip(&error.to_string()),
            }
        }
    }

    async fn read(&mut self) -> Result<(), HttpError> {
        let limit = self.http.max_silence(self.kind);
        let Ok(chunk) = timeout(limit, self.response.chunk()).await else {
            self.http.silent(self.kind, limit, &self.pool);
            return Err(HttpError::Network(format!("no data for {:.1} s", limit.as_secs_f64())));
        };
        match chunk? {
            Some(chunk) => self.buffer.extend_from_slice(&chunk),
            None => self.is_over = true,
        }
        self.read_at = Instant::now();
        Ok(())
    }

    /// Measures the interval of empty lines on a stream where nothing happens.
    fn measure(&mut self) {
        let now = TokioInstant::now();
        if let Some(before) = self.empty_at.replace(now) {
            self.http.heard(self.kind, now - before);
        }
    }

    fn skip(&mut self, why: &str) {
        self.empty_at = None;
        if self.is_over {
            // The connection broke in the middle of a line.
            return debug!("{}: skipped the last line: {why:?}", self.path);
        }
        let message = format_args!("{}: skipped a line: {why:?}", self.path);
        self.http.log().warn("lines that cannot be parsed", message);
    }
}
