//! Helpers for HTTP clients: base URLs, a configured client, bounded answers.

use std::{fmt, net::IpAddr, sync::OnceLock, time::Duration};

use reqwest::{Client, ClientBuilder, Response, Url, redirect::Policy};
use rustls::ClientConfig;
use rustls_platform_verifier::ConfigVerifierExt;
use serde::Deserialize;
use tokio::task::spawn_blocking;

/// Time to keep idle connections; servers close them after a minute or more.
const IDLE_TIMEOUT: Duration = Duration::from_secs(300);
/// Interval and time-out of keepalive probes.
const KEEPALIVE: Duration = Duration::from_secs(10);

/// URL of a server, without a slash at its end.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct BaseUrl(String);

/// Text that is not a [`BaseUrl`].
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("expected https://host or http://host:port, without a name, a query or a fragment in it")]
pub struct BadBaseUrl;

impl BaseUrl {
    /// Creates a URL that is known to be valid.
    pub fn known(address: &'static str) -> BaseUrl {
        BaseUrl(address.to_owned())
    }

    /// Returns the URL of a path on the server.
    pub fn join(&self, path: &str) -> String {
        format!("{}/{path}", self.0)
    }

    /// Returns whether the server is on this machine, where no proxy is needed.
    pub fn is_loopback(&self) -> bool {
        Url::parse(&self.0).is_ok_and(|url| is_loopback(&url))
    }

    /// Returns whether both are the same server: scheme, host and port.
    pub fn is_same_server(&self, other: &BaseUrl) -> bool {
        let [one, other] = [self, other].map(|url| Url::parse(&url.0).map(|url| url.origin()));
        one.is_ok_and(|one| other.is_ok_and(|other| one == other))
    }

    /// Returns whether this is a server of Lichess, over TLS.
    pub fn is_of_lichess(&self) -> bool {
        Url::parse(&self.0).is_ok_and(|url| {
            let is_known = |host| is_in(host, "lichess.org") || is_in(host, "lichess.ovh");
            url.scheme() == "https" && url.port().is_none() && url.host_str().is_some_and(is_known)
        })
    }

    /// Returns whether the host is in this domain.
    pub fn is_within(&self, domain: &str) -> bool {
        Url::parse(&self.0).is_ok_and(|url| url.host_str().is_some_and(|host| is_in(host, domain)))
    }

    /// Returns whether requests are encrypted or stay on this machine.
    pub fn is_private(&self) -> bool {
        self.is_loopback() || self.0.starts_with("https:")
    }
}

fn is_in(host: &str, domain: &str) -> bool {
    host.strip_suffix(domain).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}

/// Returns whether the host is this machine.
pub fn is_loopback(url: &Url) -> bool {
    // A name such as 127.example.org is another machine's.
    let is_address =
        |host: &str| host.trim_matches(['[', ']']).parse().is_ok_and(|ip: IpAddr| ip.is_loopback());
    url.host_str().is_some_and(|host| host == "localhost" || is_address(host))
}

impl Default for BaseUrl {
    /// Lichess.
    fn default() -> BaseUrl {
        BaseUrl::known("https://lichess.org")
    }
}

impl TryFrom<String> for BaseUrl {
    type Error = BadBaseUrl;

    fn try_from(text: String) -> Result<BaseUrl, BadBaseUrl> {
        let url = Url::parse(text.trim()).map_err(|_| BadBaseUrl)?;
        let plain = url.username().is_empty() && url.password().is_none();
        let fits = matches!(url.scheme(), "http" | "https") && url.has_host() && plain;
        if !fits || url.query().is_some() || url.fragment().is_some() {
            return Err(BadBaseUrl);
        }
        Ok(BaseUrl(url.as_str().trim_end_matches('/').to_owned()))
    }
}

impl fmt::Display for BaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Provides the cryptography of TLS for the whole process.
pub fn provide_tls() {
    // Fails if another part of the program has installed a provider already, which is fine.
    let _ = rustls::crypto::ring::default_provider().install_default();
}

/// TLS configuration of all clients. Making it reads the system's root certificates, which takes milliseconds.
static TLS: OnceLock<ClientConfig> = OnceLock::new();

/// Makes the TLS configuration of all clients on a thread for blocking work. Otherwise the first client makes it, on
/// its own thread.
pub async fn prepare_tls() {
    // If this fails, so does the first client, which reports it.
    let _ = spawn_blocking(tls).await;
}

