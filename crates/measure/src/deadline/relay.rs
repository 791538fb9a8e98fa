//! Relay in front of the arena, in the place of a server that leaves Nagle's algorithm on and acknowledges late.
//!
//! It writes each message of the server on its own, so that the second of two is held back until the client has
//! acknowledged the first.

use std::{io, net::SocketAddr};

use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWriteExt, copy},
    net::{TcpListener, TcpStream},
    task::JoinSet,
};

/// Messages of a server, cut out of its bytes.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Framing {
    /// Lines of text.
    Lines,
    /// The answer to a WebSocket handshake; frames follow.
    Handshake,
    /// Frames of WebSocket.
    Frames,
}

impl Framing {
    /// Returns the length of the first message, if it is there as a whole.
    fn first(&mut self, bytes: &[u8]) -> Option<usize> {
        let end = |mark: &[u8]| Some(bytes.windows(mark.len()).position(|at| at == mark)? + mark.len());
        let length = match self {
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

/// Listens in the place of a server, and returns the address. The relay ends with `tasks`.
pub(super) async fn open(
    server: SocketAddr,
    framing: Framing,
    tasks: &mut JoinSet<()>,
) -> io::Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    tasks.spawn(async move {
        let mut connections = JoinSet::new();
        while let Ok((client, _)) = listener.accept().await {
            connections.spawn(async move {
                // A broken connection is one for its client, too.
                let _ = relay(client, server, framing).await;
            });
        }
    });
    Ok(address)
}

async fn relay(client: TcpStream, server: SocketAddr, framing: Framing) -> io::Result<()> {
    let server = TcpStream::connect(server).await?;
    server.set_nodelay(true)?;
    let (mut from_client, to_client) = client.into_split();
    let (from_server, mut to_server) = server.into_split();
    tokio::select! {
        copied = copy(&mut from_client, &mut to_server) => copied.map(drop),
        copied = write_apart(from_server, to_client, framing) => copied,
    }
}

async fn write_apart(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWriteExt + Unpin,
    mut framing: Framing,
) -> io::Result<()> {
    let mut bytes = Vec::new();
    while from.read_buf(&mut bytes).await? > 0 {
        while let Some(length) = framing.first(&bytes) {
            to.write_all(&bytes[..length]).await?;
            bytes.drain(..length);
        }
    }
    Ok(())
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
                let (mut framing, mut waiting, mut found) = (framing, Vec::new(), Vec::new());
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
