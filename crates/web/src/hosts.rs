//! Names under which a server answers browsers. Any page can make a browser send requests to our address, and can bind a
//! name of its own to it, so the `Host` and `Origin` of a request tell whose page asks.

use std::net::IpAddr;

use axum::http::{
    HeaderMap, HeaderValue, StatusCode, Uri,
    header::{HOST, ORIGIN},
    uri::Authority,
};
use serde::Deserialize;
use zeitnot_wire::printable;

/// Characters of a client's words that are shown again.
const MAX_SHOWN: usize = 60;

/// Address of a server as others see it: `https://chess.example.org`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct PublicUrl {
    authority: Authority,
    url: String,
}

/// Text that is not a [`PublicUrl`].
#[derive(Debug, thiserror::Error)]
#[error("'{0}' is no address of a page: expected http:// or https:// and a host without a path")]
pub struct BadPublicUrl(String);

impl TryFrom<String> for PublicUrl {
    type Error = BadPublicUrl;

    fn try_from(text: String) -> Result<PublicUrl, BadPublicUrl> {
        let bad = || BadPublicUrl(printable(&text, MAX_SHOWN));
        let uri: Uri = text.parse().map_err(|_| bad())?;
        let is_web = matches!(uri.scheme_str(), Some("http" | "https"));
        let is_plain = matches!(uri.path(), "" | "/") && uri.query().is_none();
        let authority = uri.authority().filter(|it| is_web && is_plain && !it.as_str().contains('@'));
        let authority = authority.cloned().ok_or_else(bad)?;
        Ok(PublicUrl { authority, url: text.trim_end_matches('/').to_owned() })
    }
}

impl PublicUrl {
    /// Returns the URL without a slash at its end.
    pub fn as_str(&self) -> &str {
        &self.url
    }
}

/// Reason why a request is not answered.
#[allow(missing_docs)]
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadHost {
    #[error("the request names no host: send a Host header")]
    Missing,
    #[error("the request has several Host headers: send one")]
    Several,
    #[error("this server is not {host}: set public = \"http://{host}\" in {table} if it is")]
    Other { host: String, table: &'static str },
    #[error("only the arena's own page may do that")]
    OtherPage,
    #[error(
        "a page from {origin} may not connect: set public = \"{origin}\" in {table} if it is the arena's own"
    )]
    OtherSite { origin: String, table: &'static str },
}

impl BadHost {
    /// Returns the status of the answer.
    pub fn status(&self) -> StatusCode {
        match self {
            BadHost::Missing | BadHost::Several => StatusCode::BAD_REQUEST,
            BadHost::Other { .. } => StatusCode::MISDIRECTED_REQUEST,
            BadHost::OtherPage | BadHost::OtherSite { .. } => StatusCode::FORBIDDEN,
        }
    }
}

/// Names under which a server answers: addresses, this machine, and the public name that the table of the configuration
/// gives it.
#[derive(Clone, Debug)]
pub struct Hosts {
    public: Option<PublicUrl>,
    table: &'static str,
}

impl Hosts {
    /// Creates the names of a server whose settings are in `table`.
    pub fn new(public: Option<PublicUrl>, table: &'static str) -> Hosts {
        Hosts { public, table }
    }

    /// Returns the host that a request names.
    ///
    /// # Errors
    /// [`BadHost`].
    pub fn host(&self, headers: &HeaderMap, uri: &Uri) -> Result<Authority, BadHost> {
        check_single(headers)?;
        let header = headers.get(HOST).and_then(|host| host.to_str().ok());
        let named = header.or(uri.authority().map(Authority::as_str));
        let host = named.and_then(|named| named.parse::<Authority>().ok()).ok_or(BadHost::Missing)?;
        match self.is_ours(&host) {
            true => Ok(host),
            false => Err(BadHost::Other { host: printable(host.as_str(), MAX_SHOWN), table: self.table }),
        }
    }

    /// Returns whether requests may name this host. Any name but the public one may be one that a foreign page has bound
    /// to our address.
    fn is_ours(&self, host: &Authority) -> bool {
        let name = host.host();
        let is_public = self.public.as_ref().is_some_and(|public| is_same(public.authority.host(), name));
        address(name).is_some() || is_same(name, "localhost") || is_public
    }

    /// Returns whether a page from there may change something here: one of this server.
    pub(crate) fn is_own_page(&self, origin: &HeaderValue, host: &Authority) -> bool {
        let Some(origin) = site(origin) else { return false };
        let same = |ours: &Authority| is_same(ours.as_str(), origin.as_str());
        same(host) || self.public.as_ref().is_some_and(|public| same(&public.authority))
    }

