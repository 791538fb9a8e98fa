//! From bytes to lines: lines of a bounded length, and what is wrong with the others.

use std::io;

use tokio_util::{
    bytes::{Buf, BytesMut},
    codec::{Decoder, LinesCodec, LinesCodecError},
};

use super::{BadLine, MAX_LINE};

/// How lines end.
#[derive(Debug)]
pub(super) enum Lines {
    /// With `\n` or `\r\n`.
    Plain(LinesCodec),
    /// Also with `\r\0`, as telnet has it.
    Telnet(Telnet),
}

impl Lines {
    pub(super) fn plain() -> Lines {
        Lines::Plain(LinesCodec::new_with_max_length(MAX_LINE))
    }

    pub(super) fn telnet() -> Lines {
        Lines::Telnet(Telnet::default())
    }
}

/// Bad lines are items, so that the stream goes on behind them; the half line that a close can leave is none.
impl Decoder for Lines {
    type Item = Result<String, BadLine>;
    type Error = io::Error;

    fn decode(&mut self, bytes: &mut BytesMut) -> Result<Option<Self::Item>, io::Error> {
        match self {
            Lines::Plain(codec) => plain(codec, bytes),
            Lines::Telnet(telnet) => Ok(telnet.decode(bytes)),
        }
    }

    fn decode_eof(&mut self, bytes: &mut BytesMut) -> Result<Option<Self::Item>, io::Error> {
        let line = self.decode(bytes)?;
        if line.is_none() {
            bytes.clear();
        }
        Ok(line)
    }
}

fn plain(codec: &mut LinesCodec, bytes: &mut BytesMut) -> io::Result<Option<Result<String, BadLine>>> {
    match codec.decode(bytes) {
        Ok(line) => Ok(line.map(Ok)),
        Err(LinesCodecError::MaxLineLengthExceeded) => Ok(Some(Err(BadLine::TooLong))),
        Err(LinesCodecError::Io(e)) if e.kind() == io::ErrorKind::InvalidData => {
            Ok(Some(Err(BadLine::NotUtf8)))
        }
        Err(LinesCodecError::Io(e)) => Err(e),
    }
}

/// Cuts at `\n`, `\r\n` and `\r\0`. A `\r` before anything else is thrown away.
#[derive(Debug, Default)]
pub(super) struct Telnet {
    /// Bytes that were looked at and hold no end.
    seen: usize,
    /// In the middle of a line that is too long.
    skipping: bool,
}

impl Telnet {
    fn decode(&mut self, bytes: &mut BytesMut) -> Option<Result<String, BadLine>> {
        let Some(end) = self.end(bytes) else {
            self.skipping |= bytes.len() > MAX_LINE;
            if self.skipping {
                // A last \r may be the first half of an end.
                let keep = usize::from(bytes.last() == Some(&b'\r'));
                bytes.advance(bytes.len() - keep);
            }
            self.seen = bytes.len();
            return None;
        };
        let line = bytes.split_to(end + 1);
        self.seen = 0;
        if std::mem::take(&mut self.skipping) || line.len() > MAX_LINE {
            return Some(Err(BadLine::TooLong));
        }
        let text = line.iter().take(end).copied().filter(|byte| *byte != b'\r').collect();
        Some(String::from_utf8(text).map_err(|_| BadLine::NotUtf8))
    }

    /// Where the first line's last byte is.
    fn end(&self, bytes: &[u8]) -> Option<usize> {
        let ends = |at: &usize| match bytes.get(*at) {
            Some(b'\n') => true,
            Some(0) => at.checked_sub(1).is_some_and(|before| bytes.get(before) == Some(&b'\r')),
            _ => false,
        };
        (self.seen..bytes.len()).find(ends)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What comes of the bytes when they arrive in pieces of this size.
    fn cut(bytes: &[u8], piece: usize) -> Vec<Result<String, BadLine>> {
        let (mut lines, mut waiting, mut found) = (Lines::telnet(), BytesMut::new(), Vec::new());
        for piece in bytes.chunks(piece) {
            waiting.extend_from_slice(piece);
            found.extend(std::iter::from_fn(|| lines.decode(&mut waiting).unwrap()));
            assert!(waiting.len() <= MAX_LINE + piece.len());
        }
        found
    }

    #[test]
    fn the_three_ends_and_empty_lines() {
        let expected = ["one", "two", "three", "", "", "four"].map(|line| Ok(line.to_owned()));
        for piece in 1..8 {
            assert_eq!(cut(b"one\ntwo\r\nthree\r\0\n\r\nfour\nfi", piece), expected);
        }
    }

    #[test]
    fn bad_lines_are_told_and_gone() {
        let long = [&vec![b'x'; 3 * MAX_LINE][..], b"\r\ntwo\n\xff\nthree\n"].concat();
        for piece in [1, 100, 10 * MAX_LINE] {
            let expected =
                [Err(BadLine::TooLong), Ok("two".to_owned()), Err(BadLine::NotUtf8), Ok("three".to_owned())];
            assert_eq!(cut(&long, piece), expected);
        }
    }

    proptest! {
        #[test]
        fn pieces_make_no_difference(bytes in prop::collection::vec(prop::sample::select(b"ab\r\n\0\xff".to_vec()), 0..40), piece in 1..9usize) {
            prop_assert_eq!(cut(&bytes, piece), cut(&bytes, 100));
        }
    }
}
