//! Lines of a connection to a contest server.

use zeitnot_net::Incoming;
use zeitnot_seat::Turn;
use zeitnot_wire::contest::FromServer;

use super::{connection::Connection, error::ConnectionError};
use crate::{
    drive::{Input, Wire},
    link::{self, Link, LinkEvent},
    skipped::Skipped,
};

pub(super) struct ContestWire<'a> {
    link: &'a mut Link,
    /// The server has sent a message of the protocol.
    has_spoken: bool,
    skipped: Skipped,
}

impl<'a> ContestWire<'a> {
    pub(super) fn new(link: &'a mut Link) -> ContestWire<'a> {
        ContestWire { link, has_spoken: false, skipped: Skipped::default() }
    }

    fn read(&mut self, Incoming { line, read_at }: Incoming) -> Result<Input<FromServer>, ConnectionError> {
        if let Ok(line) = &line
            && !self.has_spoken
            && line.starts_with("HTTP/")
        {
            return Err(ConnectionError::NotTcp(line.clone()));
        }
        match link::parse(line) {
            Ok(message) => {
                self.has_spoken = true;
                Ok(Input::Message(message, read_at))
            }
            Err(why) => {
                self.skipped.report(&why);
                Ok(Input::Unreadable)
            }
        }
    }
}

impl Wire<Connection<'_>> for ContestWire<'_> {
    async fn send(&mut self, line: String, answers: Option<Turn>) -> Result<(), ConnectionError> {
        Ok(self.link.send(line, answers)?)
    }

    async fn next(&mut self) -> Result<Input<FromServer>, ConnectionError> {
        match self.link.next().await {
            LinkEvent::Line(line) => self.read(line),
            LinkEvent::Sent { turn, at } => Ok(Input::Sent(turn, at)),
            LinkEvent::Closed(error) => Err(error.into()),
        }
    }
}
