//! The referee: games with authoritative clocks, pairings, standings, storage, and one front a protocol.
//!
//! ```text
//!  socket ─▶ front (lines) ─▶ tournament (who plays whom) ─▶ game (board, clocks, result)
//!  socket ◀─ client (a bounded queue) ◀───────────┴───────────────┘        │
//!                       store (PGN) ◀── tournament (standings) ◀───────────┘
//! ```
//!
//! Each tournament, each game and each connection is one task that owns its state. A game never waits for
//! anybody, a tournament only for its games and the disk, a connection for its own client.

use std::{fmt, io, net::SocketAddr, path::PathBuf};

use time::OffsetDateTime;
use tokio::{sync::broadcast, task::JoinSet};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use zeitnot_rules::chess::Chess;

mod client;
mod config;
mod delay;
mod front;
mod game;
pub mod imcs;
pub mod lichess;
pub mod matches;
mod name;
mod news;
pub mod nthu;
pub mod openings;
mod pairing;
mod pgn;
mod port;
pub mod referee;
mod standings;
mod store;
mod timer;
mod tournament;
mod tuc;

pub use config::{Config, TournamentConfig};
pub use name::{BadName, Name};
pub use news::{Event, News};
pub use standings::{Row, Score, Standings, Tally};
pub use tuc::{BadChance, Chance, TucConfig};

use delay::Delay;
use front::{Door, Front, Transport};
use store::StoreActor;
use tournament::{Hall, Tournament, TournamentActor};

/// Names in one tournament, at most.
const MAX_PLAYERS: usize = 1024;

