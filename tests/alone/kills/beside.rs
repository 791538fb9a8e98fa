//! Games of IMCS and of TUC-Chess in the same arena. Each counts the ends that its winner or White was told.

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use tokio::{
    net::UdpSocket,
    time::{sleep, timeout},
};

use super::{THINKS, lines::Lines};

pub type Count = Arc<AtomicUsize>;

/// Time of a game of TUC-Chess, after which the next move ends it.
pub const TIME_LIMIT: Duration = Duration::from_millis(40);
/// Silence after which a player of TUC-Chess sits down again.
const SILENCE: Duration = Duration::from_millis(400);
const TUC_MOVES: [&str; 4] = ["5040", "1222", "4030", "2232"];

async fn log_in(address: SocketAddr, name: &str) -> Option<Lines> {
    let mut lines = Lines::connect(address).await?;
    lines.say(&format!("me {name} pw\r\nregister {name} pw\r\n")).await?;
    // One of the two succeeds.
    lines.until("20").await?;
    Some(lines)
}

/// Offers games of IMCS, and wins them, for as long as the future lives.
pub async fn offer(address: SocketAddr, told: Count) {
    loop {
        let game = async {
            let mut lines = log_in(address, "alice").await?;
            lines.say("clean\r\noffer W 60\r\n").await?;
            lines.until("? ").await?;
            lines.say("a2-a3\r\n").await?;
            let end = lines.until("231 ").await?;
            assert_eq!(end, "231 W wins on opponent resignation");
            told.fetch_add(1, Ordering::Relaxed);
            Some(())
        };
        game.await;
        sleep(THINKS / 4).await;
    }
}

/// Accepts them, and resigns.
pub async fn accept(address: SocketAddr) {
    loop {
        let game = async {
            let mut lines = log_in(address, "bob").await?;
            lines.say("list\r\n").await?;
            let mut offered = None;
            lines.until("211").await?;
            loop {
                let line = lines.line().await?;
                if line == "." {
                    break;
                }
                let id = line.split_whitespace().next().map(str::to_owned);
                offered = id.filter(|_| line.ends_with("[offer]")).or(offered);
            }
            lines.say(&format!("accept {}\r\n", offered?)).await?;
            lines.until("? ").await?;
            lines.say("resign\r\n").await?;
            lines.until("231").await.map(drop)
        };
        game.await;
        sleep(THINKS / 4).await;
    }
}

/// Plays games of TUC-Chess for as long as the future lives.
pub async fn roll(address: SocketAddr, name: &str, told: Count) {
    loop {
        let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        socket.connect(address).await.unwrap();
        let game = async {
            socket.send(name.as_bytes()).await.ok()?;
            let mut is_white = true;
            let mut ply = 0;
            loop {
                let mut buffer = [0; 300];
                let length = timeout(SILENCE, socket.recv(&mut buffer)).await.ok()?.ok()?;
                match &buffer[..length] {
                    b"PW" => is_white = true,
                    b"PB" => is_white = false,
                    [b'G', b'E', ..] => break,
                    [b'T', ..] => ply += 1,
                    _ => {}
                }
                let has_begun = ply > 0 || buffer.starts_with(b"GB");
                if has_begun && (ply % 2 == 0) == is_white {
                    sleep(TIME_LIMIT / 3).await;
                    socket.send(TUC_MOVES.get(ply)?.as_bytes()).await.ok()?;
                }
            }
            if is_white {
                told.fetch_add(1, Ordering::Relaxed);
            }
            Some(())
        };
        game.await;
        sleep(THINKS / 4).await;
    }
}
