//! The `[arena.web]` table: address, organiser's token and limits.

use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    path::PathBuf,
};

use serde::Deserialize;
use zeitnot_net::{secret::Secret, secret_file};

use crate::hosts::PublicUrl;

/// Environment variable with the organiser's token.
const TOKEN_VARIABLE: &str = "ZEITNOT_ORGANISER_TOKEN";

/// The `[arena.web]` table.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Address to listen on for HTTP; port 0 takes any free port.
    pub listen: SocketAddr,
    /// Address under which a proxy shows the page.
    pub public: Option<PublicUrl>,
    /// Requests come from a proxy, which adds `X-Forwarded-For`.
    pub behind_proxy: bool,
    /// Organiser's token; one is drawn at each start if there is none.
    pub token: Option<Secret>,
    /// File that holds the token and nothing else.
    pub token_file: Option<PathBuf>,
    /// Connections at once; more take the place of others.
    pub max_connections: usize,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            listen: ([127, 0, 0, 1], 8080).into(),
            public: None,
            behind_proxy: false,
            token: None,
            token_file: None,
            max_connections: 1024,
        }
    }
}

impl Config {
    /// Checks what the types alone do not say.
    ///
    /// # Errors
    /// The mistake.
    pub fn check(&self) -> Result<(), String> {
        match self.max_connections {
            0 => Err("web: max_connections must be at least 1".into()),
            _ => Ok(()),
        }
    }

    /// Returns the address of the page for people: the public one, or that of the port.
    pub fn url(&self, listen: SocketAddr) -> String {
        let own = || {
            let local: IpAddr = match listen {
                SocketAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
                SocketAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
            };
            let host = if listen.ip().is_unspecified() { local } else { listen.ip() };
            format!("http://{}", SocketAddr::new(host, listen.port()))
        };
        self.public.as_ref().map_or_else(own, |public| public.as_str().to_owned())
    }

    /// Returns the organiser's token from its file, the environment or the table; errors show nothing of it.
    pub fn find_token(&self) -> Result<Option<Secret>, String> {
        if let Some(path) = &self.token_file {
            let why = |why: String| format!("web: token_file {}: {why}", path.display());
            let text = secret_file::read(path).map_err(|error| why(error.to_string()))?;
            return Secret::try_from(text).map(Some).map_err(|error| why(error.to_string()));
        }
        match std::env::var(TOKEN_VARIABLE) {
            Ok(text) => {
                Secret::try_from(text).map(Some).map_err(|error| format!("{TOKEN_VARIABLE}: {error}"))
            }
            Err(_) => Ok(self.token.clone()),
        }
    }
}
