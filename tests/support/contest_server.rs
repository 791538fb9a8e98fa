//! Scripted contest server on real sockets, and its client.
//!
//! The server does not use `zeitnot_net`, so that errors of that crate are not hidden.

use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufStream},
    net::{TcpListener, TcpStream},
};
use tokio_tungstenite::{WebSocketStream, tungstenite::Message};
use zeitnot_clients::{
    Reconnect,
    contest::{Config, Contest, Timeouts},
};
use zeitnot_testing::soon;

pub use crate::support::client::{Client, Player};

pub const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Transport {
    Tcp,
    Ws,
}

pub struct Server {
    listener: TcpListener,
    transport: Transport,
    nodelay: bool,
}

impl Server {
    pub async fn start(transport: Transport) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        Server { listener, transport, nodelay: true }
    }

    /// Leaves Nagle's algorithm on, as most servers do that do not think of it.
    pub async fn with_nagle(transport: Transport) -> Server {
        Server { nodelay: false, ..Server::start(transport).await }
    }

    pub fn address(&self) -> String {
        let at = self.listener.local_addr().unwrap();
        match self.transport {
            Transport::Tcp => format!("tcp://{at}"),
            Transport::Ws => format!("ws://{at}/play"),
        }
    }

    pub async fn accept(&self) -> Connection {
        let (stream, _) = soon("a connection", self.listener.accept()).await.unwrap();
        stream.set_nodelay(self.nodelay).unwrap();
        match self.transport {
            Transport::Tcp => Connection::Tcp(BufStream::new(stream)),
            Transport::Ws => Connection::Ws(Box::new(tokio_tungstenite::accept_async(stream).await.unwrap())),
        }
    }

    /// Accepts a client that joins.
    pub async fn joined(&self) -> Connection {
        let mut connection = self.accept().await;
        connection.expect("JOIN class alice").await;
        connection.say("INFO Player alice joined tournament (1 active players)").await;
        connection
    }
}

pub enum Connection {
    Tcp(BufStream<TcpStream>),
    Ws(Box<WebSocketStream<TcpStream>>),
}

impl Connection {
    pub async fn say(&mut self, line: &str) {
        let line = format!("{line}\n");
        match self {
            Connection::Tcp(_) => self.bytes(line.as_bytes()).await,
            Connection::Ws(socket) => socket.send(Message::text(line)).await.unwrap(),
        }
    }

    /// Sends a text frame as it is; over WebSocket only.
    pub async fn frame(&mut self, text: &str) {
        let Connection::Ws(socket) = self else { panic!("no frames over TCP") };
        socket.send(Message::text(text)).await.unwrap();
    }

    /// Returns the client's next text frame as it is.
    pub async fn hear_frame(&mut self) -> String {
        let Connection::Ws(socket) = self else { panic!("no frames over TCP") };
        let frame = soon("a frame", socket.next()).await.unwrap().unwrap();
        frame.into_text().unwrap().to_string()
    }

    /// Sends raw bytes; over TCP only.
    pub async fn bytes(&mut self, bytes: &[u8]) {
        let Connection::Tcp(socket) = self else { panic!("no raw bytes over WebSocket") };
        socket.write_all(bytes).await.unwrap();
        socket.flush().await.unwrap();
    }

    /// Returns the client's next line, or `None` after its close. Empty lines are ignored.
    pub async fn hear(&mut self) -> Option<String> {
        soon("a line of the client", async {
            match self {
                Connection::Tcp(socket) => loop {
                    let mut line = String::new();
                    match socket.read_line(&mut line).await.unwrap_or(0) {
                        0 => return None,
                        _ if line.trim().is_empty() => {}
                        _ => return Some(line.trim_end().to_owned()),
                    }
                },
                Connection::Ws(socket) => loop {
                    match socket.next().await {
                        Some(Ok(Message::Text(text))) => return Some(text.trim_end().to_owned()),
                        Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
                        _ => return None,
                    }
                },
            }
        })
        .await
    }

    pub async fn expect(&mut self, line: &str) {
        assert_eq!(self.hear().await.as_deref(), Some(line));
    }

    pub async fn expect_close(&mut self) {
        assert_eq!(self.hear().await, None);
    }

    /// Pairs alice (White) with bob and starts the game.
    pub async fn begin(&mut self, game: &str) {
        self.say(&format!("GAME_PAIRED {game} alice bob 10.00 0.10")).await;
        self.expect(&format!("ACK {game}")).await;
        self.say("INFO Both players have acknowledged game. Starting...").await;
        self.say(&format!("GAME_STARTED {game} alice bob 10.00 10.00 {START}")).await;
    }

    /// Asks alice for a move.
    pub async fn ask(&mut self, game: &str) {
        self.your_move(game, START).await;
    }

    pub async fn your_move(&mut self, game: &str, fen: &str) {
        self.say(&format!("YOUR_MOVE {game} alice bob 10.00 10.00 {fen}")).await;
    }
}

/// Configuration of a player in the tournament `class`.
pub fn entry(address: &str, player: &str) -> Config {
    toml::from_str(&format!("address = '{address}'\ntournament = 'class'\nplayer = '{player}'")).unwrap()
}

/// Configuration of alice with short delays between attempts to connect. She waits for the first answer in silence: the
/// clock of a test that pauses it leaps while the system delivers bytes.
pub fn config(address: &str) -> Config {
    let delay = Duration::from_millis(10);
    let never = Duration::MAX;
    let reconnect = Reconnect { min_delay: delay, max_delay: delay, stable_after: delay };
    let timeouts = Timeouts { reconnect, probe: never, join: never, ..Timeouts::default() };
    Config { timeouts, ..entry(address, "alice") }
}

/// Starts a client that joins a server.
pub async fn joined(transport: Transport) -> (Server, Client, Connection) {
    let server = Server::start(transport).await;
    let client = Client::of::<Contest>(config(&server.address()));
    let wire = server.joined().await;
    (server, client, wire)
}

/// Starts a client that joins a server, and its first game, `g1`.
pub async fn in_game(transport: Transport) -> (Server, Client, Connection, Player) {
    let (server, mut client, mut wire) = joined(transport).await;
    wire.begin("g1").await;
    let player = client.game().await;
    (server, client, wire, player)
}
