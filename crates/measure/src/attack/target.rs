//! Target of the attacks, and what they have in common: connections, requests, floods.

use std::{
    io,
    net::{Ipv4Addr, SocketAddr},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, sink},
    net::{TcpSocket, TcpStream, tcp::OwnedReadHalf},
    task::yield_now,
    time::sleep,
};

use zeitnot_arena::Arena;

/// The attackers' address, on systems that have all of this network.
pub(super) const FROM: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 2);
/// Pause after a connection that was refused or lost.
pub(super) const RETRY: Duration = Duration::from_millis(5);

/// Addresses under attack, and the number of messages.
#[derive(Debug)]
pub(super) struct Target {
    pub(super) tcp: SocketAddr,
    pub(super) websocket: SocketAddr,
    pub(super) lichess: SocketAddr,
    pub(super) page: SocketAddr,
    pub(super) imcs: SocketAddr,
    pub(super) table: SocketAddr,
    pub(super) messages: AtomicUsize,
}

impl Target {
    /// The ports of an arena that has all fronts.
    pub(super) fn of(arena: &Arena) -> Target {
        let port = |address: Option<SocketAddr>| address.unwrap_or_else(|| ([127, 0, 0, 1], 0).into());
        let bound = arena.bound();
        Target {
            tcp: port(bound.tcp),
            websocket: port(bound.websocket),
            lichess: port(bound.lichess.as_ref().map(|lichess| lichess.listen)),
            page: port(bound.web.as_ref().map(|web| web.listen)),
            imcs: port(bound.imcs.as_ref().map(|imcs| imcs.listen)),
            table: port(bound.tuc.first().map(|table| table.address)),
            messages: AtomicUsize::new(0),
        }
    }

    pub(super) fn count(&self, messages: usize) {
        self.messages.fetch_add(messages, Ordering::Relaxed);
    }
}

pub(super) fn get(path: &str, token: &str) -> Vec<u8> {
    format!("GET {path} HTTP/1.1\r\nHost: arena\r\n{}\r\n", authorization(token)).into_bytes()
}

pub(super) fn post(path: &str, token: &str, body: &str) -> Vec<u8> {
    let token = authorization(token);
    let length = body.len();
    format!("POST {path} HTTP/1.1\r\nHost: arena\r\n{token}Content-Length: {length}\r\n\r\n{body}")
        .into_bytes()
}

pub(super) fn authorization(token: &str) -> String {
    if token.is_empty() { String::new() } else { format!("Authorization: Bearer {token}\r\n") }
}

pub(super) async fn connect(address: SocketAddr) -> io::Result<TcpStream> {
    connect_from(FROM, address).await
}

pub(super) async fn connect_from(from: Ipv4Addr, address: SocketAddr) -> io::Result<TcpStream> {
    let socket = TcpSocket::new_v4()?;
    // Elsewhere the attackers have the address of the others.
    let _ = socket.bind((from, 0).into());
    socket.connect(address).await
}

/// Writes the same bytes again and again, and reads what comes.
pub(super) async fn pour(target: Arc<Target>, address: SocketAddr, bytes: Arc<[u8]>) {
    pour_from(FROM, target, address, bytes).await;
}

pub(super) async fn pour_from(from: Ipv4Addr, target: Arc<Target>, address: SocketAddr, bytes: Arc<[u8]>) {
    loop {
        if let Ok(stream) = connect_from(from, address).await {
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

pub(super) async fn drain(read: &mut OwnedReadHalf) {
    // An error is an end, too.
    let _ = tokio::io::copy(read, &mut sink()).await;
}

/// Keeps a silent connection.
pub(super) async fn hold(target: Arc<Target>, address: SocketAddr) {
    loop {
        if let Ok(mut stream) = connect(address).await {
            target.count(1);
            let _ = stream.read(&mut [0; 64]).await;
        }
        sleep(RETRY).await;
    }
}
