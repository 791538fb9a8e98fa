//! Table of all protocols, and the configured server whose protocol is known only at run time.

use std::{any::Any, fmt, num::NonZeroU32, pin::Pin};

use serde::Deserialize;
use serde_json::Value;
use tokio::sync::watch;
use toml::{
    Spanned,
    de::{DeTable, Error},
};
use zeitnot_net::Contradictions;
use zeitnot_seat::{Lobby, OrderKind, OrderQueue};
use zeitnot_settings::schema_of;

use crate::{
    cerveau::Cerveau,
    contest::Contest,
    findings::Findings,
    imcs::Imcs,
    lichess::Lichess,
    protocol::{Protocol, ProtocolError, Shutdown},
    tuc::TucChess,
};

/// All protocols.
pub const PROTOCOLS: &[ProtocolEntry] =
    &[entry::<Contest>(), entry::<TucChess>(), entry::<Imcs>(), entry::<Cerveau>(), entry::<Lichess>()];

/// One protocol of the table.
#[derive(Debug)]
pub struct ProtocolEntry {
    /// Name in configurations.
    pub name: &'static str,
    /// Key of our name on the server; `None` if the server gives it.
    pub player_key: Option<&'static str>,
    /// Schema of the protocol's own keys of a `[[server]]` table.
    pub schema: fn() -> Value,
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

/// Configured server, ready to play on. `Display` tells what will be played, without secrets.
pub type Server = Box<dyn Client>;

/// Future of a client at work.
pub(crate) type Running = Pin<Box<dyn Future<Output = Result<(), ProtocolError>> + Send>>;

/// Object-safe side of a protocol with its configuration.
pub trait Client: Any + fmt::Debug + fmt::Display + Send + Sync {
    /// Finds keys of the table that contradict each other.
    fn contradictions(&self, found: &mut Contradictions);

    /// Checks what the table's text does not tell. Connects to nothing.
    fn check(&self) -> Findings;

    /// Returns whether both would be the same player on the same server.
    fn is_same_player(&self, other: &dyn Client) -> bool;

    /// Sets the number of games after which the client leaves.
    fn limit_games(&mut self, games: NonZeroU32);

    /// Checks whether orders of a kind can be carried out there.
    ///
    /// # Errors
    /// Line that says how that server works instead.
    fn takes(&self, kind: OrderKind) -> Result<(), &'static str>;

    /// Goes on by the configuration of another server of this protocol, as far as its keys are reloadable.
    fn take_over(&self, new: &dyn Client);

    /// Plays there until told to stop. The only errors are those that the user must resolve.
    fn run(&self, lobby: Lobby, orders: OrderQueue, shutdown: Shutdown) -> Running;
}

impl dyn Client {
    /// Returns the configuration, if it is one of this protocol.
    pub fn config_of<P: Protocol + 'static>(&self) -> Option<P::Config> {
        let client: &dyn Any = self;
        Some(client.downcast_ref::<ClientOf<P>>()?.0.borrow().clone())
    }
}

/// The configuration, which the running client watches.
struct ClientOf<P: Protocol>(watch::Sender<P::Config>);

impl<P: Protocol + 'static> Client for ClientOf<P> {
    fn contradictions(&self, found: &mut Contradictions) {
        P::contradictions(&self.0.borrow(), found);
    }

    fn check(&self) -> Findings {
        let mut findings = Findings::default();
        P::check(&self.0.borrow(), &mut findings);
        findings
    }

    fn is_same_player(&self, other: &dyn Client) -> bool {
        other.config_of::<P>().is_some_and(|other| P::is_same_player(&self.0.borrow(), &other))
    }

    fn limit_games(&mut self, games: NonZeroU32) {
        self.0.send_modify(|config| P::limit_games(config, games));
    }

    fn takes(&self, kind: OrderKind) -> Result<(), &'static str> {
        P::takes(kind)
    }

    fn take_over(&self, new: &dyn Client) {
        if let Some(new) = new.config_of::<P>() {
            self.0.send_replace(new);
        }
    }

    fn run(&self, lobby: Lobby, orders: OrderQueue, shutdown: Shutdown) -> Running {
        Box::pin(P::run(self.0.subscribe(), lobby, orders, shutdown))
    }
}

impl<P: Protocol> fmt::Display for ClientOf<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", P::NAME, *self.0.borrow())
    }
}

impl<P: Protocol> fmt::Debug for ClientOf<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Server({self})")
    }
}

const fn entry<P: Protocol + 'static>() -> ProtocolEntry {
    ProtocolEntry {
        name: P::NAME,
        player_key: P::PLAYER_KEY,
        schema: schema_of::<P::Config>,
        read: read::<P>,
    }
}

fn read<P: Protocol + 'static>(table: Spanned<DeTable<'_>>) -> Result<Server, Error> {
    let config = P::Config::deserialize(toml::Deserializer::from(table))?;
    Ok(Box::new(ClientOf::<P>(watch::Sender::new(config))))
}
