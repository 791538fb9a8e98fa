//! Servers that are asked for moves over HTTP: a tablebase, ChessDB, cloud evaluations, and the opening explorer.
//!
//! A [`PositionQuery`] is sent only where there is plenty of time for the answer, and ends after the server's timeout
//! whatever the network does. A server that fails is not asked for a while. The answer is a list of moves as text, the
//! best first; the caller checks that they are legal.

use std::{env, path::Path, sync::Arc};

use zeitnot_net::http::BaseUrl;
use zeitnot_seat::{LookupSource, PositionLookup, PositionQuery, Suggested, Suggestions};
use zeitnot_wire::lichess::Token;

use crate::lichess::{TokenError, token};

mod chessdb;
mod cloud;
mod config;
mod explorer;
mod service;
mod tablebase;

pub use config::{BookQuality, ChessDb, Cloud, Config, Database, Explorer, Selection, ServerKeys, Tablebase};
use service::{Api, Service};

/// Environment variable with a token for the explorer, so that it need not be in a file.
const TOKEN_VARIABLE: &str = "LICHESS_EXPLORER_TOKEN";

/// Error in the settings of a server.
#[derive(Debug, thiserror::Error)]
pub enum LookupError {
    /// The explorer needs a token.
    #[error(
        "online_moves.explorer: no token: set {TOKEN_VARIABLE} or `token_file`; any token of a Lichess account will do"
    )]
    NoToken,
    /// The token, or its file, cannot be used.
    #[error("online_moves.explorer: {0}")]
    Token(#[from] TokenError),
    /// The token would be sent unencrypted.
    #[error("online_moves.explorer: the token would be sent unencrypted to {0}: use https://")]
    Unencrypted(BaseUrl),
    /// The database of one player needs the player's name.
    #[error("online_moves.explorer: source = \"player\" needs `player_name`, a name on Lichess")]
    NoPlayer,
    /// The HTTP client cannot be made.
    #[error("online_moves.{0}: {1}")]
    NoClient(LookupSource, String),
}

/// An account whose token is sent to the services of its server.
#[derive(Clone, Debug)]
pub struct Account {
    /// Its server.
    pub url: BaseUrl,
    /// Its token.
    pub token: Token,
}

impl Account {
    /// Returns whether the token may be sent to a server: the account's own, or any of Lichess if the account is there.
    /// The configuration may name others, which must not see it.
    fn trusts(&self, server: &BaseUrl) -> bool {
        let is_own = self.url.is_same_server(server) && server.is_private();
        is_own || self.url.is_of_lichess() && server.is_of_lichess()
    }
}

/// The enabled servers.
#[derive(Debug, Default)]
pub struct Lookup {
    services: Vec<Arc<Service>>,
}

impl Lookup {
    /// Creates clients for the enabled servers, each with the token of the first account that may send its own there.
    /// Connects to none of them yet.
    ///
    /// # Errors
    /// [`LookupError`] with what the user has to correct.
    pub fn new(config: &Config, accounts: &[Account]) -> Result<Lookup, LookupError> {
        let token_for = |url: &BaseUrl| {
            accounts.iter().find(|account| account.trusts(url)).map(|account| account.token.clone())
        };
        let mut services = Vec::new();
        for (source, keys) in config.servers().into_iter().filter(|(_, keys)| keys.enabled) {
            let Config { tablebase, chessdb, cloud, explorer } = config.clone();
            let (api, token): (Box<dyn Api>, _) = match source {
                LookupSource::Tablebase => (Box::new(tablebase), token_for(&keys.url)),
                // Not a service of Lichess, whatever its URL.
                LookupSource::ChessDb => (Box::new(chessdb), None),
                LookupSource::Cloud => (Box::new(cloud), token_for(&keys.url)),
                LookupSource::Explorer => {
                    if explorer.source == Database::Player && explorer.player_name.is_empty() {
                        return Err(LookupError::NoPlayer);
                    }
                    let token = find_token(&explorer, token_for(&keys.url))?;
                    (Box::new(explorer), Some(token))
                }
            };
            services.push(Arc::new(Service::new(source, keys, api, token.as_ref())?));
        }
        Ok(Lookup { services })
    }
}

impl PositionLookup for Lookup {
    fn sources(&self) -> Vec<LookupSource> {
        self.services.iter().map(|service| service.source).collect()
    }

    fn look_up(&self, source: LookupSource, query: &PositionQuery) -> Option<Suggestions> {
        let service = self.services.iter().find(|service| service.source == source)?.clone();
        let url = service.url(query)?;
        let query = query.clone();
        Some(Box::pin(async move {
            Suggested { moves: service.ask(&url, &query).await, is_choice: service.is_choice() }
        }))
    }
}

/// Finds the explorer's token: its own, or the account's, if there is one for it.
fn find_token(explorer: &Explorer, of_account: Option<Token>) -> Result<Token, LookupError> {
    if !explorer.url.is_private() {
        return Err(LookupError::Unencrypted(explorer.url.clone()));
    }
    if let Ok(text) = env::var(TOKEN_VARIABLE) {
        return Ok(token::parse(TOKEN_VARIABLE, &text)?);
    }
    let path: &Path = &explorer.token_file;
    if path.as_os_str().is_empty() {
        return of_account.ok_or(LookupError::NoToken);
    }
    Ok(token::read(path)?)
}