fn tls() -> Result<ClientConfig, rustls::Error> {
    if let Some(made) = TLS.get() {
        return Ok(made.clone());
    }
    provide_tls();
    let mut tls = ClientConfig::with_platform_verifier()?;
    // reqwest sets this in its own configurations only.
    tls.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(TLS.get_or_init(|| tls).clone())
}

/// Configures a client with this user agent. Proxies are not used if all servers are on this machine.
pub fn client(is_loopback: bool, name: &str) -> ClientBuilder {
    let builder = Client::builder()
        .user_agent(name)
        .redirect(Policy::none())
        .referer(false)
        .tcp_nodelay(true)
        .tcp_keepalive(KEEPALIVE)
        .pool_idle_timeout(IDLE_TIMEOUT)
        .http2_keep_alive_interval(KEEPALIVE)
        .http2_keep_alive_timeout(KEEPALIVE)
        .http2_keep_alive_while_idle(true);
    let builder = match tls() {
        Ok(tls) => builder.tls_backend_preconfigured(tls),
        // Building the client fails for the same reason, and tells it.
        Err(_) => builder,
    };
    if is_loopback { builder.no_proxy() } else { builder }
}

/// Returns the root cause of an error in one line.
pub fn root_cause(error: reqwest::Error) -> String {
    let mut cause = &error as &dyn std::error::Error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    let cause = cause.to_string();
    if error.is_connect() { format!("cannot connect: {cause}") } else { cause }
}

/// Part of an answer to read.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum ReadUntil {
    /// The whole answer.
    End,
    /// The first line that is not empty.
    FirstLine,
}

/// Returns the text of an answer of at most `max_length` bytes.
///
/// # Errors
/// The answer is longer, or incomplete.
pub async fn body(mut response: Response, max_length: usize, until: ReadUntil) -> Result<String, String> {
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(root_cause)? {
        if bytes.len() + chunk.len() > max_length {
            return Err(format!("an answer of more than {max_length} bytes"));
        }
        bytes.extend_from_slice(&chunk);
        if until == ReadUntil::FirstLine
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
    use std::sync::Arc;

    use super::*;

    #[test]
    async fn all_clients_share_one_tls_configuration() {
        prepare_tls().await;
        // Each copy of the configuration refers to this.
        let part = tls().unwrap().key_log;
        let before = Arc::strong_count(&part);
        let clients = [false, true].map(|is_loopback| client(is_loopback, "test").build().unwrap());
        assert!(Arc::strong_count(&part) >= before + clients.len());
    }

    #[test]
    fn addresses_of_servers() {
        let base = |text: &str| BaseUrl::try_from(text.to_owned());
        for text in ["http://127.0.0.1:8080", "http://127.0.0.1:8080/", "http://127.0.0.1:8080//"] {
            assert_eq!(base(text).unwrap().join("api/account"), "http://127.0.0.1:8080/api/account");
        }
        assert!(base("https://lichess.org").unwrap().is_private());
        assert!(base("http://localhost:1").unwrap().is_loopback());
        for text in ["http://127.1.2.3", "http://[::1]:8080"] {
            assert!(base(text).unwrap().is_loopback(), "{text}");
        }
        for text in ["http://example.org", "http://127.example.org", "http://localhost.example.org"] {
            assert!(!base(text).unwrap().is_private(), "{text}");
        }
        for text in ["https://lichess.org", "https://tablebase.lichess.ovh:443/x"] {
            assert!(base(text).unwrap().is_of_lichess(), "{text}");
        }
        for text in [
            "http://lichess.org",
            "https://lichess.org:8443",
            "https://evillichess.org",
            "https://lichess.org.example.org",
            "https://example.org/lichess.org",
        ] {
            assert!(!base(text).unwrap().is_of_lichess(), "{text}");
        }
        let own = base("https://example.org").unwrap();
        for (text, is_same) in [
            ("https://example.org:443/chess", true),
            ("http://example.org", false),
            ("https://example.org:444", false),
            ("https://chess.example.org", false),
        ] {
            assert_eq!(own.is_same_server(&base(text).unwrap()), is_same, "{text}");
        }
        for text in ["", "lichess.org", "ftp://h", "https://me:hush@h", "https://h?q=1", "https://h#f"] {
            assert_eq!(base(text), Err(BadBaseUrl), "{text}");
        }
    }
}
