//! An answer in lines, read one by one: what comes is bounded in length, and so is the silence between.

use reqwest::Response;
use tokio::time::timeout;
use tokio_util::{
    bytes::BytesMut,
    codec::{Decoder, LinesCodec},
};

use zeitnot_wire::{Message, lichess::line};

use super::http::{Http, HttpError};

/// A line that is longer is skipped.
pub(super) const LONGEST_LINE: usize = 64 << 10;

/// What is left of such an answer.
#[derive(Debug)]
pub(super) struct Lines {
    http: Http,
    response: Response,
    codec: LinesCodec,
    buffer: BytesMut,
    is_over: bool,
}

impl Lines {
    pub fn new(http: Http, response: Response) -> Lines {
        let codec = LinesCodec::new_with_max_length(LONGEST_LINE);
        Lines { http, response, codec, buffer: BytesMut::new(), is_over: false }
    }

    /// The next line that says something; one that cannot be read is passed over. `None`: the end.
    pub async fn next<M: Message>(&mut self) -> Result<Option<M>, HttpError> {
        loop {
            let decoded = match self.is_over {
                false => self.codec.decode(&mut self.buffer),
                true => self.codec.decode_eof(&mut self.buffer),
            };
            match decoded.map(|text| text.map(|text| line(&text))) {
                Ok(Some(Ok(Some(message)))) => return Ok(Some(message)),
                Ok(None) if self.is_over => return Ok(None),
                Ok(None) => self.read().await?,
                Ok(Some(Ok(None))) => {}
                Ok(Some(Err(error))) => tracing::debug!("passed over a line: {error}"),
                Err(error) => tracing::debug!("passed over a line: {error}"),
            }
        }
    }

    async fn read(&mut self) -> Result<(), HttpError> {
        let silence = self.http.patience().silence;
        let chunk = timeout(silence, self.response.chunk()).await;
        let silent = |_| HttpError::Network(format!("nothing for {silence:?}"));
        match chunk.map_err(silent)?? {
            Some(chunk) => self.buffer.extend_from_slice(&chunk),
            None => self.is_over = true,
        }
        Ok(())
    }
}
