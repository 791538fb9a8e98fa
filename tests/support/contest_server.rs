//! Scripted contest server on real sockets, and a fake lobby on the player's side.
//!
//! The server does not use `zeitnot_net`, so that errors of that crate are not hidden.

use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufStream},
    net::{TcpListener, TcpStream},
    sync::mpsc,
    task::JoinHandle,
};
use tokio_tungstenite::{WebSocketStream, tungstenite::Message};
use zeitnot_clients::{
    Protocol, ProtocolError, Reconnect, Shutdown,
    contest::{Config, Contest, Timeouts},
};
use zeitnot_rules::{Color, Game, GameHistory, MoveText, chess::Chess};
use zeitnot_seat::{Action, Declined, Event, GameInfo, Lobby, OpenSeat, Seat, Turn};

use crate::support::wait::soon;

pub const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

// ---- the server ----------------------------------------------------------------------------------

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Transport {
    Tcp,
    Ws,
}

pub struct Server {
    listener: TcpListener,
    transport: Transport,
}

impl Server {
    pub async fn start(transport: Transport) -> Server {
        Server { listener: TcpListener::bind("127.0.0.1:0").await.unwrap(), transport }
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
        stream.set_nodelay(true).unwrap();
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

    /// Sends raw bytes; over TCP only.
    pub async fn bytes(&mut self, bytes: &[u8]) {
        let Connection::Tcp(socket) = self else { panic!("no raw bytes over WebSocket") };
        socket.write_all(bytes).await.unwrap();
        socket.flush().await.unwrap();
    }

    /// Returns the client's next line, or `None` after its close.
    pub async fn hear(&mut self) -> Option<String> {
        soon("a line of the client", async {
            match self {
                Connection::Tcp(socket) => {
                    let mut line = String::new();
                    let read = socket.read_line(&mut line).await.unwrap_or(0);
                    (read > 0).then(|| line.trim_end().to_owned())
                }
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

    pub async fn your_move(&mut self, game: &str, fen: &str) {
        self.say(&format!("YOUR_MOVE {game} alice bob 10.00 10.00 {fen}")).await;
    }
}

// ---- the client under test -----------------------------------------------------------------------

pub struct Client {
    pub shutdown: Shutdown,
    games: mpsc::Receiver<OpenSeat>,
    task: JoinHandle<Result<(), ProtocolError>>,
}

/// Configuration of alice in the tournament `class`.
pub fn config(address: &str) -> Config {
    toml::from_str(&format!("address = '{address}'\ntournament = 'class'\nplayer = 'alice'")).unwrap()
}

/// The same with short delays between attempts to connect.
pub fn hasty(address: &str) -> Config {
    let delay = Duration::from_millis(10);
    let reconnect = Reconnect { min_delay: delay, max_delay: delay, stable_after: delay };
    Config { timeouts: Timeouts { reconnect, ..Timeouts::default() }, ..config(address) }
}

impl Client {
    pub fn start(config: Config) -> Client {
        let (lobby, games) = Lobby::channel(4);
        let shutdown = Shutdown::default();
        let task = tokio::spawn(Contest::run(config, lobby, shutdown.clone()));
        Client { shutdown, games, task }
    }

    /// Returns the next game that comes to the lobby.
    pub async fn game(&mut self) -> Player {
        let OpenSeat { info, reply } = soon("a game", self.games.recv()).await.unwrap();
        let (events, from_protocol) = mpsc::channel(64);
        let (to_protocol, actions) = mpsc::channel(4);
        reply.send(Ok(Seat { engine: "mock".into(), events, actions })).unwrap();
        Player { info, events: from_protocol, actions: to_protocol }
    }

    pub async fn decline(&mut self) {
        let open = soon("a game", self.games.recv()).await.unwrap();
        open.reply.send(Err(Declined("no room".into()))).unwrap();
    }

    pub async fn stopped(self) -> Result<(), ProtocolError> {
        soon("the client's end", self.task).await.unwrap()
    }
}

/// Player's end of a seat.
pub struct Player {
    pub info: GameInfo,
    events: mpsc::Receiver<Event>,
    pub actions: mpsc::Sender<Action>,
}

impl Player {
    /// Returns the next event, or `None` after the end of the seat. `Sent` may come before or after the answer
    /// to its line, so only [`Player::sent`] returns it.
    pub async fn event(&mut self) -> Option<Event> {
        loop {
            match soon("an event", self.events.recv()).await {
                Some(Event::Sent { .. }) => {}
                event => return event,
            }
        }
    }

    pub async fn sent(&mut self) -> Turn {
        loop {
            match soon("Sent", self.events.recv()).await {
                Some(Event::Sent { turn, .. }) => return turn,
                Some(_) => {}
                None => panic!("the seat is gone"),
            }
        }
    }

    /// Skips events up to the next request.
    pub async fn turn(&mut self) -> Turn {
        loop {
            match self.event().await {
                Some(Event::YourTurn { turn, .. }) => return turn,
                Some(_) => {}
                None => panic!("the seat is gone"),
            }
        }
    }

    /// Skips events up to the end.
    pub async fn ended(&mut self) -> String {
        loop {
            match self.event().await {
                Some(Event::Ended { result }) => return result,
                Some(_) => {}
                None => panic!("the seat is gone without a word"),
            }
        }
    }

    pub async fn play(&self, turn: Turn, mv: &str) {
        // The protocol may have left already; then nobody hears.
        let _ = self
            .actions
            .send(Action::Play { turn, mv: MoveText::new(mv).unwrap(), offers_draw: false, eval: None })
            .await;
    }

    /// Plays on its own board, as the real player does, until the game is over.
    pub async fn play_first_legal_moves(mut self) -> String {
        let mut line = GameHistory::new(Chess::parse(self.info.start.as_deref().unwrap()).unwrap());
        loop {
            match self.event().await.expect("the seat is gone without a word") {
                Event::Moved(mv) => line.play(line.now().read(mv.as_str()).unwrap()),
                Event::Board(fen) => assert_eq!(line.now().print(), fen, "the lines part"),
                Event::YourTurn { turn, clocks } => {
                    assert!(clocks.unwrap().left[Color::White] <= Duration::from_secs(10));
                    let mv = line.now().moves()[0];
                    self.play(turn, line.now().write(mv).as_str()).await;
                }
                Event::Ended { result } => return result,
                Event::ClocksRead(_) | Event::Sent { .. } | Event::DrawOffered => {}
                odd @ (Event::Refused { .. } | Event::TakenBack { .. }) => panic!("{odd:?}"),
            }
        }
    }
}
