//! Honest bots of the Lichess API, in plain HTTP: they challenge each other, and move at random, soon after their turn.

use std::{io, net::SocketAddr};

use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::TcpStream,
    time::{sleep, timeout},
};

use zeitnot_rules::{Color, Game, chess::Chess};

use super::{PATIENCE, PAUSE, THINK, measured::Stopwatch};
use crate::random_move::random_move;

const TERMS: &str = "color=white&clock.limit=2&clock.increment=0.05";
/// Longest body of an answer.
const MAX_BODY: usize = 1 << 20;

/// Plays one game after the other, for ever.
pub(super) async fn play(address: SocketAddr, white: String, black: String, watch: Stopwatch) {
    loop {
        watch.clear();
        match game(address, &white, &black, &watch).await {
            Ok(status) if status == "outoftime" => watch.count_lost(),
            Ok(_) => {}
            Err(_) => watch.count_broken(),
        }
        sleep(PAUSE).await;
    }
}

/// Plays one game, and returns how it ended.
async fn game(address: SocketAddr, white: &str, black: &str, watch: &Stopwatch) -> io::Result<String> {
    let mut alice = Bot::connect(address, white).await?;
    let mut bob = Bot::connect(address, black).await?;
    let challenge = alice.post(&format!("/api/challenge/{black}"), TERMS).await?;
    let id = challenge["id"].as_str().ok_or(io::ErrorKind::InvalidData)?.to_owned();
    bob.post(&format!("/api/challenge/{id}/accept"), "").await?;
    let (first, _) = tokio::join!(alice.side(&id, Color::White, watch), bob.side(&id, Color::Black, watch));
    first
}

/// A bot with a connection that is kept for its requests.
struct Bot {
    address: SocketAddr,
    name: String,
    connection: BufReader<TcpStream>,
}

impl Bot {
    async fn connect(address: SocketAddr, name: &str) -> io::Result<Bot> {
        Ok(Bot { address, name: name.to_owned(), connection: open(address).await? })
    }

    /// Sends a request that must be granted, and returns the answer.
    async fn post(&mut self, path: &str, form: &str) -> io::Result<Value> {
        let name = &self.name;
        let length = form.len();
        let request = format!(
            "POST {path} HTTP/1.1\r\nHost: arena\r\nAuthorization: Bearer {name}\r\nContent-Length: {length}\r\n\
             Content-Type: application/x-www-form-urlencoded\r\n\r\n{form}"
        );
        let answering = async {
            self.connection.get_mut().write_all(request.as_bytes()).await?;
            let length = head(&mut self.connection).await?.unwrap_or_default();
            let mut body = vec![0; length.min(MAX_BODY)];
            self.connection.read_exact(&mut body).await?;
            Ok(serde_json::from_slice(&body)?)
        };
        timeout(PATIENCE, answering).await?
    }

    /// Plays one side of a game, and returns how the game ended.
    async fn side(&mut self, id: &str, color: Color, watch: &Stopwatch) -> io::Result<String> {
        let mut stream = open(self.address).await?;
        let request = format!(
            "GET /api/bot/game/stream/{id} HTTP/1.0\r\nHost: arena\r\nAuthorization: Bearer {}\r\n\r\n",
            self.name
        );
        stream.get_mut().write_all(request.as_bytes()).await?;
        head(&mut stream).await?;
        let mut board = Chess::start();
        let mut played = 0;
        let mut lines = stream.lines();
        while let Some(line) = lines.next_line().await? {
            let Ok(message) = serde_json::from_str::<Value>(&line) else { continue };
            let state = if message["type"] == "gameFull" { &message["state"] } else { &message };
            let (Some(moves), Some(status)) = (state["moves"].as_str(), state["status"].as_str()) else {
                continue;
            };
            if status != "started" {
                return Ok(status.to_owned());
            }
            for mv in moves.split_whitespace().skip(played) {
                let mv = board.read(mv).map_err(io::Error::other)?;
                board.play(mv);
                played += 1;
            }
            let is_white = played % 2 == 0;
            if is_white != (color == Color::White) {
                continue;
            }
            watch.stop();
            sleep(THINK).await;
            let Some(mv) = random_move(&board) else { continue };
            let path = format!("/api/bot/game/{id}/move/{mv}");
            watch.start();
            self.post(&path, "").await?;
        }
        Err(io::ErrorKind::UnexpectedEof.into())
    }
}

async fn open(address: SocketAddr) -> io::Result<BufReader<TcpStream>> {
    let stream = timeout(PATIENCE, TcpStream::connect(address)).await??;
    stream.set_nodelay(true)?;
    Ok(BufReader::new(stream))
}

/// Reads the head of a good answer, and returns the length of the body if it tells it.
async fn head(connection: &mut BufReader<TcpStream>) -> io::Result<Option<usize>> {
    let mut line = String::new();
    let mut length = None;
    connection.read_line(&mut line).await?;
    if line.split(' ').nth(1) != Some("200") {
        return Err(io::Error::other(line));
    }
    while !line.trim().is_empty() {
        line.clear();
        connection.read_line(&mut line).await?;
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().ok();
        }
    }
    Ok(length)
}
