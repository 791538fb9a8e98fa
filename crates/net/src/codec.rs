//! Line codec: splits bytes into lines of bounded length and reports bad lines as items.

use std::io;

use tokio_util::{
    bytes::{Bytes, BytesMut},
    codec::{AnyDelimiterCodec, AnyDelimiterCodecError, Decoder},
};

/// Maximum length of a line in bytes; the longest that our programs have to read has fewer than 300.
pub const MAX_LINE: usize = 4096;

/// A line that cannot be read; the connection continues after it.
#[derive(Copy, Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadLine {
    /// Longer than this many bytes; the rest of the line is discarded.
    #[error("a line longer than {0} bytes")]
    TooLong(usize),
    /// Not UTF-8.
    #[error("a line that is not UTF-8")]
    NotUtf8,
}

#[derive(Debug)]
pub(crate) struct LineCodec {
    chunks: AnyDelimiterCodec,
    /// Byte that ends a line.
    pub(crate) end: u8,
    is_telnet: bool,
}

impl LineCodec {
    /// Lines end with `\n` or `\r\n`; empty lines are skipped.
    pub(crate) fn plain() -> LineCodec {
        LineCodec::ended_by(b'\n', MAX_LINE)
    }

    /// Lines also end with `\r\0`, as telnet sends them; empty lines count.
    pub(crate) fn telnet() -> LineCodec {
        LineCodec { is_telnet: true, ..LineCodec::plain() }
    }

    /// Lines of at most so many bytes end with this one; empty lines are skipped.
    pub(crate) fn ended_by(end: u8, max_line: usize) -> LineCodec {
        let chunks = AnyDelimiterCodec::new_with_max_length(vec![end], Vec::new(), max_line);
        LineCodec { chunks, end, is_telnet: false }
    }
}

/// Bad lines are items, so that the stream continues after them.
impl Decoder for LineCodec {
    type Item = Result<String, BadLine>;
    type Error = io::Error;

    fn decode(&mut self, bytes: &mut BytesMut) -> Result<Option<Self::Item>, io::Error> {
        if self.is_telnet {
            // Of the first line only: who sends many at once would have all of them searched for each.
            let length = bytes.iter().position(|byte| *byte == b'\n').unwrap_or(bytes.len());
            if let Some(at) = bytes[..length].windows(2).position(|pair| pair == b"\r\0") {
                bytes[at + 1] = b'\n';
            }
        }
        loop {
            let line = match self.chunks.decode(bytes) {
                Ok(None) => return Ok(None),
                Ok(Some(chunk)) => text(&chunk),
                Err(AnyDelimiterCodecError::MaxChunkLengthExceeded) => {
                    Err(BadLine::TooLong(self.chunks.max_length()))
                }
                Err(AnyDelimiterCodecError::Io(error)) => return Err(error),
            };
            if self.is_telnet || line.as_ref().map_or(true, |line| !line.trim().is_empty()) {
                return Ok(Some(line));
            }
        }
    }

    /// Discards a line that the end of the stream cut off.
    fn decode_eof(&mut self, bytes: &mut BytesMut) -> Result<Option<Self::Item>, io::Error> {
        let line = self.decode(bytes)?;
        if line.is_none() {
            bytes.clear();
        }
        Ok(line)
    }
}

fn text(chunk: &Bytes) -> Result<String, BadLine> {
    let bytes = chunk.iter().copied().filter(|byte| *byte != b'\r').collect();
    String::from_utf8(bytes).map_err(|_| BadLine::NotUtf8)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Decodes the bytes as they arrive in pieces of this size.
    fn decode(bytes: &[u8], piece: usize) -> Vec<Result<String, BadLine>> {
        let mut codec = LineCodec::telnet();
        let mut waiting = BytesMut::new();
        let mut found = Vec::new();
        for piece in bytes.chunks(piece) {
            waiting.extend_from_slice(piece);
            found.extend(std::iter::from_fn(|| codec.decode(&mut waiting).unwrap()));
            assert!(waiting.len() <= MAX_LINE + piece.len());
        }
        found
    }

    #[test]
    fn the_three_line_ends_and_empty_lines() {
        let expected = ["one", "two", "three", "", "", "four"].map(|line| Ok(line.to_owned()));
        for piece in 1..8 {
            assert_eq!(decode(b"one\ntwo\r\nthree\r\0\n\r\nfour\nfi", piece), expected);
        }
    }

    /// Each line is searched once: a client that sends thousands at once costs no more than their bytes.
    #[test]
    fn the_lines_behind_the_first_are_left_alone() {
        let mut codec = LineCodec::telnet();
        let mut waiting = BytesMut::from(&b"one\r\0two\r\0"[..]);
        assert_eq!(codec.decode(&mut waiting).unwrap(), Some(Ok("one".to_owned())));
        assert_eq!(waiting[..], *b"two\r\0");
    }

    #[test]
    fn bad_lines_are_reported_and_skipped() {
        let long = [&vec![b'x'; 3 * MAX_LINE][..], b"\r\ntwo\n\xff\nthree\n"].concat();
        for piece in [1, 100, 10 * MAX_LINE] {
            let expected = [
                Err(BadLine::TooLong(MAX_LINE)),
                Ok("two".to_owned()),
                Err(BadLine::NotUtf8),
                Ok("three".to_owned()),
            ];
            assert_eq!(decode(&long, piece), expected);
        }
    }

    proptest! {
        #[test]
        fn pieces_make_no_difference(
            bytes in prop::collection::vec(prop::sample::select(b"ab\r\n\0\xff".to_vec()), 0..40), piece in 1..9usize,
        ) {
            prop_assert_eq!(decode(&bytes, piece), decode(&bytes, 100));
        }
    }
}
