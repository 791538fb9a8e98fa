//! What all who ask servers over HTTP share: where one is, how to connect, an answer that has an end.

use std::{fmt, time::Duration};

use reqwest::{Client, ClientBuilder, Response, Url, redirect::Policy};
use serde::Deserialize;

/// Connections without a request are kept so long: servers close them after a minute or more.
const IDLE: Duration = Duration::from_secs(300);
/// How often a connection of many streams is looked at, and how long it may take to answer that.
const PING: Duration = Duration::from_secs(10);

/// The address of a server, without a slash at its end.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Base(String);

/// Text that is no [`Base`].
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("expected https://host or http://host:port, without a name, a query or a fragment in it")]
pub struct BadBase;

impl Base {
    /// One that is known to be sound.
    pub fn known(address: &'static str) -> Base {
        Base(address.to_owned())
    }

    /// The address of something there.
    pub fn join(&self, path: &str) -> String {
        format!("{}/{path}", self.0)
    }

    /// Is it this very machine? Then no proxy has any business there.
    pub fn is_here(&self) -> bool {
        Url::parse(&self.0).is_ok_and(|url| is_here(&url))
    }

    /// Is what goes there read by nobody on the way?
    pub fn is_private(&self) -> bool {
        self.is_here() || self.0.starts_with("https:")
    }
}

/// Is it on this very machine?
pub fn is_here(url: &Url) -> bool {
    let here = |host: &str| matches!(host, "localhost" | "[::1]") || host.starts_with("127.");
    url.host_str().is_some_and(here)
}

impl Default for Base {
    /// Where most games are.
    fn default() -> Base {
        Base::known("https://lichess.org")
    }
}

impl TryFrom<String> for Base {
    type Error = BadBase;

    fn try_from(text: String) -> Result<Base, BadBase> {
        let url = Url::parse(text.trim()).map_err(|_| BadBase)?;
        let plain = url.username().is_empty() && url.password().is_none();
        let fits = matches!(url.scheme(), "http" | "https") && url.has_host() && plain;
        if !fits || url.query().is_some() || url.fragment().is_some() {
            return Err(BadBase);
        }
        Ok(Base(url.as_str().trim_end_matches('/').to_owned()))
    }
}

impl fmt::Display for Base {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// How to ask servers for something, under this name; connections stay open for the next request. Where all of them
/// are on this very machine, no proxy is asked.
pub fn client(is_here: bool, name: &str) -> ClientBuilder {
    // Another part of the program may have chosen already; any choice will do.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let builder = Client::builder()
        .user_agent(name)
        .redirect(Policy::none())
        .referer(false)
        .tcp_nodelay(true)
        .tcp_keepalive(PING)
        .pool_idle_timeout(IDLE)
        .http2_keep_alive_interval(PING)
        .http2_keep_alive_timeout(PING)
        .http2_keep_alive_while_idle(true);
    if is_here { builder.no_proxy() } else { builder }
}

/// What went wrong, in one line. The last cause says it, and those before it only where they stood.
pub fn told(error: reqwest::Error) -> String {
    let mut told = &error as &dyn std::error::Error;
    while let Some(cause) = told.source() {
        told = cause;
    }
    let told = told.to_string();
    if error.is_connect() { format!("cannot connect: {told}") } else { told }
}

/// Where an answer ends.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// Where the server says so.
    Whole,
    /// Behind the first line that is not empty: the rest is of no use.
    Line,
}

/// The text of an answer that is no longer than this.
///
/// # Errors
/// It is longer, or it breaks off.
pub async fn body(mut response: Response, most: usize, end: End) -> Result<String, String> {
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(told)? {
        if bytes.len() + chunk.len() > most {
            return Err(format!("an answer of more than {most} bytes"));
        }
        bytes.extend_from_slice(&chunk);
        if end == End::Line
            && let Some(line) = bytes.trim_ascii_start().split_inclusive(|byte| *byte == b'\n').next()
            && line.ends_with(b"\n")
        {
            return Ok(String::from_utf8_lossy(line).into_owned());
        }
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_servers() {
        let base = |text: &str| Base::try_from(text.to_owned());
        for text in ["http://127.0.0.1:8080", "http://127.0.0.1:8080/", "http://127.0.0.1:8080//"] {
            assert_eq!(base(text).unwrap().join("api/account"), "http://127.0.0.1:8080/api/account");
        }
        assert!(base("https://lichess.org").unwrap().is_private());
        assert!(base("http://localhost:1").unwrap().is_here());
        assert!(!base("http://example.org").unwrap().is_private());
        for text in ["", "lichess.org", "ftp://h", "https://me:hush@h", "https://h?q=1", "https://h#f"] {
            assert_eq!(base(text), Err(BadBase), "{text}");
        }
    }
}
