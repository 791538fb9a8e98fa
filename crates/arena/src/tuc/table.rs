//! Task of one table: waits for two names, plays their game, and writes it down.
//!
//! It behaves as the original: a legal move is played, both players get it, and no message is sent twice. Datagrams that
//! the original does not survive (from somebody else, or an illegal move) are logged and ignored, unless the table is
//! configured to be as strict.

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
};

use tokio::{net::UdpSocket, select, time::sleep};
use tokio_util::sync::CancellationToken;
use tracing::{Instrument, info, info_span, warn};
use zeitnot_rules::{ByColor, Color, tuc::Move};
use zeitnot_wire::tuc::FromServer;

use super::{
    config::TucConfig,
    game::{Finished, Game},
    record,
    socket::{Player, Stop, TableSocket},
};
use crate::{error::ArenaError, name::printable};

/// Longest name in a record, in characters.
const MAX_NAME: usize = 40;

#[derive(Debug)]
pub(crate) struct Table {
    config: TucConfig,
    socket: TableSocket,
    pub(crate) address: SocketAddr,
    folder: PathBuf,
}

impl Table {
    pub(crate) async fn open(config: TucConfig, folder: &Path) -> Result<Table, ArenaError> {
        let listen = |source| ArenaError::Listen { address: config.address, source };
        let socket = UdpSocket::bind(config.address).await.map_err(listen)?;
        let address = socket.local_addr().map_err(listen)?;
        let games = |source| ArenaError::Games { folder: folder.to_owned(), source };
        std::fs::create_dir_all(folder).map_err(games)?;
        Ok(Table { config, socket: TableSocket(socket), address, folder: folder.to_owned() })
    }

    /// Runs the configured number of games, or until `stop`.
    pub(crate) async fn run(self, stop: CancellationToken) {
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
                Err(Stop::Shutdown) => return,
                Err(error) => return warn!("{error}; the table is closed"),
            }
            left = left.map(|left| left - 1);
        }
    }

    async fn game(&self, stop: &CancellationToken) -> Result<Finished, Stop> {
        let white = self.seat(FromServer::Seat(Color::White), None, stop).await?;
        let black = self.seat(FromServer::Seat(Color::Black), Some(&white), stop).await?;
        let players = ByColor([white, black]);
        select! {
            () = stop.cancelled() => return Err(Stop::Shutdown),
            // Datagrams that come meanwhile wait in the socket, as in the original.
            () = sleep(self.config.countdown) => {}
        }
        self.socket.send_both(&players, &FromServer::Begins).await?;
        Game::new(&self.config, &self.socket, players).run(stop).await
    }

    /// Waits for a name, and gives its sender a seat. A seated player gets no second seat, unless the table is as
    /// strict as the original.
    async fn seat(
        &self,
        seat: FromServer,
        taken: Option<&Player>,
        stop: &CancellationToken,
    ) -> Result<Player, Stop> {
        loop {
            let (datagram, address) = self.socket.receive(stop).await?;
            let name = printable(&String::from_utf8_lossy(&datagram), MAX_NAME);
            let is_seated = taken.is_some_and(|player| player.address == address);
            let is_move = Move::parse(&name).is_some();
            if !self.config.strict && (is_seated || is_move) {
                warn!(%address, "ignored {name:?}: waiting for a player's name");
                continue;
            }
            info!(%address, "{name:?} sits down");
            self.socket.send(address, &seat).await?;
            return Ok(Player { name, address });
        }
    }
}
