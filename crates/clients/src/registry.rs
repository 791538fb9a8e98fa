//! Table of all protocols, and the configured server whose protocol is known only at run time.

use std::{fmt, num::NonZeroU32};

use futures_util::future::BoxFuture;
use serde::Deserialize;
use toml::{
    Spanned,
    de::{DeTable, Error},
};
use zeitnot_seat::Lobby;

use crate::{
    contest::Contest,
    imcs::Imcs,
    lichess::Lichess,
    protocol::{Protocol, ProtocolError, Shutdown},
    tuc::TucChess,
};

/// All protocols.
pub const PROTOCOLS: &[ProtocolEntry] =
    &[entry::<Contest>(), entry::<TucChess>(), entry::<Imcs>(), entry::<Lichess>()];

/// One protocol of the table.
#[derive(Debug)]
pub struct ProtocolEntry {
    /// Name in configurations.
    pub name: &'static str,
    read: fn(Spanned<DeTable<'_>>) -> Result<Server, Error>,
}

impl ProtocolEntry {
    /// Finds a protocol by its name.
    pub fn find(name: &str) -> Option<&'static ProtocolEntry> {
        PROTOCOLS.iter().find(|entry| entry.name == name)
    }

    /// Reads the protocol's own keys of a `[[server]]` table.
    ///
    /// # Errors
    /// [`Error`]: an unknown, missing or wrong key, with its place in the text.
    pub fn read(&self, table: Spanned<DeTable<'_>>) -> Result<Server, Error> {
        (self.read)(table)
    }
}

/// Object-safe side of a protocol with its configuration.
trait Client: Send {
    fn summary(&self) -> String;
    fn limit_games(&mut self, games: NonZeroU32) -> Result<(), &'static str>;
    fn run(
        self: Box<Self>,
        lobby: Lobby,
        shutdown: Shutdown,
    ) -> BoxFuture<'static, Result<(), ProtocolError>>;
}

struct ClientOf<P: Protocol>(P::Config);

impl<P: Protocol + 'static> Client for ClientOf<P> {
    fn summary(&self) -> String {
        format!("{}: {}", P::NAME, self.0)
    }

    fn limit_games(&mut self, games: NonZeroU32) -> Result<(), &'static str> {
        P::limit_games(&mut self.0, games)
    }

    fn run(
        self: Box<Self>,
        lobby: Lobby,
        shutdown: Shutdown,
    ) -> BoxFuture<'static, Result<(), ProtocolError>> {
        Box::pin(P::run(self.0, lobby, shutdown))
    }
}

/// Configured server, ready to play on.
pub struct Server(Box<dyn Client>);

impl Server {
    /// Sets the number of games after which the client leaves.
    ///
    /// # Errors
    /// Why the protocol has no such limit, in one sentence.
    pub fn limit_games(&mut self, games: NonZeroU32) -> Result<(), &'static str> {
        self.0.limit_games(games)
    }

    /// Plays there until told to stop.
    ///
    /// # Errors
    /// [`ProtocolError`]: only the user can resolve it.
    pub async fn run(self, lobby: Lobby, shutdown: Shutdown) -> Result<(), ProtocolError> {
        self.0.run(lobby, shutdown).await
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

const fn entry<P: Protocol + 'static>() -> ProtocolEntry {
    ProtocolEntry { name: P::NAME, read: read::<P> }
}

fn read<P: Protocol + 'static>(table: Spanned<DeTable<'_>>) -> Result<Server, Error> {
    Ok(Server(Box::new(ClientOf::<P>(P::Config::deserialize(toml::Deserializer::from(table))?))))
}