/// What keeps an arena from starting.
#[derive(Debug, thiserror::Error)]
pub enum ArenaError {
    /// A configuration that cannot be meant.
    #[error("[arena] {0}")]
    Config(String),
    /// An address that cannot be listened on.
    #[error("cannot listen on {address}: {source}; is another server running there?")]
    Listen {
        /// What was asked for.
        address: SocketAddr,
        /// What the system says.
        source: io::Error,
    },
    /// The folder for games cannot be written.
    #[error("cannot write games to {}: {source}; set games = \"…\" to a folder that can be written", folder.display())]
    Games {
        /// The folder.
        folder: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The file of openings cannot be read.
    #[error("cannot read the openings {}: {source}", path.display())]
    Openings {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The file of the users of IMCS cannot be read.
    #[error("cannot read the users of IMCS, {}: {why}; mend it, or set users = \"…\" in [arena.imcs] to another file", path.display())]
    Users {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// The file that a restart is survived by cannot be used.
    #[error("cannot use the state {}: {why}; move it away, or set state = \"…\" in [arena.lichess] to another file", path.display())]
    State {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// A line of the openings is wrong.
    #[error("{}, line {line}: {why}; each line is to hold one FEN or EPD", path.display())]
    Opening {
        /// The file.
        path: PathBuf,
        /// Counted from 1.
        line: usize,
        /// What is wrong with it.
        why: String,
    },
}

impl ArenaError {
    /// Is it the configuration that must change, rather than the machine?
    pub fn is_configuration(&self) -> bool {
        match self {
            ArenaError::Config(_)
            | ArenaError::Openings { .. }
            | ArenaError::Opening { .. }
            | ArenaError::Users { .. }
            | ArenaError::State { .. } => true,
            ArenaError::Listen { .. } | ArenaError::Games { .. } => false,
        }
    }
}

/// The name of a game on the wire; no two games share one.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GameTag(u128);

impl GameTag {
    fn random() -> Self {
        GameTag(fastrand::u128(..))
    }

    /// Reads a tag that a client wrote.
    fn read(text: &str) -> Option<Self> {
        let hex = text.len() == 32 && text.bytes().all(|b| b.is_ascii_hexdigit());
        u128::from_str_radix(text, 16).ok().filter(|_| hex).map(GameTag)
    }
}

impl fmt::Display for GameTag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

/// An arena that has its ports and files, and waits to be run.
///
/// ```no_run
/// # async fn example(config: zeitnot_arena::Config) -> Result<(), zeitnot_arena::ArenaError> {
/// use tokio_util::sync::CancellationToken;
/// use zeitnot_arena::Arena;
///
/// let arena = Arena::bind(config).await?;
/// println!("{:?}", arena.tcp());
/// let summary = arena.run(CancellationToken::new()).await;
/// for tournament in summary.tournaments {
///     println!("{}", tournament.standings);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Arena {
    doors: Vec<Door>,
    max_connections: usize,
    delay: Delay,
    news: news::Desk,
    hall: Hall,
    tournaments: Vec<(TournamentActor<Chess>, StoreActor)>,
    tables: Vec<tuc::Table>,
    imcs: Option<imcs::Imcs>,
    lichess: Option<lichess::Lichess>,
}

/// What came of an arena.
#[derive(Clone, Debug)]
pub struct Summary {
    /// One for each tournament, as configured.
    pub tournaments: Vec<TournamentSummary>,
}

/// What came of a tournament.
#[derive(Clone, Debug)]
pub struct TournamentSummary {
    /// Its name.
    pub name: Name,
    /// The final table.
    pub standings: Standings,
    /// Have all met, as it was planned? A tournament that is open to everybody never has an end.
    pub complete: bool,
    /// The games; `None` if there were none.
    pub pgn: Option<PathBuf>,
}

impl Arena {
    /// Takes the ports, reads the openings and makes the files for the games.
    ///
    /// # Errors
    /// [`ArenaError`], which says what to change.
    pub async fn bind(config: Config) -> Result<Arena, ArenaError> {
        config.check()?;
        let mut doors = Vec::new();
        for (address, transport) in [(config.tcp, Transport::Tcp), (config.websocket, Transport::WebSocket)] {
            if let Some(address) = address {
                doors.push(Door::open(address, transport).await?);
            }
        }
        let news = news::desk();
        let (mut stubs, mut tournaments) = (Vec::new(), Vec::new());
        for tournament in config.tournament {
            let openings = tournament.openings.as_deref().map(openings::load).transpose()?;
            let (store, writer) = store::Store::open(
                &config.games,
                tournament.name.as_str(),
                store::Kind::Pgn,
                OffsetDateTime::now_utc(),
            )?;
            let (stub, actor) =
                Tournament::channel(tournament, openings.unwrap_or_default(), store, news.clone());
            stubs.push(stub);
            tournaments.push((actor, writer));
        }
        let mut tables = Vec::new();
        for table in config.tuc {
            tables.push(tuc::Table::open(table, &config.games).await?);
        }
        let imcs = match config.imcs {
            Some(imcs) => Some(imcs::Imcs::bind(imcs, &config.games, config.max_connections).await?),
            None => None,
        };
        let lichess = match config.lichess {
            Some(lichess) => {
                Some(lichess::Lichess::bind(lichess, &config.games, config.max_connections).await?)
            }
            None => None,
        };
        let (max_connections, hall) = (config.max_connections, Hall::new(stubs));
        let delay = Delay { round_trip: config.network_delay };
        Ok(Arena { doors, max_connections, delay, news, hall, tournaments, tables, imcs, lichess })
    }

    /// Where it listens for TCP.
    pub fn tcp(&self) -> Option<SocketAddr> {
        self.address(Transport::Tcp)
    }

    /// Where it listens for WebSocket.
    pub fn websocket(&self) -> Option<SocketAddr> {
        self.address(Transport::WebSocket)
    }

    /// Where it listens for IMCS.
    pub fn imcs(&self) -> Option<SocketAddr> {
        self.imcs.as_ref().map(|imcs| imcs.port.address)
    }

    /// Where it listens for programs that speak the Lichess Bot API.
    pub fn lichess(&self) -> Option<SocketAddr> {
        self.lichess.as_ref().map(|lichess| lichess.port.address)
    }

    fn address(&self, transport: Transport) -> Option<SocketAddr> {
        self.doors.iter().find(|door| door.transport == transport).map(|door| door.port.address)
    }

    /// Where its tables for TUC-Chess are.
    pub fn tables(&self) -> Vec<SocketAddr> {
        self.tables.iter().map(|table| table.address).collect()
    }

    /// News from now on. A watcher that is slow gets [`broadcast::error::RecvError::Lagged`], and goes on.
    pub fn news(&self) -> broadcast::Receiver<News> {
        self.news.subscribe()
    }

    /// Runs until every tournament and every table has ended or `shutdown` is cancelled. IMCS and the Lichess
    /// API have no end of their own: with them, until the latter, or until IMCS's administrator stops it.
    ///
    /// When it returns, all connections are closed, all games are on the disk and no task is left.
    pub async fn run(self, shutdown: CancellationToken) -> Summary {
        let tracker = TaskTracker::new();
        // Connections end last: a player who loses the connection first would lose the game.
        let (stop, closing) = (shutdown.child_token(), CancellationToken::new());
        let hall = self.hall.clone();
        let front = Front::new(self.hall, self.max_connections, self.delay, tracker.clone(), closing.clone());
        for door in self.doors {
            tracker.spawn(front.clone().listen(door, stop.clone()));
        }
        let imcs = self.imcs.map(|imcs| tracker.spawn(imcs.run(stop.clone())));
        let lichess = self.lichess.map(|lichess| tracker.spawn(lichess.run(hall, stop.clone())));
        let mut running = JoinSet::new();
        for (place, (actor, writer)) in self.tournaments.into_iter().enumerate() {
            let run = actor.run(writer, stop.clone());
            running.spawn(async move { (place, run.await) });
        }
        let tables: JoinSet<()> = self.tables.into_iter().map(|table| table.run(stop.clone())).collect();
        let mut summaries = running.join_all().await;
        tables.join_all().await;
        for (name, server) in [("IMCS", imcs), ("the Lichess API", lichess)] {
            if let Some(server) = server
                && let Err(error) = server.await
            {
                tracing::error!(%error, "{name} has failed; please report it");
            }
        }
        stop.cancel();
        closing.cancel();
        tracker.close();
        tracker.wait().await;
        summaries.sort_by_key(|(place, _)| *place);
        Summary { tournaments: summaries.into_iter().map(|(_, summary)| summary).collect() }
    }
}
