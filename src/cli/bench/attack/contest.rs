//! Honest player of the contest protocol: moves at random, soon after it is asked.

use std::{io, net::SocketAddr};

use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    net::TcpStream,
    time::sleep,
};

use zeitnot_rules::{Game, MoveText, chess::Chess};
use zeitnot_wire::{Message, contest::FromServer};

use super::{CLASS, THINK, measured::Stopwatch};

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

/// A legal move, rather one that takes nothing, so that games last.
pub(super) fn random_move(board: &Chess) -> Option<MoveText> {
    const TRIES: usize = 4;
    let moves = board.moves();
    let draw = || moves.get(fastrand::usize(..moves.len().max(1))).copied();
    let is_quiet = |mv: &_| board.after(*mv).piece_count() == board.piece_count();
    let drawn = (0..TRIES).filter_map(|_| draw()).find(is_quiet).or_else(draw)?;
    Some(board.write(drawn))
}
