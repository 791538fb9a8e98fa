//! A connection to an IMCS on which we are logged in: commands and their answers.

use std::time::{Duration, Instant};

use tokio::time::{Instant as Deadline, timeout, timeout_at};
use tracing::{debug, info};
use zeitnot_net::{Incoming, NetError};
use zeitnot_rules::Color;
use zeitnot_seat::Turn;
use zeitnot_wire::{
    Message,
    imcs::{Answer, Command, Entry, FromServer},
};

use super::config::Config;
use crate::link::{self, Link, LinkError, LinkEvent};

/// Entries of a list that are kept.
const MAX_ENTRIES: usize = 1000;

/// End of a connection that we did not end.
#[derive(Debug, thiserror::Error)]
pub(super) enum ConnectionError {
    #[error("cannot connect: {0} (is the server running, and its address right?)")]
    Connect(NetError),
    #[error("{error}; its last message: {message:?}")]
    Dismissed { error: LinkError, message: String },
    #[error("nothing from the server within {0:?} of when it should have answered")]
    Silent(Duration),
    #[error(transparent)]
    Link(#[from] LinkError),
    #[error("expected {expected}, but the server says {got:?}")]
    Unexpected { expected: &'static str, got: String },
    /// The offer was dead.
    #[error("the game did not begin, the opponent is gone: {0:?}")]
    NoGame(String),
    #[error("the game was resigned: {0}")]
    NoPlayer(String),
    #[error("the game was broken off: {0:?}")]
    BrokenOff(String),
    /// The next attempt would fail as well.
    #[error("{what}")]
    Refused { what: String, advice: &'static str },
}

impl ConnectionError {
    /// Returns whether the server may not know of the end, so that a game may go on.
    pub(super) fn is_lost(&self) -> bool {
        matches!(
            self,
            ConnectionError::Link(_) | ConnectionError::Dismissed { .. } | ConnectionError::Silent(_)
        )
    }
}

pub(super) struct Connection<'a> {
    config: &'a Config,
    link: Link,
    /// The last line that we could not read: often the reason of what comes next.
    last_unread: Option<String>,
}

#[derive(Debug)]
pub(super) enum ConnectionEvent {
    Message {
        message: FromServer,
        read_at: Instant,
    },
    /// Our answer to this turn was handed to the socket.
    Sent {
        turn: Turn,
        at: Instant,
    },
}

type Reply = (u16, String);

impl<'a> Connection<'a> {
    /// Connects and logs in; registers if necessary and allowed.
    pub(super) async fn open(config: &'a Config) -> Result<Connection<'a>, ConnectionError> {
        let connecting = config.address.connect(config.timeouts.connect);
        let (reader, writer) = connecting.await.map_err(ConnectionError::Connect)?;
        let mut connection = Connection { config, link: Link::new(reader, writer), last_unread: None };
        match connection.answer().await? {
            (100, text) => debug!("connected to {text:?}"),
            other => return Err(unexpected("a greeting", other)),
        }
        connection.log_in().await?;
        Ok(connection)
    }

    async fn log_in(&mut self) -> Result<(), ConnectionError> {
        const UNKNOWN: &str = "set `register = true` in its [[server]] table, or correct `user`";
        const WRONG: &str = "correct `user` and `password` in its [[server]] table, or ZEITNOT_IMCS_PASSWORD";
        const CHARACTERS: &str =
            "choose another `user` and `password`: letters, digits and characters of '._-'";
        let name = self.config.user.to_string();
        let refused = |(code, text): Reply, advice| {
            Err(ConnectionError::Refused { what: format!("{code} {text}"), advice })
        };
        let password = || self.config.password.expose().to_owned();
        let me = Command::Me { name: name.clone(), password: password() };
        let register = Command::Register { name: name.clone(), password: password() };
        for command in [&me, &register, &me] {
            let reply = self.ask(command).await?;
            match reply.0 {
                201 => return Ok(()),
                202 => {
                    info!("registered as {name}");
                    return Ok(());
                }
                401 => return refused(reply, WRONG),
                410 | 411 => return refused(reply, CHARACTERS),
                400 if !self.config.register => return refused(reply, UNKNOWN),
                // Unknown; or registered in the meantime, maybe by ourselves.
                400 | 402 => {}
                _ => return Err(unexpected("a login", reply)),
            }
        }
        let got = "neither a login nor a registration".to_owned();
        Err(ConnectionError::Unexpected { expected: "a login", got })
    }

    pub(super) async fn ask(&mut self, command: &Command) -> Result<Reply, ConnectionError> {
        self.send(command)?;
        self.answer().await
    }

    /// Sends a command. It may hold a password, so it is not logged.
    pub(super) fn send(&self, command: &Command) -> Result<(), ConnectionError> {
        Ok(self.link.send(command.to_line(), None)?)
    }

    pub(super) fn send_answer(&self, answer: &Answer, turn: Option<Turn>) -> Result<(), ConnectionError> {
        let line = answer.to_line();
        debug!("> {line}");
        Ok(self.link.send(line, turn)?)
    }

    async fn answer(&mut self) -> Result<Reply, ConnectionError> {
        let deadline = self.answer_deadline();
        loop {
            if let FromServer::Reply { code, text } = self.message_before(deadline).await? {
                return Ok((code, text));
            }
        }
    }

    pub(super) async fn list(&mut self) -> Result<Vec<Entry>, ConnectionError> {
        self.send(&Command::List)?;
        let mut entries = Vec::new();
        let deadline = self.answer_deadline();
        loop {
            match self.message_before(deadline).await? {
                FromServer::Reply { code: 211, .. } => {}
                FromServer::Reply { code, text } => return Err(unexpected("a list", (code, text))),
                FromServer::End => return Ok(entries),
                FromServer::Entry(entry) if entries.len() < MAX_ENTRIES => entries.push(entry),
                _ => {}
            }
        }
    }

    pub(super) fn answer_deadline(&self) -> Deadline {
        Deadline::now() + self.config.timeouts.answer
    }

    pub(super) async fn message_before(&mut self, deadline: Deadline) -> Result<FromServer, ConnectionError> {
        let silent = Err(ConnectionError::Silent(self.config.timeouts.answer));
        timeout_at(deadline, self.message()).await.unwrap_or(silent)
    }

    /// Returns the next readable message. Cancel safe.
    pub(super) async fn message(&mut self) -> Result<FromServer, ConnectionError> {
        loop {
            if let ConnectionEvent::Message { message, .. } = self.next().await? {
                return Ok(message);
            }
        }
    }

    /// Returns the next event. Cancel safe.
    pub(super) async fn next(&mut self) -> Result<ConnectionEvent, ConnectionError> {
        loop {
            let Incoming { line, read_at } = match self.link.next().await {
                LinkEvent::Line(incoming) => incoming,
                LinkEvent::Sent { turn, at } => return Ok(ConnectionEvent::Sent { turn, at }),
                LinkEvent::Closed(error) => {
                    return Err(match self.last_unread.take() {
                        Some(message) => ConnectionError::Dismissed { error, message },
                        None => ConnectionError::Link(error),
                    });
                }
            };
            match link::parse(line) {
                Ok(message) => return Ok(ConnectionEvent::Message { message, read_at }),
                Err(why) => {
                    debug!("skipped a message of the server: {why:?}");
                    self.last_unread = Some(why);
                }
            }
        }
    }

    pub(super) async fn quit(self) {
        let _ = self.send(&Command::Quit);
        self.link.close().await;
    }

    /// Waits until the server has closed: closing first may lose a won game.
    pub(super) async fn wait_for_close(mut self) {
        let limit = self.config.timeouts.close;
        if timeout(limit, async { while self.next().await.is_ok() {} }).await.is_err() {
            debug!("the server has not closed within {limit:?}");
        }
        self.link.close().await;
    }
}

/// Returns the name of the opponent who accepted our offer, or why it is not known. The list of games tells it, on a
/// second connection: on one that plays, the server reads nothing but moves.
pub(super) async fn find_opponent(config: &Config, game: u64, color: Color) -> Result<String, String> {
    let finding = async {
        let mut second = Connection::open(config).await?;
        let entries = second.list().await;
        second.quit().await;
        entries
    };
    let limit = config.timeouts.answer;
    let entries = timeout(limit, finding).await.unwrap_or(Err(ConnectionError::Silent(limit)));
    let opponent = opponent_in(entries.map_err(|error| error.to_string())?, config, game, color);
    opponent.ok_or_else(|| "the game is not listed".to_owned())
}

/// Returns the opponent in a running game of ours, if it is listed.
pub(super) fn opponent_in(entries: Vec<Entry>, config: &Config, game: u64, color: Color) -> Option<String> {
    let mut names = entries.into_iter().find_map(|entry| match entry {
        Entry::Game { game: listed, names, .. } if listed == game => Some(names),
        _ => None,
    })?;
    (names[color] == config.user.to_string()).then(|| std::mem::take(&mut names[!color]))
}

pub(super) fn unexpected(expected: &'static str, (code, text): Reply) -> ConnectionError {
    ConnectionError::Unexpected { expected, got: format!("{code} {text}") }
}
