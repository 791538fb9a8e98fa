//! Spectator of one game over the live WebSocket.

use std::{io, net::SocketAddr};

use tokio::net::TcpStream;

use super::clock::MoveClock;
use crate::web_socket;

/// Watches each game of the clock until the connection ends.
pub(super) async fn watch(address: SocketAddr, clock: MoveClock) {
    // The arena ends first.
    let _ = run(address, clock).await;
}

async fn run(address: SocketAddr, clock: MoveClock) -> io::Result<()> {
    let (mut reader, mut writer) = web_socket::open(TcpStream::connect(address).await?, "/api/live").await?;
    let mut games = clock.game.subscribe();
    loop {
        let game = match games.wait_for(|game| !game.is_empty()).await {
            Ok(game) => game.clone(),
            Err(_) => return Ok(()),
        };
        writer.say(&format!(r#"{{"watch":{{"game":"{game}"}}}}"#)).await?;
        while *games.borrow_and_update() == game {
            let text = reader.frame().await?;
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

/// The value of `ply` in a message.
fn ply(text: &str) -> Option<usize> {
    let (_, rest) = text.split_once(r#""ply":"#)?;
    rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}
