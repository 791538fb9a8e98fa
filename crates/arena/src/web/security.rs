//! Protection of the page: who may be spoken to under which name, from which page, and what a page may load.

use axum::{
    extract::{Request, State},
    http::{
        HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri,
        header::{self, HOST, ORIGIN},
        uri::Authority,
    },
    middleware::Next,
    response::{IntoResponse, Response},
};
use serde::Deserialize;

use super::answer::ApiError;
use crate::name::printable;

/// Characters of a client's words that are shown again.
const MAX_SHOWN: usize = 60;

/// Headers of every answer. Scripts, styles and sounds come from here alone; pictures may stand in a style.
const HEADERS: [(HeaderName, &str); 6] = [
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'self'; \
         frame-ancestors 'none'",
    ),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

/// Address of the page as others see it: `https://chess.example.org`.
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
    pub(super) fn as_str(&self) -> &str {
        &self.url
    }
}

/// Names under which the server answers.
#[derive(Clone, Debug)]
pub(super) struct Hosts(pub(super) Option<PublicUrl>);

impl Hosts {
    /// Returns whether requests may name this host: an address, this machine, or the public name. Any other name may be
    /// one that a foreign page has bound to our address.
    fn is_ours(&self, host: &Authority) -> bool {
        let name = host.host();
        let bare = name.strip_prefix('[').and_then(|it| it.strip_suffix(']')).unwrap_or(name);
        let is_address = bare.parse::<std::net::IpAddr>().is_ok();
        let is_public = self.0.as_ref().is_some_and(|public| is_same(public.authority.host(), name));
        is_address || is_same(name, "localhost") || is_public
    }

    /// Returns whether a page from there may change something here.
    fn is_own_page(&self, origin: &str, host: &Authority) -> bool {
        let Ok(origin) = origin.parse::<Uri>() else { return false };
        let Some(authority) = origin.authority() else { return false };
        let is_web = matches!(origin.scheme_str(), Some("http" | "https"));
        let same = |ours: &Authority| is_same(ours.as_str(), authority.as_str());
        is_web && (same(host) || self.0.as_ref().is_some_and(|public| same(&public.authority)))
    }

    fn check(&self, request: &Request) -> Result<(), ApiError> {
        let named = text(request.headers(), HOST).or(request.uri().authority().map(Authority::as_str));
        let host = named.and_then(|named| named.parse::<Authority>().ok());
        let host = host.ok_or_else(|| ApiError::bad("the request names no host: send a Host header"))?;
        if !self.is_ours(&host) {
            let host = printable(host.as_str(), MAX_SHOWN);
            return Err(ApiError::new(
                StatusCode::MISDIRECTED_REQUEST,
                format!("this arena is not {host}: set public = \"http://{host}\" in [arena.web] if it is"),
            ));
        }
        let is_socket = request.headers().contains_key(header::UPGRADE);
        let changes = !matches!(*request.method(), Method::GET | Method::HEAD | Method::OPTIONS);
        let Some(origin) = request.headers().get(ORIGIN).filter(|_| is_socket || changes) else {
            // Only browsers send it, and they always do then.
            return Ok(());
        };
        match origin.to_str() {
            Ok(origin) if self.is_own_page(origin, &host) => Ok(()),
            _ => Err(ApiError::new(StatusCode::FORBIDDEN, "only the arena's own page may do that")),
        }
    }
}

fn is_same(one: &str, other: &str) -> bool {
    one.eq_ignore_ascii_case(other)
}

fn text(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    headers.get(name)?.to_str().ok()
}

/// Checks host and origin, and adds the headers of every answer.
pub(super) async fn protect(State(hosts): State<Hosts>, request: Request, next: Next) -> Response {
    let mut answer = match hosts.check(&request) {
        Ok(()) => next.run(request).await,
        Err(error) => error.into_response(),
    };
    for (name, value) in HEADERS {
        answer.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_names_and_other_pages_are_refused() {
        let public = PublicUrl::try_from("https://chess.example.org/".to_owned()).unwrap();
        assert_eq!(public.as_str(), "https://chess.example.org");
        let hosts = Hosts(Some(public));
        let check = |method: &str, host: &str, origin: Option<&str>| {
            let mut request = Request::builder().method(method).uri("/api/games").header(HOST, host);
            if let Some(origin) = origin {
                request = request.header(ORIGIN, origin);
            }
            hosts.check(&request.body(axum::body::Body::empty()).unwrap()).is_ok()
        };
        for host in ["127.0.0.1:8080", "localhost:1", "[::1]:8080", "192.168.1.4", "Chess.Example.org"] {
            assert!(check("GET", host, Some("https://evil.example")), "{host}: reading is not a change");
            assert!(check("POST", host, None), "{host}");
            assert!(check("POST", host, Some(&format!("http://{host}"))), "{host}");
            assert!(check("POST", host, Some("https://chess.example.org")), "{host}");
            assert!(!check("POST", host, Some("https://evil.example")), "{host}");
            assert!(!check("POST", host, Some("null")), "{host}");
        }
        assert!(!check("POST", "127.0.0.1:8080", Some("http://127.0.0.1:9090")));
        for host in ["evil.example", "127.0.0.1.evil.example", "evil.localhost.example:80", "", "a b"] {
            assert!(!check("GET", host, None), "{host}");
        }
    }

    #[test]
    fn public_addresses() {
        for bad in ["chess.example.org", "ftp://a", "https://a/path", "https://u@a", "https://a/?q", "/"] {
            assert!(PublicUrl::try_from(bad.to_owned()).is_err(), "{bad}");
        }
    }
}
