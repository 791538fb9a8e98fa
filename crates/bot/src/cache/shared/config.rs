//! Address of the shared cache's server, and what it takes to connect to it.

use std::fmt;

#[cfg(feature = "redis")]
use redis::{ConnectionInfo, IntoConnectionInfo, io::tcp::TcpSettings};
use serde::{Deserialize, Deserializer, de::Error};
#[cfg(feature = "redis")]
use zeitnot_net::http;
use zeitnot_net::secret;

/// URL of a Redis or Valkey server. `Display` leaves the password out.
#[derive(Clone, Debug)]
pub struct SharedUrl {
    shown: String,
    #[cfg(feature = "redis")]
    info: ConnectionInfo,
    /// Whether others can read what is sent.
    is_exposed: bool,
}

/// Reason why a text is not a [`SharedUrl`]. It does not repeat the text.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum BadSharedUrl {
    #[error(
        "expected redis://host:port or, with TLS, rediss://host:port, without a query or a fragment; a user, a password \
         and a database may be in it: redis://user:password@host:port/0"
    )]
    Form,
    #[error(
        "this program was built without Redis: install it with `cargo install --path . --locked --features redis`, or \
         remove the address"
    )]
    NotBuilt,
}

#[cfg(not(feature = "redis"))]
impl TryFrom<String> for SharedUrl {
    type Error = BadSharedUrl;

    fn try_from(_: String) -> Result<SharedUrl, BadSharedUrl> {
        Err(BadSharedUrl::NotBuilt)
    }
}

#[cfg(feature = "redis")]
impl TryFrom<String> for SharedUrl {
    type Error = BadSharedUrl;

    fn try_from(text: String) -> Result<SharedUrl, BadSharedUrl> {
        let url = redis::parse_redis_url(text.trim()).ok_or(BadSharedUrl::Form)?;
        let is_plain = matches!(url.scheme(), "redis" | "valkey");
        // The library would take other protocols from a query, and trust any certificate by a fragment.
        let fits = (is_plain || matches!(url.scheme(), "rediss" | "valkeys"))
            && url.query().is_none()
            && url.fragment().is_none();
        if !fits {
            return Err(BadSharedUrl::Form);
        }
        let is_exposed = is_plain && !http::is_loopback(&url);
        let mut shown = url.clone();
        shown.set_password(None).map_err(|()| BadSharedUrl::Form)?;
        let tcp = TcpSettings::default().set_nodelay(true);
        let info = url.into_connection_info().map_err(|_| BadSharedUrl::Form)?.set_tcp_settings(tcp);
        // The server need not know the library, and its user need not have the right to tell.
        let login = info.redis_settings().clone().set_skip_set_lib_name();
        let info = info.set_redis_settings(login);
        Ok(SharedUrl { shown: shown.into(), info, is_exposed })
    }
}

impl fmt::Display for SharedUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

impl SharedUrl {
    /// Returns whether a password and moves are sent unencrypted to another machine.
    pub fn is_exposed(&self) -> bool {
        self.is_exposed
    }

    #[cfg(feature = "redis")]
    pub(super) fn info(&self) -> &ConnectionInfo {
        &self.info
    }
}

/// Reads the URL; empty: none. The error does not repeat it, as a password may be in it.
pub(in crate::cache) fn url<'de, D: Deserializer<'de>>(text: D) -> Result<Option<SharedUrl>, D::Error> {
    match secret::text(text)? {
        text if text.is_empty() => Ok(None),
        text => text.try_into().map(Some).map_err(D::Error::custom),
    }
}

/// First part of the keys.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct SharedPrefix(String);

/// Text that is not a [`SharedPrefix`].
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("expected 1 to 64 letters, digits and punctuation, without a space")]
pub struct BadSharedPrefix;

impl Default for SharedPrefix {
    fn default() -> SharedPrefix {
        SharedPrefix("zeitnot".into())
    }
}

impl TryFrom<String> for SharedPrefix {
    type Error = BadSharedPrefix;

    fn try_from(text: String) -> Result<SharedPrefix, BadSharedPrefix> {
        let fits = (1..=64).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic());
        if fits { Ok(SharedPrefix(text)) } else { Err(BadSharedPrefix) }
    }
}

impl fmt::Display for SharedPrefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cache::Config;

    fn parse(text: &str) -> Result<SharedUrl, BadSharedUrl> {
        text.to_owned().try_into()
    }

    #[cfg(feature = "redis")]
    #[test]
    fn the_password_is_used_and_never_shown() {
        let url = parse("redis://me:hu%2Fsh@cache.example.org:6380/2").unwrap();
        assert_eq!(url.to_string(), "redis://me@cache.example.org:6380/2");
        assert!(!format!("{url:?}").contains("hu"), "{url:?}");
        let login = url.info.redis_settings();
        assert_eq!((login.username(), login.password(), login.db()), (Some("me"), Some("hu/sh"), 2));
        assert!(url.is_exposed());
        for text in ["redis://:hush@localhost", "redis://127.0.0.1:1", "rediss://h", "valkeys://:hush@h/0"] {
            assert!(!parse(text).unwrap().is_exposed(), "{text}");
        }
    }

    #[cfg(not(feature = "redis"))]
    #[test]
    fn without_redis_every_address_is_refused_and_not_repeated() {
        assert_eq!(parse("redis://:hush@localhost").unwrap_err(), BadSharedUrl::NotBuilt);
        let error = toml::from_str::<Config>("shared = 'redis://:hush@localhost'").unwrap_err();
        assert!(error.message().contains("--features redis") && !error.message().contains("hush"), "{error}");
        assert!(toml::from_str::<Config>("shared = ''").unwrap().shared.is_none());
    }

    #[cfg(feature = "redis")]
    #[test]
    fn other_addresses_are_refused_and_not_repeated() {
        for text in [
            "hush",
            "http://hush",
            "redis://",
            "redis://hush/x",
            "redis://0.0.0.0",
            "rediss://h/#insecure",
            "redis://h/?protocol=resp3",
            "unix:///run/redis.sock",
        ] {
            assert_eq!(parse(text).unwrap_err(), BadSharedUrl::Form, "{text}");
            let error = toml::from_str::<Config>(&format!("shared = '{text}'")).unwrap_err();
            assert!(!error.message().contains("hush"), "{error}");
        }
        assert!(toml::from_str::<Config>("shared = ''").unwrap().shared.is_none());
    }
}
