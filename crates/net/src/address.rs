//! Server addresses, `tcp://host:port` and `ws://host:port/path`.

use std::{fmt, io, str::FromStr, time::Duration};

use reqwest::Url;
use serde::{Deserialize, Deserializer, de::Error};
use tokio::{net::TcpStream, time::timeout};
use tokio_tungstenite::tungstenite::{
    client::IntoClientRequest,
    handshake::client::Request,
    http::{HeaderValue, header},
};

use crate::{
    codec::{LineCodec, MAX_LINE},
    connection::{LineReader, LineWriter, NetError, connect_ws, over_tcp, split_tcp},
    http::is_loopback,
    secret::Secret,
};

/// Address of a server.
///
/// ```
/// use zeitnot_net::Address;
/// assert!("tcp://localhost:8000".parse::<Address>().is_ok());
/// assert!("ws://[::1]:8000/play".parse::<Address>().is_ok());
/// assert!("localhost".parse::<Address>().is_err());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Address(Url);

/// Text that is not an address.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("'{0}' is not an address: expected tcp://host:port or ws://host:port/path")]
pub struct BadAddress(String);

impl FromStr for Address {
    type Err = BadAddress;

    fn from_str(text: &str) -> Result<Self, BadAddress> {
        let fits = |url: &Url| {
            let has_host = url.host_str().is_some_and(|host| !host.is_empty()) && url.port() != Some(0);
            let has_only = url.username().is_empty() && url.password().is_none() && url.fragment().is_none();
            let is_known = match url.scheme() {
                "ws" => true,
                "tcp" => url.port().is_some() && matches!(url.path(), "" | "/") && url.query().is_none(),
                _ => false,
            };
            has_host && has_only && is_known
        };
        let url = Url::parse(text).ok().filter(fits);
        url.map(Address).ok_or_else(|| BadAddress(text.chars().take(100).collect()))
    }
}

impl TryFrom<String> for Address {
    type Error = BadAddress;
    fn try_from(text: String) -> Result<Self, BadAddress> {
        text.parse()
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Address {
    /// Reads the address of a server to which we connect over TCP only.
    ///
    /// # Errors
    /// It is not an address, or one of a WebSocket.
    pub fn of_tcp<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Address, D::Error> {
        let address = Address::deserialize(deserializer)?;
        match address.is_websocket() {
            true => Err(D::Error::custom(format!(
                "{address}: this protocol has TCP only: expected tcp://host:port"
            ))),
            false => Ok(address),
        }
    }

    /// Connects; over WebSocket this includes the handshake.
    ///
    /// # Errors
    /// [`NetError`]; [`NetError::TimedOut`] after `limit`.
    pub async fn connect(&self, limit: Duration) -> Result<(LineReader, LineWriter), NetError> {
        self.connect_with(None, limit).await
    }

    /// Connects and sends the token in the WebSocket handshake. TCP has no place for one: see
    /// [`Address::takes_token`].
    ///
    /// # Errors
    /// As [`Address::connect`]; [`NetError::Http`] if the server refuses the token.
    pub async fn connect_with(
        &self,
        token: Option<&Secret>,
        limit: Duration,
    ) -> Result<(LineReader, LineWriter), NetError> {
        self.open(token, MAX_LINE, limit).await
    }

    /// Connects to a WebSocket whose messages may be longer than lines.
    ///
    /// # Errors
    /// As [`Address::connect`].
    pub async fn connect_wide(
        &self,
        max_message: usize,
        limit: Duration,
    ) -> Result<(LineReader, LineWriter), NetError> {
        self.open(None, max_message, limit).await
    }

    /// Connects over TCP to a server whose lines end with this byte, and have at most so many.
    ///
    /// # Errors
    /// As [`Address::connect`].
    pub async fn connect_ended_by(
        &self,
        end: u8,
        max_line: usize,
        limit: Duration,
    ) -> Result<(LineReader, LineWriter), NetError> {
        let attempt = async { split_tcp(self.stream().await?, LineCodec::ended_by(end, max_line)) };
        timeout(limit, attempt).await.map_err(|_| NetError::TimedOut(limit))?
    }

    async fn stream(&self) -> io::Result<TcpStream> {
        let port = self.0.port_or_known_default().unwrap_or_default();
        TcpStream::connect(format!("{}:{port}", self.host())).await
    }

    async fn open(
        &self,
        token: Option<&Secret>,
        max_message: usize,
        limit: Duration,
    ) -> Result<(LineReader, LineWriter), NetError> {
        let attempt = async {
            let stream = self.stream().await?;
            match self.is_websocket() {
                true => connect_ws(self.request(token)?, stream, max_message).await,
                false => over_tcp(stream),
            }
        };
        timeout(limit, attempt).await.map_err(|_| NetError::TimedOut(limit))?
    }

    /// Returns the name or number of the server's host.
    pub fn host(&self) -> &str {
        self.0.host_str().unwrap_or_default()
    }

    /// Returns whether a token can be sent to this address.
    pub fn takes_token(&self) -> bool {
        self.is_websocket()
    }

    /// Returns whether the server speaks WebSocket there.
    pub fn is_websocket(&self) -> bool {
        self.0.scheme() == "ws"
    }

    /// Returns whether the server is on this machine.
    pub fn is_loopback(&self) -> bool {
        is_loopback(&self.0)
    }

    fn request(&self, token: Option<&Secret>) -> Result<Request, NetError> {
        let mut request = self.0.as_str().into_client_request()?;
        if let Some(token) = token {
            let bearer = HeaderValue::try_from(format!("Bearer {}", token.expose()));
            let unfit =
                |_| io::Error::new(io::ErrorKind::InvalidInput, "the token does not fit into a header");
            let mut bearer = bearer.map_err(unfit)?;
            bearer.set_sensitive(true);
            request.headers_mut().insert(header::AUTHORIZATION, bearer);
        }
        Ok(request)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        for good in ["tcp://localhost:1", "ws://h:80", "ws://h", "ws://h:80/a/b?c=d", "tcp://[::1]:99"] {
            assert!(good.parse::<Address>().is_ok(), "{good}");
        }
        for bad in [
            "",
            "tcp://",
            "tcp://h",
            "tcp://h:0",
            "tcp://h:70000",
            "http://h:1",
            "ws://:1",
            "tcp://:1",
            "tcp://a b:1",
        ] {
            assert!(bad.parse::<Address>().is_err(), "{bad}");
        }
    }
}
