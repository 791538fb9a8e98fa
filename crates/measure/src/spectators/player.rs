//! Player of a watched arena: moves at random after a fixed time.

use std::{io, net::SocketAddr, time::Duration};

use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    net::TcpStream,
    time::sleep,
};
use zeitnot_rules::{Game, chess::Chess};
use zeitnot_wire::{Message, contest::FromServer};

use super::{CLASS, CLASS_SIZE, clock::MoveClock};
use crate::random_move::random_move;

/// A player, and the clocks of its moves.
pub(super) struct Player {
    pub(super) number: u16,
    pub(super) think: Duration,
    /// Times until the opponents have the moves.
    pub(super) moves: MoveClock,
    /// Times until spectators have them, if the player's games are the watched ones.
    pub(super) frames: Option<MoveClock>,
}

impl Player {
    /// Plays until the connection ends.
    pub(super) async fn play(self, address: SocketAddr) {
        // The arena ends first.
        let _ = run(address, &self).await;
    }
}

async fn run(address: SocketAddr, player: &Player) -> io::Result<()> {
    let Player { number, think, moves, frames } = player;
    let stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    let (read, mut write) = stream.into_split();
    let mut lines = BufReader::new(read).lines();
    let join = format!("JOIN {CLASS}-{} player-{number}\n", number / CLASS_SIZE);
    write.write_all(join.as_bytes()).await?;
    while let Some(line) = lines.next_line().await? {
        let answer = match FromServer::parse(&line) {
            Ok(FromServer::GamePaired { game, .. }) => format!("ACK {game}\n"),
            Ok(FromServer::GameStarted(state)) => {
                if let Some(frames) = frames {
                    frames.game.send_replace(state.game);
                }
                continue;
            }
            Ok(FromServer::YourMove(state)) => {
                moves.seen(&state.game, plies(&state.fen));
                sleep(*think).await;
                let board = Chess::start().parse_position(&state.fen).map_err(io::Error::other)?;
                let Some(mv) = random_move(&board) else { continue };
                for clock in frames.iter().chain([moves]) {
                    clock.sent(&state.game, plies(&state.fen) + 1);
                }
                format!("MOVE {} {mv}\n", state.game)
            }
            _ => continue,
        };
        write.write_all(answer.as_bytes()).await?;
    }
    Ok(())
}

/// Plies before a position of a game from the usual start.
fn plies(fen: &str) -> usize {
    let mut fields = fen.split(' ');
    let black = usize::from(fields.nth(1) == Some("b"));
    let number = fields.next_back().and_then(|number| number.parse().ok()).unwrap_or(1_usize);
    2 * number.saturating_sub(1) + black
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plies_of_a_position() {
        assert_eq!(plies("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"), 0);
        assert_eq!(plies("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1"), 1);
        assert_eq!(plies("8/8/8/8/8/8/8/K1k5 w - - 0 12"), 22);
    }
}
