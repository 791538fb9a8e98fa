//! Honest player of the contest protocol: moves at random, soon after it is asked.

use std::{io, net::SocketAddr};

use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    net::TcpStream,
    time::sleep,
};

use zeitnot_rules::{Game, chess::Chess};
use zeitnot_wire::{Message, contest::FromServer};

use super::{CLASS, THINK, measured::Stopwatch};
use crate::random_move::random_move;

/// Plays until the connection ends.
pub(super) async fn play(address: SocketAddr, name: String, watch: Stopwatch) {
    if run(address, &name, &watch).await.is_err() {
        watch.count_broken();
    }
}

async fn run(address: SocketAddr, name: &str, watch: &Stopwatch) -> io::Result<()> {
    let stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    let (read, mut write) = stream.into_split();
    let mut lines = BufReader::new(read).lines();
    write.write_all(format!("JOIN {CLASS} {name}\n").as_bytes()).await?;
    while let Some(line) = lines.next_line().await? {
        let answer = match FromServer::parse(&line) {
            Ok(FromServer::GamePaired { game, .. }) => {
                watch.clear();
                format!("ACK {game}\n")
            }
            Ok(FromServer::YourMove(state)) => {
                watch.stop();
                sleep(THINK).await;
                let board = Chess::start().parse_position(&state.fen).map_err(io::Error::other)?;
                let Some(mv) = random_move(&board) else { continue };
                watch.start();
                format!("MOVE {} {mv}\n", state.game)
            }
            Ok(FromServer::GameOver { reason, .. }) => {
                // Both are told.
                if reason == "Out of time" && name.ends_with('1') {
                    watch.count_lost();
                }
                continue;
            }
            _ => continue,
        };
        write.write_all(answer.as_bytes()).await?;
    }
    Err(io::ErrorKind::UnexpectedEof.into())
}
