//! One file or folder a server: connects, speaks its wire, opens a seat for each game. No search, no rules.
//!
//! A new protocol is a file here that implements [`Protocol`], and a row in [`ALL`].

use std::{fmt, future::Future, num::NonZeroU32};

use futures_util::future::BoxFuture;
use serde::de::DeserializeOwned;
use tokio_util::sync::CancellationToken;
use toml::{Spanned, de::DeTable};

use zeitnot_seat::Lobby;

mod backoff;
pub mod contest;
pub mod imcs;
pub mod lichess;
mod link;
pub mod secret;
pub mod tuc;

/// Every protocol we speak.
pub const ALL: &[Row] =
    &[row::<contest::Contest>(), row::<tuc::TucChess>(), row::<imcs::Imcs>(), row::<lichess::Lichess>()];

/// Stop in two steps.
#[derive(Clone, Debug)]
pub struct Shutdown {
    /// Take no new games, finish the running ones, and leave. A child of `now`.
    pub soon: CancellationToken,
    /// Leave at once.
    pub now: CancellationToken,
}

impl Default for Shutdown {
    fn default() -> Self {
        let now = CancellationToken::new();
        Shutdown { soon: now.child_token(), now }
    }
}

/// A client of one kind of server.
pub trait Protocol {
    /// The name in configurations.
    const NAME: &'static str;
    /// The rest of this server's table in the configuration, documented where it is declared. Its
    /// `Display` says for people what will be done, and never a secret.
    type Config: DeserializeOwned + fmt::Display + Send + 'static;

    /// Sets after how many games it leaves. `Err`: why it has no say in that.
    ///
    /// # Errors
    /// One sentence.
    fn count(config: &mut Self::Config, games: NonZeroU32) -> Result<(), &'static str>;

    /// Runs until told to stop, and reconnects by itself.
    fn run(
        config: Self::Config,
        lobby: Lobby,
        shutdown: Shutdown,
    ) -> impl Future<Output = Result<(), ProtocolError>> + Send;
}

/// Why a protocol cannot go on without the user.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum ProtocolError {
    /// The server does not want us, and will not the next time either.
    #[error("{server}: {what}; {advice}")]
    Refused {
        /// Which server.
        server: String,
        /// What it answers.
        what: String,
        /// What to do about it.
        advice: &'static str,
    },
}

/// One protocol in the list of all.
#[derive(Debug)]
pub struct Row {
    /// The name in configurations.
    pub name: &'static str,
    read: fn(Spanned<DeTable<'_>>) -> Result<Server, BadTable>,
}

/// What is wrong with a server's table, with the path of the key and the place in the text.
pub type BadTable = serde_path_to_error::Error<toml::de::Error>;

impl Row {
    /// Finds a protocol by its name.
    pub fn find(name: &str) -> Option<&'static Row> {
        ALL.iter().find(|row| row.name == name)
    }

    /// Reads the protocol's own part of a `[[server]]` table.
    ///
    /// # Errors
    /// [`BadTable`]: an unknown, a missing or a wrong key.
    pub fn read(&self, table: Spanned<DeTable<'_>>) -> Result<Server, BadTable> {
        (self.read)(table)
    }
}

type Running = BoxFuture<'static, Result<(), ProtocolError>>;

/// A table that was read, whichever protocol it belongs to.
trait Table: Send {
    fn summary(&self) -> String;
    fn count(&mut self, games: NonZeroU32) -> Result<(), &'static str>;
    fn start(self: Box<Self>, lobby: Lobby, shutdown: Shutdown) -> Running;
}

struct TableOf<P: Protocol>(P::Config);

impl<P: Protocol + 'static> Table for TableOf<P> {
    fn summary(&self) -> String {
        format!("{}: {}", P::NAME, self.0)
    }

    fn count(&mut self, games: NonZeroU32) -> Result<(), &'static str> {
        P::count(&mut self.0, games)
    }

    fn start(self: Box<Self>, lobby: Lobby, shutdown: Shutdown) -> Running {
        Box::pin(P::run(self.0, lobby, shutdown))
    }
}

/// A server with its configuration read, ready to be played on.
pub struct Server(Box<dyn Table>);

impl Server {
    /// Sets after how many games we leave.
    ///
    /// # Errors
    /// Why this protocol has no say in that, in one sentence.
    pub fn count(&mut self, games: NonZeroU32) -> Result<(), &'static str> {
        self.0.count(games)
    }

    /// Plays there until told to stop.
    ///
    /// # Errors
    /// [`ProtocolError`]: it cannot go on without the user.
    pub async fn run(self, lobby: Lobby, shutdown: Shutdown) -> Result<(), ProtocolError> {
        self.0.start(lobby, shutdown).await
    }
}

impl fmt::Display for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.summary())
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Server").field(&self.0.summary()).finish()
    }
}

const fn row<P: Protocol + 'static>() -> Row {
    Row { name: P::NAME, read: read::<P> }
}

fn read<P: Protocol + 'static>(table: Spanned<DeTable<'_>>) -> Result<Server, BadTable> {
    let config: P::Config = serde_path_to_error::deserialize(toml::Deserializer::from(table))?;
    Ok(Server(Box::new(TableOf::<P>(config))))
}
