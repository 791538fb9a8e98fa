//! Connection to the shared cache's server: one exchange of requests and replies at a time.

use std::{error::Error as _, time::Duration};

use redis::{
    AsyncConnectionConfig, Client, Cmd, ErrorKind, Pipeline, RedisError, Value,
    aio::{ConnectionLike, MultiplexedConnection},
};
use tokio::time::timeout;

use super::{
    client::PASSWORD_ADVICE,
    config::SharedPrefix,
    entry::{SharedKey, VALUE_BYTES},
};
use crate::cache::CachedMove;

/// Time for a connection, with TLS and login.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);
pub(super) const EXCHANGE_TIMEOUT: Duration = Duration::from_millis(250);
/// Maximum length of a text of the server that is shown.
const MAX_SHOWN: usize = 120;

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(in crate::cache) enum Request {
    LookUp(SharedKey),
    Store(SharedKey, CachedMove),
    Remove(SharedKey),
}

/// Server, and the entries of this program's fleet on it.
#[derive(Debug)]
pub(super) struct Target {
    pub client: Client,
    pub prefix: SharedPrefix,
    /// Time after which an entry is removed.
    pub expiry: Duration,
}

/// Reason why the server is left alone for a while.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Fault {
    /// It does not accept us.
    #[error("the server refuses us ({0}): {PASSWORD_ADVICE}")]
    Login(String),
    /// It does not answer in time.
    #[error("no answer within {0:?}")]
    Slow(Duration),
    /// Anything else, as the system or the server tells it.
    #[error("{0}")]
    Failed(String),
}

impl From<RedisError> for Fault {
    fn from(error: RedisError) -> Fault {
        let is_login = error.kind() == ErrorKind::AuthenticationFailed
            || matches!(error.code(), Some("NOAUTH" | "WRONGPASS" | "NOPERM"));
        let text = shown(&error);
        if is_login { Fault::Login(text) } else { Fault::Failed(text) }
    }
}

/// Returns an error as one line of bounded length. The server's text may be anything.
fn shown(error: &RedisError) -> String {
    let text = match (error.code(), error.detail(), error.source()) {
        (Some(code), Some(detail), _) => format!("{code} {detail}"),
        (Some(code), None, _) => code.to_owned(),
        (None, Some(detail), _) => detail.to_owned(),
        (None, None, Some(source)) => source.to_string(),
        (None, None, None) => error.to_string(),
    };
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(MAX_SHOWN).collect()
}

#[derive(Debug, Default)]
pub(super) struct Replies {
    /// For each request; `None` for those that are not lookups, and where nothing usable is known.
    pub found: Vec<Option<CachedMove>>,
    /// Entries that the server has taken.
    pub stored: u64,
    /// Entries that it has not taken.
    pub not_stored: u64,
    /// Reason of the last one.
    pub error: Option<String>,
}

pub(super) struct Connection<'t> {
    target: &'t Target,
    connection: MultiplexedConnection,
}

impl Connection<'_> {
    /// Connects, and waits for a first answer.
    pub(super) async fn open(target: &Target) -> Result<Connection<'_>, Fault> {
        // Time is kept here, for all of it together.
        let config = AsyncConnectionConfig::new().set_connection_timeout(None).set_response_timeout(None);
        let connecting = target.client.get_multiplexed_async_connection_with_config(&config);
        let connecting = timeout(CONNECT_TIMEOUT, connecting).await;
        let connection = connecting.map_err(|_| Fault::Slow(CONNECT_TIMEOUT))??;
        let mut connection = Connection { target, connection };
        connection.probe().await?;
        Ok(connection)
    }

    /// Fails if the server does not answer lookups.
    pub(super) async fn probe(&mut self) -> Result<(), Fault> {
        let values = self.send(vec![read(format!("{}:", self.target.prefix))]).await?;
        let errors = values.into_iter().filter_map(|value| match value {
            Value::ServerError(error) => Some(RedisError::from(error)),
            _ => None,
        });
        // There may be such a key of another type.
        errors
            .into_iter()
            .find(|error| error.code() != Some("WRONGTYPE"))
            .map_or(Ok(()), |error| Err(error.into()))
    }

    /// Sends these requests at once, and waits for all replies.
    pub(super) async fn exchange(&mut self, requests: &[Request]) -> Result<Replies, Fault> {
        let values = self.send(requests.iter().map(|request| self.target.command(request)).collect()).await?;
        let mut replies = Replies::default();
        for (request, value) in requests.iter().zip(values) {
            let mut found = None;
            match (request, value) {
                (Request::LookUp(_), Value::BulkString(bytes)) => found = CachedMove::from_bytes(&bytes),
                (Request::Store(..), Value::ServerError(error)) => {
                    replies.error = Some(shown(&error.into()));
                    replies.not_stored += 1;
                }
                (Request::Store(..), _) => replies.stored += 1,
                // An entry that is not removed expires. A key that is looked up may be of another type.
                (Request::LookUp(_) | Request::Remove(_), _) => {}
            }
            replies.found.push(found);
        }
        Ok(replies)
    }

    async fn send(&mut self, commands: Vec<Cmd>) -> Result<Vec<Value>, Fault> {
        let count = commands.len();
        let mut pipeline = Pipeline::with_capacity(count);
        for command in commands {
            pipeline.add_command(command);
        }
        let exchange = self.connection.req_packed_commands(&pipeline, 0, count);
        Ok(timeout(EXCHANGE_TIMEOUT, exchange).await.map_err(|_| Fault::Slow(EXCHANGE_TIMEOUT))??)
    }
}

impl Target {
    fn command(&self, request: &Request) -> Cmd {
        match *request {
            Request::LookUp(key) => read(key.under(&self.prefix)),
            Request::Store(key, cached) => {
                let key = key.under(&self.prefix);
                let value = cached.to_bytes();
                let seconds = self.expiry.as_secs();
                redis::cmd("SET").arg(key).arg(&value).arg("EX").arg(seconds).take()
            }
            Request::Remove(key) => redis::cmd("DEL").arg(key.under(&self.prefix)).take(),
        }
    }
}

/// Reads a key. One byte more than a value has tells a longer one, which may be as long as it likes.
fn read(key: String) -> Cmd {
    redis::cmd("GETRANGE").arg(key).arg(0).arg(VALUE_BYTES).take()
}
