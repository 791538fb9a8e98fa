//! Protocol of a server, as the rest of the program sees it.

use std::{fmt, num::NonZeroU32};

use serde::de::DeserializeOwned;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use zeitnot_net::Contradictions;
use zeitnot_seat::{Lobby, OrderKind, OrderQueue};
use zeitnot_settings::JsonSchema;

use crate::findings::Findings;

/// Stop in two steps.
#[derive(Clone, Debug)]
pub struct Shutdown {
    /// Accept no new games, finish the running ones, then leave. A child of `now`.
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

/// Client of one kind of server.
pub trait Protocol {
    /// Name in configurations.
    const NAME: &'static str;
    /// Key of our name on the server; `None` if the server gives it.
    const PLAYER_KEY: Option<&'static str>;
    /// The protocol's own keys of a `[[server]]` table. `Display` tells users what the client will do, without
    /// secrets.
    type Config: Clone + DeserializeOwned + JsonSchema + fmt::Display + Send + Sync + 'static;

    /// Finds keys of the table that contradict each other.
    fn contradictions(_: &Self::Config, _: &mut Contradictions) {}

    /// Checks what the table's text does not tell, such as the files that it names. Connects to nothing.
    fn check(config: &Self::Config, findings: &mut Findings);

    /// Returns whether both would be the same player on the same server, which the server does not allow.
    fn is_same_player(one: &Self::Config, other: &Self::Config) -> bool;

    /// Sets the number of games after which the client leaves.
    fn limit_games(config: &mut Self::Config, games: NonZeroU32);

    /// Checks whether orders of a kind can be carried out there.
    ///
    /// # Errors
    /// Line that says how that server works instead.
    fn takes(kind: OrderKind) -> Result<(), &'static str>;

    /// Plays until told to stop, and reconnects by itself. Takes the reloadable keys from later configurations.
    fn run(
        config: watch::Receiver<Self::Config>,
        lobby: Lobby,
        orders: OrderQueue,
        shutdown: Shutdown,
    ) -> impl Future<Output = Result<(), ProtocolError>> + Send;
}

/// Error that only the user can resolve.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum ProtocolError {
    /// The server refuses us, and would refuse the next attempt as well.
    #[error("{server}: {what}; {advice}")]
    Refused {
        /// The server's address.
        server: String,
        /// Its answer.
        what: String,
        /// Advice to the user.
        advice: &'static str,
    },
}
