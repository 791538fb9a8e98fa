//! Relay between a client and its server: a network that is slow or breaks down, or a server that leaves Nagle's
//! algorithm on.

use std::{io, net::SocketAddr, sync::Arc, time::Duration};

use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    select,
    sync::Notify,
    task::JoinSet,
};

mod delay;
mod framing;

use delay::DelayLine;
pub use framing::Framing;

/// Treatment of messages.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Link {
    /// They are passed on at once.
    Prompt,
    /// A message and the answer to it are late by a random time of up to this in total.
    Delayed(Duration),
    /// Each message of the server is written on its own and with Nagle's algorithm on: the second of two is held back
    /// until the client has acknowledged the first.
    Nagle,
}

/// A relay that listens until it is dropped.
#[derive(Debug)]
pub struct Relay {
    /// Where it listens.
    pub address: SocketAddr,
    cut: Arc<Notify>,
    _tasks: JoinSet<()>,
}

impl Relay {
    /// Listens in the place of a server whose messages are framed like this.
    ///
    /// # Errors
    /// Those of the system, which may refuse a port.
    pub async fn start(server: SocketAddr, framing: Framing, link: Link) -> io::Result<Relay> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let cut = Arc::new(Notify::new());
        let mut tasks = JoinSet::new();
        let cuts = cut.clone();
        tasks.spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((client, _)) = listener.accept().await {
                while connections.try_join_next().is_some() {}
                let cut = cuts.clone();
                connections.spawn(async move {
                    // A broken connection is one for its client, too.
                    let _ = relay(client, server, framing, link, &cut).await;
                });
            }
        });
        Ok(Relay { address, cut, _tasks: tasks })
    }

    /// Breaks all connections down, on both sides.
    pub fn cut(&self) {
        self.cut.notify_waiters();
    }
}

async fn relay(
    mut client: TcpStream,
    server: SocketAddr,
    framing: Framing,
    link: Link,
    cut: &Notify,
) -> io::Result<()> {
    let mut server = TcpStream::connect(server).await?;
    server.set_nodelay(true)?;
    client.set_nodelay(link != Link::Nagle)?;
    let round_trip = if let Link::Delayed(round_trip) = link { round_trip } else { Duration::ZERO };
    let (from_client, to_client) = client.split();
    let (from_server, to_server) = server.split();
    select! {
        passed = pass(from_client, to_server, Framing::Pieces, round_trip) => passed,
        passed = pass(from_server, to_client, framing, round_trip) => passed,
        () = cut.notified() => [client, server].iter().try_for_each(TcpStream::set_zero_linger),
    }
}

/// Passes messages on, each in a write of its own, to the end.
async fn pass(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWriteExt + Unpin,
    mut framing: Framing,
    round_trip: Duration,
) -> io::Result<()> {
    let mut bytes = Vec::new();
    let mut ended = false;
    let mut travelling: DelayLine<Vec<u8>> = DelayLine::new(round_trip);
    while !ended || !travelling.is_empty() {
        select! {
            biased;
            message = travelling.arrive() => to.write_all(&message).await?,
            read = from.read_buf(&mut bytes), if !ended && travelling.has_room() => {
                ended = read? == 0;
                while let Some(length) = framing.first(&bytes) {
                    travelling.send(bytes.drain(..length).collect());
                }
            }
        }
    }
    Ok(())
}
