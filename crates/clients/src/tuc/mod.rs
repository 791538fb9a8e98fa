//! Client of TUC-Chess over UDP: a name, a seat, a game.
//!
//! `config` is its table in the configuration, `session` one game on one socket; here is what lasts longer.
//! Datagrams get lost, and the protocol has no way to ask again: what can be made good is, and where nothing
//! can, the user is told and the game is left.

use std::{io, net::SocketAddr, num::NonZeroU32, time::Duration};

use tokio::{
    net::{UdpSocket, lookup_host},
    time::sleep,
};
use tracing::{Instrument, info, info_span, warn};

use zeitnot_seat::Lobby;
use zeitnot_wire::tuc::MAX_DATAGRAM;

use super::{Protocol, ProtocolError, Shutdown};

mod config;
mod session;

pub use config::{Config, Name, Patience};
use session::{Lost, Session};

/// The protocol of the course server of the Technical University of Crete.
#[derive(Debug)]
pub struct TucChess;

impl Protocol for TucChess {
    const NAME: &'static str = "tuc";
    type Config = Config;

    fn count(config: &mut Config, games: NonZeroU32) -> Result<(), &'static str> {
        config.games = games;
        Ok(())
    }

    async fn run(config: Config, lobby: Lobby, shutdown: Shutdown) -> Result<(), ProtocolError> {
        let span = info_span!("tuc", server = %config.address, player = %config.player);
        let leave = shutdown.now.clone();
        leave.run_until_cancelled(stay(&config, &lobby, &shutdown).instrument(span)).await;
        Ok(())
    }
}

/// Plays as many games as are wanted.
async fn stay(config: &Config, lobby: &Lobby, shutdown: &Shutdown) {
    let mut left = config.games.get();
    let mut quiet = false;
    while left > 0 {
        let visit =
            async { Session::new(config, lobby, Socket::open(&config.address).await?).run(shutdown).await };
        match visit.await {
            Ok(Some(result)) => {
                left -= 1;
                info!("{result}; {left} more to play");
                quiet = false;
                continue;
            }
            Ok(None) => return,
            // Told once, not every second until the server is started.
            Err(lost @ Lost::NotThere(_)) if quiet => tracing::debug!("{lost}"),
            Err(lost) => warn!("{lost}"),
        }
        quiet = true;
        if shutdown.soon.run_until_cancelled(sleep(config.patience.pause)).await.is_none() {
            return;
        }
    }
}

/// A socket that talks to one server, with an address of its own for one game.
#[derive(Debug)]
struct Socket {
    socket: UdpSocket,
    server: SocketAddr,
    connected: bool,
}

impl Socket {
    async fn open(address: &str) -> io::Result<Socket> {
        let not_found = || io::Error::new(io::ErrorKind::NotFound, "the name has no address");
        let server = lookup_host(address).await?.next().ok_or_else(not_found)?;
        let any = if server.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" };
        let socket = UdpSocket::bind(any).await?;
        // A connected socket hears when there is no server, and nobody else. But one that is reached by
        // another name of this machine, as Debian's 127.0.1.1, may answer from 127.0.0.1.
        let connected = !server.ip().is_loopback() || server.ip().to_string() != "127.0.1.1";
        if connected {
            socket.connect(server).await?;
        }
        Ok(Socket { socket, server, connected })
    }

    async fn send(&self, text: &str) -> io::Result<()> {
        match self.connected {
            true => self.socket.send(text.as_bytes()).await.map(drop),
            false => self.socket.send_to(text.as_bytes(), self.server).await.map(drop),
        }
    }

    /// The next datagram from the server. Cancel safe.
    async fn receive(&self) -> io::Result<Vec<u8>> {
        let mut buffer = [0; MAX_DATAGRAM + 1];
        loop {
            let (length, from) = self.socket.recv_from(&mut buffer).await?;
            let is_server = from.port() == self.server.port() && (self.connected || from.ip().is_loopback());
            if is_server {
                return Ok(buffer[..length].to_vec());
            }
        }
    }
}

/// After a time-out, for people.
fn seconds(duration: Duration) -> String {
    format!("{:.1} s", duration.as_secs_f64())
}
