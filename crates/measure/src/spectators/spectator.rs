//! Spectator of one game over the live WebSocket, with as little work as can be: 500 of them share a core.

use std::{io, net::SocketAddr};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, BufReader},
    net::{
        TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
};

use super::clock::MoveClock;

/// First byte of a text frame that is a whole message.
const TEXT: u8 = 0x81;
/// Bit of the second byte: the payload is masked, as clients must do. The mask is zero.
const MASKED: u8 = 0x80;
const MAX_FRAME: u64 = 1 << 20;

/// Watches each game of the clock until the connection ends.
pub(super) async fn watch(address: SocketAddr, clock: MoveClock) {
    // The arena ends first.
    let _ = run(address, clock).await;
}

async fn run(address: SocketAddr, clock: MoveClock) -> io::Result<()> {
    let stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    let (read, mut write) = stream.into_split();
    let mut read = BufReader::new(read);
    let request = format!(
        "GET /api/live HTTP/1.1\r\nHost: {address}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
         Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    );
    write.write_all(request.as_bytes()).await?;
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(read.read_u8().await?);
    }
    let mut games = clock.game.subscribe();
    loop {
        let game = match games.wait_for(|game| !game.is_empty()).await {
            Ok(game) => game.clone(),
            Err(_) => return Ok(()),
        };
        say(&mut write, &format!(r#"{{"watch":{{"game":"{game}"}}}}"#)).await?;
        while *games.borrow_and_update() == game {
            let text = frame(&mut read).await?;
            if text.starts_with(r#"{"type":"move""#)
                && let Some(ply) = ply(&text)
            {
                clock.seen(&game, ply);
            } else if text.starts_with(r#"{"type":"end""#) {
                let _ = games.changed().await;
            }
        }
    }
}

async fn say(write: &mut OwnedWriteHalf, text: &str) -> io::Result<()> {
    let length = u8::try_from(text.len()).ok().filter(|length| *length < 126);
    let length = length.ok_or(io::ErrorKind::InvalidInput)?;
    let mut frame = vec![TEXT, MASKED | length, 0, 0, 0, 0];
    frame.extend_from_slice(text.as_bytes());
    write.write_all(&frame).await
}

/// Reads the text of the next frame; other frames have none.
async fn frame(read: &mut BufReader<OwnedReadHalf>) -> io::Result<String> {
    let (kind, short) = (read.read_u8().await?, read.read_u8().await?);
    let length = match short {
        126 => read.read_u16().await?.into(),
        127 => read.read_u64().await?,
        short => short.into(),
    };
    if length > MAX_FRAME {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut payload = vec![0; length as usize];
    read.read_exact(&mut payload).await?;
    Ok(if kind == TEXT { String::from_utf8_lossy(&payload).into_owned() } else { String::new() })
}

/// The value of `ply` in a message.
fn ply(text: &str) -> Option<usize> {
    let (_, rest) = text.split_once(r#""ply":"#)?;
    rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}
