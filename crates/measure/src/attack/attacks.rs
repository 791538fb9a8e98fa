//! The attacks. Each is a set of tasks that go on until they are dropped.

use std::{fmt, io, net::Ipv4Addr, sync::Arc};

use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::UdpSocket,
    task::{JoinSet, yield_now},
    time::sleep,
};

use super::{
    GUARDED, OPEN, PUPILS, page_attacks,
    target::{RETRY, Target, connect, drain, get, hold, post, pour},
};

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
    /// Lists of bots
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
    /// Connections to the page that say nothing
    PageSockets,
    /// The list of games and pings over the page's WebSocket
    GameLists,
    /// Wrong tokens from the organiser's own address
    Tokens,
    /// Tables for people, made by three addresses
    Tables,
    /// Wrong passwords for a tournament
    Passwords,
    /// Analyses of positions
    Analyses,
    /// Plain requests to the page
    Gets,
}

impl fmt::Display for Attack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = clap::ValueEnum::to_possible_value(self);
        f.write_str(name.as_ref().map_or("", |name| name.get_name()))
    }
}

impl Attack {
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
            Attack::Lookups => flood(16, get("/api/bot/online?nb=512", "").repeat(16)),
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
            Attack::PageSockets => page_attacks::silence(target, tasks),
            Attack::GameLists => {
                (0..50).for_each(|_| drop(tasks.spawn(page_attacks::watch_lists(target.clone()))));
            }
            Attack::Tokens => drop(tasks.spawn(page_attacks::guess_tokens(target.clone()))),
            Attack::Tables => page_attacks::tables(target, tasks),
            Attack::Analyses => page_attacks::analyses(target, tasks),
            Attack::Gets => page_attacks::gets(target, tasks),
            Attack::Passwords => (0..50).for_each(|_| drop(tasks.spawn(guess_passwords(target.clone())))),
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

/// Tries ever new passwords.
async fn guess_passwords(target: Arc<Target>) {
    loop {
        if let Ok(mut stream) = connect(target.tcp).await {
            let line = format!("JOIN {GUARDED} mallory guess{}\n", fastrand::u64(..));
            let _ = stream.write_all(line.as_bytes()).await;
            let _ = stream.read_to_end(&mut Vec::new()).await;
            target.count(1);
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
