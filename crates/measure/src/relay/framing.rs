//! Messages of a server, cut out of its bytes.

/// Form of messages.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Framing {
    /// Whatever comes at once.
    Pieces,
    /// Lines of text.
    Lines,
    /// The answer to a WebSocket handshake; frames follow.
    Handshake,
    /// Frames of WebSocket.
    Frames,
}

impl Framing {
    /// Returns the length of the first message, if it is there as a whole.
    pub(super) fn first(&mut self, bytes: &[u8]) -> Option<usize> {
        let end = |mark: &[u8]| Some(bytes.windows(mark.len()).position(|at| at == mark)? + mark.len());
        let length = match self {
            Framing::Pieces if bytes.is_empty() => return None,
            Framing::Pieces => bytes.len(),
            Framing::Lines => end(b"\n")?,
            Framing::Handshake => {
                let length = end(b"\r\n\r\n")?;
                *self = Framing::Frames;
                length
            }
            // Frames of a server are not masked, and ours are short.
            Framing::Frames => match *bytes {
                [_, 126, high, low, ..] => 4 + usize::from(u16::from_be_bytes([high, low])),
                [_, length @ ..126, ..] => 2 + usize::from(length),
                _ => return None,
            },
        };
        (length <= bytes.len()).then_some(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_found_whatever_the_pieces() {
        let long = [&[0x81, 126, 1, 0][..], &[b'x'; 256]].concat();
        let lines: [&[u8]; 3] = [b"one\n", b"\n", b"two\n"];
        let frames: [&[u8]; 4] = [b"HTTP/1.1 101 X\r\na: b\r\n\r\n", b"\x81\x02hi", &long, b"\x81\x00"];
        for (framing, messages) in [(Framing::Lines, &lines[..]), (Framing::Handshake, &frames)] {
            for piece in [1, 3, 1000] {
                let mut framing = framing;
                let mut waiting = Vec::new();
                let mut found = Vec::new();
                for piece in messages.concat().chunks(piece) {
                    waiting.extend_from_slice(piece);
                    while let Some(length) = framing.first(&waiting) {
                        found.push(waiting.drain(..length).collect::<Vec<_>>());
                    }
                }
                assert_eq!(found, messages);
            }
        }
    }
}