    /// Checks the handshake of a WebSocket for programs. They send no `Origin`; a browser is on a page of this machine,
    /// on any of its ports.
    ///
    /// # Errors
    /// [`BadHost`].
    pub fn check_handshake(&self, headers: &HeaderMap, uri: &Uri) -> Result<(), BadHost> {
        check_single(headers)?;
        let is_own = |origin: &HeaderValue| {
            let (Some(site), Ok(host)) = (site(origin), self.host(headers, uri)) else { return false };
            let same = |ours: &Authority| is_same(ours.host(), site.host());
            let are_local = [host.host(), site.host()].into_iter().all(is_this_machine);
            same(&host) || are_local || self.public.as_ref().is_some_and(|public| same(&public.authority))
        };
        match headers.get_all(ORIGIN).iter().find(|origin| !is_own(origin)) {
            Some(origin) => {
                let origin = printable(&String::from_utf8_lossy(origin.as_bytes()), MAX_SHOWN);
                Err(BadHost::OtherSite { origin, table: self.table })
            }
            None => Ok(()),
        }
    }
}

/// Refuses a request that names two hosts: what stands before this server may have looked at the other one (RFC 9112, 3.2).
pub(crate) fn check_single(headers: &HeaderMap) -> Result<(), BadHost> {
    match headers.get_all(HOST).iter().nth(1) {
        Some(_) => Err(BadHost::Several),
        None => Ok(()),
    }
}

/// Returns the host and port of a page's origin.
fn site(origin: &HeaderValue) -> Option<Authority> {
    let origin: Uri = origin.to_str().ok()?.parse().ok()?;
    origin.authority().filter(|_| matches!(origin.scheme_str(), Some("http" | "https"))).cloned()
}

/// Parses a host that is an IP address.
fn address(host: &str) -> Option<IpAddr> {
    let bare = host.strip_prefix('[').and_then(|it| it.strip_suffix(']'));
    bare.unwrap_or(host).parse().ok()
}

fn is_this_machine(host: &str) -> bool {
    is_same(host, "localhost") || address(host).is_some_and(|address| address.is_loopback())
}

fn is_same(one: &str, other: &str) -> bool {
    one.eq_ignore_ascii_case(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn public_addresses() {
        for bad in ["chess.example.org", "ftp://a", "https://a/path", "https://u@a", "https://a/?q", "/"] {
            assert!(PublicUrl::try_from(bad.to_owned()).is_err(), "{bad}");
        }
    }

    #[test]
    fn browsers_connect_from_our_own_pages_only() {
        let public = PublicUrl::try_from("https://chess.example.org".to_owned()).unwrap();
        let hosts = Hosts::new(Some(public), "[arena.web]");
        let status = |host: &str, origins: &[&str]| {
            let mut headers = HeaderMap::new();
            headers.append(HOST, host.parse().unwrap());
            headers.extend(origins.iter().map(|origin| (Some(ORIGIN), origin.parse().unwrap())));
            hosts.check_handshake(&headers, &Uri::from_static("/")).map_err(|bad| bad.status().as_u16())
        };
        // A program may know us by any name.
        assert_eq!(status("arena.local:8001", &[]), Ok(()));
        for (host, origin) in [
            ("127.0.0.1:8001", "http://127.0.0.1:8080"),
            ("127.0.0.1:8001", "http://localhost:5173"),
            ("localhost:8001", "http://LOCALHOST"),
            ("[::1]:8001", "http://[::1]:8080"),
            ("10.0.0.1:8001", "https://chess.example.org"),
        ] {
            assert_eq!(status(host, &[origin]), Ok(()), "{host} {origin}");
            assert_eq!(status(host, &[origin, "https://evil.example"]), Err(403));
        }
        for (host, origin) in [
            ("127.0.0.1:8001", "https://evil.example"),
            ("127.0.0.1:8001", "null"),
            ("127.0.0.1:8001", "file://127.0.0.1"),
            ("10.0.0.1:8001", "http://10.0.0.2:8080"),
            ("10.0.0.1:8001", "http://localhost:5173"),
            // A name that a foreign page has bound to our address.
            ("evil.example:8001", "http://evil.example"),
        ] {
            assert_eq!(status(host, &[origin]), Err(403), "{host} {origin}");
        }
    }
}
