//! A connection on which we are logged in: commands and their answers.

use std::time::Instant;

use tokio::time::{Instant as Deadline, timeout, timeout_at};
use tracing::{debug, info};

use zeitnot_net::Incoming;
use zeitnot_seat::Turn;
use zeitnot_wire::{
    Message,
    imcs::{Answer, Command, Entry, FromServer},
};

use super::{Config, Lost};
use crate::link::{Heard, Link};

/// More of a list is not remembered.
const LONGEST_LIST: usize = 1000;

/// The connection.
pub(super) struct Talk<'a> {
    config: &'a Config,
    link: Link,
    /// The last line that we could not read: often the reason of what comes next.
    words: Option<String>,
}

/// What comes from a connection.
#[derive(Debug)]
pub(super) enum Said {
    /// A line of the server.
    Line { message: FromServer, read_at: Instant },
    /// Our answer to this turn was handed to the socket.
    Sent { turn: Turn, at: Instant },
}

/// A numbered reply.
type Reply = (u16, String);

impl<'a> Talk<'a> {
    /// Connects and logs in; registers where we may and must.
    pub(super) async fn open(config: &'a Config) -> Result<Talk<'a>, Lost> {
        let connecting = config.address.connect(config.patience.connect);
        let (mut reader, writer) = connecting.await.map_err(Lost::Connect)?;
        // The server itself waits for acknowledgements, and charges us for it.
        reader.acknowledge_at_once();
        let mut talk = Talk { config, link: Link::new(reader, writer), words: None };
        match talk.answer().await? {
            (100, text) => debug!("connected to {text:?}"),
            other => return Err(unexpected("a greeting", other)),
        }
        talk.log_in().await?;
        Ok(talk)
    }

    async fn log_in(&mut self) -> Result<(), Lost> {
        const UNKNOWN: &str = "set `register = true` in its [[server]] table, or correct `user`";
        const WRONG: &str = "correct `user` and `password` in its [[server]] table, or ZEITNOT_IMCS_PASSWORD";
        const CHARACTERS: &str = "choose another `user` and `password`: letters, digits and signs of '._-'";
        let name = self.config.user.to_string();
        let refused =
            |(code, text): Reply, advice| Err(Lost::Refused { what: format!("{code} {text}"), advice });
        for command in [Command::me, Command::register, Command::me] {
            let reply = self.ask(&command(name.clone(), self.config.password.expose().to_owned())).await?;
            match reply.0 {
                201 => return Ok(()),
                202 => {
                    info!("registered as {name}");
                    return Ok(());
                }
                401 => return refused(reply, WRONG),
                410 | 411 => return refused(reply, CHARACTERS),
                400 if !self.config.register => return refused(reply, UNKNOWN),
                // Nobody has this name; or somebody has taken it in the meantime, maybe ourselves.
                400 | 402 => {}
                _ => return Err(unexpected("a login", reply)),
            }
        }
        Err(Lost::Unexpected { wanted: "a login", got: "neither a login nor a registration".to_owned() })
    }

    /// Says a command and waits for the reply.
    pub(super) async fn ask(&mut self, command: &Command) -> Result<Reply, Lost> {
        self.say(command)?;
        self.answer().await
    }

    /// Says a command. It could hold a password, so it is not logged.
    pub(super) fn say(&self, command: &Command) -> Result<(), Lost> {
        Ok(self.link.send(command.to_line(), None)?)
    }

    /// Says something in a game.
    pub(super) fn play(&self, answer: &Answer, turn: Option<Turn>) -> Result<(), Lost> {
        let line = answer.to_line();
        debug!("> {line}");
        Ok(self.link.send(line, turn)?)
    }

    async fn answer(&mut self) -> Result<Reply, Lost> {
        let until = self.answer_by();
        loop {
            if let FromServer::Reply { code, text } = self.hear_before(until).await? {
                return Ok((code, text));
            }
        }
    }

    /// What games there are.
    pub(super) async fn list(&mut self) -> Result<Vec<Entry>, Lost> {
        self.say(&Command::List)?;
        let (mut entries, until) = (Vec::new(), self.answer_by());
        loop {
            match self.hear_before(until).await? {
                FromServer::Reply { code: 211, .. } => {}
                FromServer::Reply { code, text } => return Err(unexpected("a list", (code, text))),
                FromServer::End => return Ok(entries),
                FromServer::Entry(entry) if entries.len() < LONGEST_LIST => entries.push(entry),
                _ => {}
            }
        }
    }

    /// When the answer to what is said now must be complete.
    pub(super) fn answer_by(&self) -> Deadline {
        Deadline::now() + self.config.patience.answer
    }

    /// The next line that we can read, if it comes in time.
    pub(super) async fn hear_before(&mut self, until: Deadline) -> Result<FromServer, Lost> {
        let silent = Err(Lost::Silent(self.config.patience.answer));
        timeout_at(until, self.hear()).await.unwrap_or(silent)
    }

    /// The next line that we can read. Cancel safe.
    pub(super) async fn hear(&mut self) -> Result<FromServer, Lost> {
        loop {
            if let Said::Line { message, .. } = self.next().await? {
                return Ok(message);
            }
        }
    }

    /// What comes next. Cancel safe.
    pub(super) async fn next(&mut self) -> Result<Said, Lost> {
        loop {
            let Incoming { line, read_at } = match self.link.next().await {
                Heard::Line(incoming) => incoming,
                Heard::Sent { turn, at } => return Ok(Said::Sent { turn, at }),
                Heard::Lost(error) => {
                    return Err(match self.words.take() {
                        Some(words) => Lost::Dismissed { error, words },
                        None => Lost::Link(error),
                    });
                }
            };
            let message = match &line {
                Ok(line) => FromServer::parse(line).map_err(|error| error.to_string()),
                Err(bad) => Err(bad.to_string()),
            };
            match message {
                Ok(message) => return Ok(Said::Line { message, read_at }),
                Err(why) => {
                    debug!("skipped what the server said: {why:?}");
                    self.words = Some(why);
                }
            }
        }
    }

    /// Says goodbye.
    pub(super) async fn quit(self) {
        let _ = self.say(&Command::Quit);
        self.link.close().await;
    }

    /// Waits until the server has closed: who hangs up first may lose what was won.
    pub(super) async fn closed(mut self) {
        let limit = self.config.patience.close;
        if timeout(limit, async { while self.next().await.is_ok() {} }).await.is_err() {
            debug!("the server has not closed within {limit:?}");
        }
        self.link.close().await;
    }
}

/// An answer that no server of this kind gives.
pub(super) fn unexpected(wanted: &'static str, (code, text): Reply) -> Lost {
    Lost::Unexpected { wanted, got: format!("{code} {text}") }
}
