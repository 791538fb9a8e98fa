//! Messages of a connection to a Cerveau server.

use tracing::debug;
use zeitnot_net::Incoming;
use zeitnot_seat::Turn;
use zeitnot_wire::{
    Message,
    cerveau::{FromClient, FromServer},
};

use super::{error::ConnectionError, game::Game};
use crate::{
    drive::{Input, Wire},
    link::{self, Link, LinkEvent},
    session::ConnectionLog,
    skipped::Skipped,
};

pub(super) struct CerveauWire<'a> {
    link: &'a mut Link,
    /// Learns of the connection once the server has let us in.
    log: &'a mut ConnectionLog,
    skipped: Skipped,
}

impl<'a> CerveauWire<'a> {
    pub(super) fn new(link: &'a mut Link, log: &'a mut ConnectionLog) -> CerveauWire<'a> {
        CerveauWire { link, log, skipped: Skipped::default() }
    }

    fn read(&mut self, Incoming { line, read_at }: Incoming) -> Input<FromServer> {
        match link::parse(line) {
            Ok(message) => {
                if let FromServer::Lobbied { .. } = message {
                    self.log.connected();
                }
                Input::Message(message, read_at)
            }
            Err(why) => {
                self.skipped.report(&why);
                Input::Unreadable
            }
        }
    }
}

impl Wire<Game<'_>> for CerveauWire<'_> {
    async fn send(&mut self, message: FromClient, answers: Option<Turn>) -> Result<(), ConnectionError> {
        debug!("> {message:?}");
        Ok(self.link.send(message.to_line(), answers)?)
    }

    async fn next(&mut self) -> Result<Input<FromServer>, ConnectionError> {
        match self.link.next().await {
            LinkEvent::Line(line) => Ok(self.read(line)),
            LinkEvent::Sent { turn, at } => Ok(Input::Sent(turn, at)),
            LinkEvent::Closed(error) => Err(error.into()),
        }
    }
}
