//! The attacks. Each is a set of tasks that go on until they are dropped.

use std::{
    fmt, io,
    net::{Ipv4Addr, SocketAddr},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, sink},
    net::{TcpSocket, TcpStream, UdpSocket, tcp::OwnedReadHalf},
    task::{JoinSet, yield_now},
    time::sleep,
};

use zeitnot_arena::Arena;

use super::{OPEN, PUPILS};

/// The attackers' address, on systems that have all of this network.
const FROM: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 2);
/// Pause after a connection that was refused or lost.
const RETRY: Duration = Duration::from_millis(5);
/// Connections that say nothing, on each of two ports.
const SILENT: usize = 260;
/// Connections with pipelined requests.
const PIPELINES: usize = 120;

#[derive(Copy, Clone, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Attack {
    /// None
    None,
    /// One name three hundred times
    SameUser,
    /// Three hundred users at once
    Users,
    /// Many connections with pipelined requests
    Pipelines,
    /// Exports, lists of bots and tournaments
    Lookups,
    /// Connections that say nothing
    Silent,
    /// Chat in a tournament
    Say,
    /// Join, acknowledge, resign, again under another name
    Joins,
    /// Event streams, opened again and again
    EventStreams,
    /// Challenges by an account
    Challenges,
    /// Moves by an account in a game that is not its own
    Moves,
    /// Datagrams to a table of TUC-Chess
    Datagrams,
    /// Random bytes to all ports
    Bytes,
}

impl fmt::Display for Attack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = clap::ValueEnum::to_possible_value(self);
        f.write_str(name.as_ref().map_or("", |name| name.get_name()))
    }
}

/// Addresses under attack, and the number of messages.
#[derive(Debug)]
pub(super) struct Target {
    pub(super) tcp: SocketAddr,
    websocket: SocketAddr,
    pub(super) lichess: SocketAddr,
    imcs: SocketAddr,
    table: SocketAddr,
    pub(super) messages: AtomicUsize,
}

impl Target {
    /// The ports of an arena that has all fronts.
    pub(super) fn of(arena: &Arena) -> Target {
        let port = |address: Option<SocketAddr>| address.unwrap_or_else(|| ([127, 0, 0, 1], 0).into());
        Target {
            tcp: port(arena.tcp()),
            websocket: port(arena.websocket()),
            lichess: port(arena.lichess()),
            imcs: port(arena.imcs()),
            table: port(arena.tables().first().copied()),
            messages: AtomicUsize::new(0),
        }
    }

    fn count(&self, messages: usize) {
        self.messages.fetch_add(messages, Ordering::Relaxed);
    }
}

impl Attack {
    /// Starts the attack.
    pub(super) fn start(self, target: &Arc<Target>, tasks: &mut JoinSet<()>) {
        let mut flood = |connections: usize, requests: Vec<u8>| {
            let (address, requests): (_, Arc<[u8]>) = (target.lichess, requests.into());
            for _ in 0..connections {
                tasks.spawn(pour(target.clone(), address, requests.clone()));
            }
        };
        match self {
            Attack::None => {}
            Attack::SameUser => flood(8, post("/api/users", "", &"alice,".repeat(300))),
            Attack::Users => flood(8, post("/api/users", "", &pupils())),
            Attack::Pipelines => flood(PIPELINES, post("/api/users", "", &pupils()).repeat(16)),
            Attack::Lookups => {
                for path in ["/api/games/user/alice", "/api/bot/online?nb=512", "/api/tournament"] {
                    flood(8, get(path, "").repeat(16));
                }
            }
            Attack::EventStreams => flood(50, get("/api/stream/event", "mallory")),
            Attack::Challenges => {
                flood(20, post("/api/challenge/alice", "mallory", "clock.limit=60&clock.increment=0"));
            }
            Attack::Moves => {
                flood(20, post("/api/bot/game/abcdefgh/move/e2e4", "mallory", "").repeat(16));
            }
            Attack::Silent => {
                for address in [target.tcp, target.lichess].repeat(SILENT) {
                    tasks.spawn(hold(target.clone(), address));
                }
            }
            Attack::Say => (0..4).for_each(|number| drop(tasks.spawn(say(target.clone(), number)))),
            Attack::Joins => (0..50).for_each(|number| drop(tasks.spawn(join(target.clone(), number)))),
            Attack::Datagrams => (0..4).for_each(|_| drop(tasks.spawn(datagrams(target.clone())))),
            Attack::Bytes => {
                for address in [target.tcp, target.websocket, target.lichess, target.imcs].repeat(20) {
                    let bytes: Vec<u8> = std::iter::repeat_with(|| fastrand::u8(..)).take(1 << 14).collect();
                    tasks.spawn(pour(target.clone(), address, bytes.into()));
                }
            }
        }
    }
}

