//! The `[arena.web]` table: address, organiser's token and limits.

use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    path::PathBuf,
};

use zeitnot_net::{secret::Secret, secret_file};
use zeitnot_settings::settings;

use crate::hosts::PublicUrl;

/// Environment variable with the organiser's token.
const TOKEN_VARIABLE: &str = "ZEITNOT_ORGANISER_TOKEN";

settings! {
    /// The page that shows the games to browsers, and the API behind it; see docs/web.md.
    #[derive(PartialEq)]
    pub struct Config {
        /// Address to listen on for HTTP. "0.0.0.0:8080" accepts other machines; port 0 takes any free port.
        listen: SocketAddr = ([127, 0, 0, 1], 8080).into(),
        /// Address of the page behind a proxy.
        #[schemars(with = "String", example = &"https://chess.example.org")]
        public: Option<PublicUrl> = None,
        /// Whether all requests come from a proxy that adds X-Forwarded-For.
        behind_proxy: bool = false,
        /// Token of the organiser or owner, also by ZEITNOT_ORGANISER_TOKEN in the environment. Without one, each start shows a
        /// random token.
        #[schemars(with = "String", example = &"change_me")]
        token: Option<Secret> = None,
        /// Private file that contains only the token (chmod 600).
        #[schemars(example = &"organiser.token")]
        token_file: Option<PathBuf> = None,
        /// Maximum number of browser connections; a new one replaces an old one.
        #[schemars(range(min = 1))]
        max_connections: usize = 1024,
    }
}

impl Config {
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
