//! Tables for TUC-Chess over UDP: one port a table, one game after another.
//!
//! A table is one task. It binds its port, waits for two names, and referees their game as the original does:
//! what arrives is played or not, both hear of it, and nothing is said twice. What the original does not
//! survive (a datagram from somebody else, a move that is none) is reported and ignored, unless the table
//! is to be as unforgiving.

use std::{
    io,
    net::SocketAddr,
    path::{Path, PathBuf},
};

use tokio::{net::UdpSocket, select};
use tokio_util::sync::CancellationToken;
use tracing::{Instrument, info, info_span, warn};

use zeitnot_rules::{ByColor, Color, tuc::Move};
use zeitnot_wire::{
    Message,
    tuc::{FromServer, MAX_DATAGRAM},
};

use crate::{error::ArenaError, name::printable};

mod config;
mod game;
mod record;

pub use config::{BadChance, Chance, TucConfig};
use game::{Finished, Game};

/// The longest name in a record, in characters.
const LONGEST_NAME: usize = 40;

/// A table that has its port.
#[derive(Debug)]
pub(super) struct Table {
    config: TucConfig,
    socket: UdpSocket,
    pub address: SocketAddr,
    folder: PathBuf,
}

/// Who sits at a table.
#[derive(Clone, Debug)]
struct Player {
    name: String,
    address: SocketAddr,
}

/// Why a table cannot go on.
#[derive(Debug, thiserror::Error)]
enum Stop {
    /// The arena stops.
    #[error("the arena stops")]
    Asked,
    /// The socket is of no more use.
    #[error("the table's port fails: {0}")]
    Io(#[from] io::Error),
}

impl Table {
    /// Takes the port.
    ///
    /// # Errors
    /// [`ArenaError`] if the port or the folder for games cannot be had.
    pub async fn open(config: TucConfig, folder: &Path) -> Result<Table, ArenaError> {
        let listen = |source| ArenaError::Listen { address: config.address, source };
        let socket = UdpSocket::bind(config.address).await.map_err(listen)?;
        let address = socket.local_addr().map_err(listen)?;
        let games = |source| ArenaError::Games { folder: folder.to_owned(), source };
        std::fs::create_dir_all(folder).map_err(games)?;
        Ok(Table { config, socket, address, folder: folder.to_owned() })
    }

    /// Referees games until there were enough, or until `stop`.
    pub async fn run(self, stop: CancellationToken) {
        let span = info_span!("table", port = self.address.port());
        self.serve(stop).instrument(span).await;
    }

    async fn serve(self, stop: CancellationToken) {
        let mut left = self.config.games.map(|games| games.get());
        while left != Some(0) {
            match self.game(&stop).await {
                Ok(finished) => {
                    info!("{finished}");
                    record::write(&self.folder, self.address.port(), &finished).await;
                }
                Err(Stop::Asked) => return,
                Err(error) => return warn!("{error}; the table is closed"),
            }
            left = left.map(|left| left - 1);
        }
    }

    /// One game, from the first name to its end.
    async fn game(&self, stop: &CancellationToken) -> Result<Finished, Stop> {
        let white = self.seat(FromServer::Seat(Color::White), None, stop).await?;
        let black = self.seat(FromServer::Seat(Color::Black), Some(&white), stop).await?;
        let players = ByColor([white, black]);
        select! {
            () = stop.cancelled() => return Err(Stop::Asked),
            // What is sent meanwhile waits in the socket, as in the original.
            () = tokio::time::sleep(self.config.countdown) => {}
        }
        self.tell_both(&players, &FromServer::Begins).await?;
        Game::new(self, players).run(stop).await
    }

    /// Waits for a name, and gives its sender a seat. Who has one gets no second, unless the table is as
    /// unforgiving as the original.
    async fn seat(
        &self,
        seat: FromServer,
        taken: Option<&Player>,
        stop: &CancellationToken,
    ) -> Result<Player, Stop> {
        loop {
            let (datagram, address) = self.receive(stop).await?;
            let name = printable(&String::from_utf8_lossy(&datagram), LONGEST_NAME);
            let is_seated = taken.is_some_and(|player| player.address == address);
            let is_move = Move::parse(&name).is_some();
            if !self.config.unforgiving && (is_seated || is_move) {
                warn!(%address, "ignored {name:?}: waiting for a player's name");
                continue;
            }
            info!(%address, "{name:?} sits down");
            self.tell(address, &seat).await?;
            return Ok(Player { name, address });
        }
    }

    async fn receive(&self, stop: &CancellationToken) -> Result<(Vec<u8>, SocketAddr), Stop> {
        let mut buffer = [0; MAX_DATAGRAM];
        loop {
            let received = select! {
                () = stop.cancelled() => return Err(Stop::Asked),
                received = self.socket.recv_from(&mut buffer) => received,
            };
            match received {
                Ok((length, from)) => return Ok((buffer[..length].to_vec(), from)),
                // Word that an earlier datagram found nobody, as some systems give it.
                Err(error) if error.kind() == io::ErrorKind::ConnectionReset => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    async fn tell(&self, address: SocketAddr, message: &FromServer) -> Result<(), Stop> {
        match self.socket.send_to(message.to_line().as_bytes(), address).await {
            Ok(_) => Ok(()),
            // Somebody left: that is for the game to find out.
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// White first, as the original.
    async fn tell_both(&self, players: &ByColor<Player>, message: &FromServer) -> Result<(), Stop> {
        for player in &players.0 {
            self.tell(player.address, message).await?;
        }
        Ok(())
    }
}
