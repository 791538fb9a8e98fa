//! Task of one table: waits for two names, plays their game, and writes it down.
//!
//! It behaves as the original: a legal move is played, both players get it, and no message is sent twice. Datagrams
//! that the original does not survive (from somebody else, or an illegal move) are logged and ignored, unless the table
//! is configured to be as strict.

use std::{
    io,
    net::SocketAddr,
    path::{Path, PathBuf},
    time::Duration,
};

use tokio::{
    net::UdpSocket,
    time::{Instant, sleep},
};
use tokio_util::sync::CancellationToken;
use tracing::{Instrument, error, info, info_span, warn};
use zeitnot_host::{hosted_game::Host, panic_guard, store::UnusableFolder};
use zeitnot_net::LogThrottle;
use zeitnot_rules::{ByColor, Color, tuc::Move};
use zeitnot_web::error::ServerError;
use zeitnot_wire::{printable, tuc::FromServer};

use super::{
    config::TucConfig,
    game::{Finished, IGNORED, Translator},
    record::Records,
    socket::{TablePlayer, TableSocket},
};
use crate::error::ArenaError;

/// Longest name in a record, in characters.
const MAX_NAME: usize = 40;
/// Time in which the system reports that nobody listens at an address.
const PROBE: Duration = Duration::from_millis(50);
/// Time after which a player who waits for another is looked for again.
const RECENT: Duration = Duration::from_secs(10);

#[derive(Debug)]
pub(crate) struct TucTable {
    config: TucConfig,
    socket: TableSocket,
    pub(crate) address: SocketAddr,
    folder: PathBuf,
    /// For what strangers send.
    log: LogThrottle,
    host: Host,
}

impl TucTable {
    pub(crate) async fn open(config: TucConfig, folder: &Path, host: Host) -> Result<TucTable, ArenaError> {
        let listen = |source| ServerError::Listen { address: config.address, source };
        let socket = UdpSocket::bind(config.address).await.map_err(listen)?;
        let address = socket.local_addr().map_err(listen)?;
        let games = |source| UnusableFolder { folder: folder.to_owned(), source };
        std::fs::create_dir_all(folder).map_err(games)?;
        let socket = TableSocket::new(socket).map_err(listen)?;
        Ok(TucTable {
            config,
            socket,
            address,
            folder: folder.to_owned(),
            log: LogThrottle::for_strangers(),
            host,
        })
    }

    /// Runs the configured number of games, or until `stop`.
    pub(crate) async fn run(self, stop: CancellationToken) {
        let span = info_span!("table", port = self.address.port());
        self.serve(stop).instrument(span).await;
    }

    async fn serve(self, stop: CancellationToken) {
        let mut left = self.config.games.map(|games| games.get());
        let mut records = Records::new(self.folder.clone(), self.address.port());
        while left != Some(0) {
            // A panic ends this game and no other.
            let played = match panic_guard::contain_all(self.game(&stop)).await {
                Ok(played) => played,
                Err(panic) => {
                    error!("the game broke down: {panic}; please report it");
                    continue;
                }
            };
            match played {
                Ok(Some(finished)) => {
                    info!("{finished}");
                    records.write(&finished).await;
                }
                Ok(None) => break,
                Err(error) => {
                    warn!("the table's port fails: {error}; the table is closed");
                    break;
                }
            }
            left = left.map(|left| left - 1);
        }
        records.close().await;
    }

    /// Plays a game; `None`: the arena stops before it begins.
    async fn game(&self, stop: &CancellationToken) -> io::Result<Option<Finished>> {
        let Some(players) = stop.run_until_cancelled(self.players()).await else { return Ok(None) };
        let TucTable { config, socket, log, .. } = self;
        let translator = Translator { config, socket, log, players: players? };
        translator.play(self.host.clone(), stop).await.map(Some)
    }

    /// Waits for two players, and tells them when the game begins.
    async fn players(&self) -> io::Result<ByColor<TablePlayer>> {
        let mut white: Option<(TablePlayer, Instant)> = None;
        let players = loop {
            let newcomer = self.newcomer(white.as_ref().map(|(white, _)| white)).await?;
            // The first one may have left long ago: a second `PW` does no harm, and shows whether anybody is there.
            if let Some((first, seated)) = &white
                && !self.config.strict
                && seated.elapsed() >= RECENT
                && !self.is_there(first, Color::White).await?
            {
                white = None;
            }
            info!(address = %newcomer.address, "{:?} sits down", newcomer.name);
            let color = if white.is_some() { Color::Black } else { Color::White };
            if self.is_there(&newcomer, color).await? {
                match white.take() {
                    Some((white, _)) => break ByColor([white, newcomer]),
                    None => white = Some((newcomer, Instant::now())),
                }
            }
        };
        // Datagrams that come meanwhile wait in the socket, as in the original.
        sleep(self.config.countdown).await;
        self.socket.send_both(&players, &FromServer::Begins).await?;
        Ok(players)
    }

    /// Tells a player its seat, and returns whether a program listens there, as far as the system can tell.
    async fn is_there(&self, player: &TablePlayer, color: Color) -> io::Result<bool> {
        drop(self.socket.unreachable());
        self.socket.send(player.address, &FromServer::Seat(color)).await?;
        if self.config.strict {
            return Ok(true);
        }
        sleep(PROBE).await;
        let is_there = !self.socket.unreachable().contains(&player.address);
        if !is_there {
            self.log.info("players that are gone", || {
                format!("{:?} at {} is gone: the seat is free", player.name, player.address)
            });
        }
        Ok(is_there)
    }

    /// Waits for the name of a player. A seated player gets no second seat, unless the table is as strict as the
    /// original.
    async fn newcomer(&self, taken: Option<&TablePlayer>) -> io::Result<TablePlayer> {
        loop {
            let (datagram, address) = self.socket.receive().await?;
            let name = printable(&String::from_utf8_lossy(&datagram), MAX_NAME);
            let is_seated = taken.is_some_and(|player| player.address == address);
            let is_move = Move::parse(&name).is_some();
            if self.config.strict || !is_seated && !is_move {
                return Ok(TablePlayer { name, address });
            }
            self.log
                .info(IGNORED, || format!("ignored {name:?} from {address}: waiting for a player's name"));
        }
    }
}