fn pupils() -> String {
    (0..PUPILS).map(|number| format!("pupil{number},")).collect()
}

fn get(path: &str, token: &str) -> Vec<u8> {
    format!("GET {path} HTTP/1.1\r\nHost: arena\r\n{}\r\n", authorization(token)).into_bytes()
}

fn post(path: &str, token: &str, body: &str) -> Vec<u8> {
    let (token, length) = (authorization(token), body.len());
    format!("POST {path} HTTP/1.1\r\nHost: arena\r\n{token}Content-Length: {length}\r\n\r\n{body}")
        .into_bytes()
}

fn authorization(token: &str) -> String {
    if token.is_empty() { String::new() } else { format!("Authorization: Bearer {token}\r\n") }
}

async fn connect(address: SocketAddr) -> io::Result<TcpStream> {
    let socket = TcpSocket::new_v4()?;
    // Elsewhere the attackers have the address of the others.
    let _ = socket.bind((FROM, 0).into());
    socket.connect(address).await
}

/// Writes the same bytes again and again, and reads what comes.
async fn pour(target: Arc<Target>, address: SocketAddr, bytes: Arc<[u8]>) {
    loop {
        if let Ok(stream) = connect(address).await {
            let (mut read, mut write) = stream.into_split();
            let writing = async {
                while write.write_all(&bytes).await.is_ok() {
                    target.count(1);
                    yield_now().await;
                }
            };
            tokio::select! {
                () = writing => {}
                () = drain(&mut read) => {}
            }
        }
        sleep(RETRY).await;
    }
}

/// Reads to the end.
async fn drain(read: &mut OwnedReadHalf) {
    // An error is an end, too.
    let _ = tokio::io::copy(read, &mut sink()).await;
}

/// Keeps a silent connection.
async fn hold(target: Arc<Target>, address: SocketAddr) {
    loop {
        if let Ok(mut stream) = connect(address).await {
            target.count(1);
            let _ = stream.read(&mut [0; 64]).await;
        }
        sleep(RETRY).await;
    }
}

/// Chats as fast as possible; only one of them reads.
async fn say(target: Arc<Target>, number: usize) {
    let chat = format!("SAY mallory{} {}\n", (number + 1) % 4, "spam ".repeat(20)).repeat(50);
    loop {
        if let Ok(stream) = connect(target.tcp).await {
            let (mut read, mut write) = stream.into_split();
            let hello = format!("JOIN {OPEN} mallory{number}\n");
            let writing = async {
                let mut text = &hello;
                while write.write_all(text.as_bytes()).await.is_ok() {
                    text = &chat;
                    target.count(50);
                    yield_now().await;
                }
            };
            let reading = async {
                match number {
                    0 => drain(&mut read).await,
                    _ => std::future::pending().await,
                }
            };
            tokio::select! {
                () = writing => {}
                () = reading => {}
            }
        }
        sleep(RETRY).await;
    }
}

/// Joins under ever new names, and resigns each game.
async fn join(target: Arc<Target>, number: usize) {
    for round in 0_u64.. {
        // An error ends the round.
        let _ = join_once(&target, &format!("m{number}-{round}")).await;
        sleep(RETRY).await;
    }
}

async fn join_once(target: &Target, name: &str) -> io::Result<()> {
    let (read, mut write) = connect(target.tcp).await?.into_split();
    target.count(1);
    write.write_all(format!("JOIN {OPEN} {name}\n").as_bytes()).await?;
    let mut lines = BufReader::new(read).lines();
    while let Some(line) = lines.next_line().await? {
        let mut words = line.split(' ');
        match (words.next(), words.next()) {
            (Some("GAME_PAIRED"), Some(game)) => {
                write.write_all(format!("ACK {game}\nRESIGN {game}\n").as_bytes()).await?;
                target.count(2);
            }
            (Some("GAME_OVER" | "GAME_ABORTED"), _) => return Ok(()),
            _ => {}
        }
    }
    Ok(())
}

async fn datagrams(target: Arc<Target>) {
    let Ok(socket) = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).await else { return };
    loop {
        for text in ["mallory", "a2a3", "e2e9", "\u{0}\u{7f}", ""] {
            // Lost ones do not matter.
            let _ = socket.send_to(text.as_bytes(), target.table).await;
            target.count(1);
        }
        yield_now().await;
    }
}
