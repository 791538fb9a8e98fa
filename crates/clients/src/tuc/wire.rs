//! Inputs from the server: its datagrams, and whether it is still there.

use std::{io, time::Instant};

use tokio::select;
use tracing::debug;
use zeitnot_seat::Turn;
use zeitnot_wire::{
    Message,
    tuc::{FromClient, FromServer},
};

use super::{
    game::Game,
    local_server::{self, LocalServer},
    socket::Socket,
};
use crate::{
    drive::{Input, Wire},
    session::ConnectionLog,
    skipped::Skipped,
    wait::{now, until},
};

pub(super) struct TucWire<'a> {
    socket: Socket,
    log: &'a mut ConnectionLog,
    skipped: Skipped,
    /// The server, if it is on this machine, and when to look after it.
    local: Option<(LocalServer, Instant)>,
    /// Our name was sent or a seat came, maybe from another server: it is to be looked for.
    is_new: bool,
    is_seated: bool,
    /// Our last answer was handed to the socket then.
    sent: Option<(Turn, Instant)>,
}

impl<'a> TucWire<'a> {
    pub(super) fn new(socket: Socket, log: &'a mut ConnectionLog) -> TucWire<'a> {
        TucWire {
            socket,
            log,
            skipped: Skipped::default(),
            local: None,
            is_new: false,
            is_seated: false,
            sent: None,
        }
    }

    async fn find_local_server(&mut self) {
        self.local = match self.socket.local_server() {
            Some(address) => LocalServer::find(address).await,
            None => None,
        }
        .map(|server| (server, now() + local_server::INTERVAL));
    }

    /// Fails if the server is on this machine and its socket is closed. Cancel safe.
    async fn look_after_server(&mut self) -> io::Result<()> {
        let Some((server, at)) = &mut self.local else { return Ok(()) };
        *at = now() + local_server::INTERVAL;
        match server.is_there().await {
            true => Ok(()),
            false => Err(io::Error::new(io::ErrorKind::ConnectionRefused, "its socket is closed")),
        }
    }

    fn read(&mut self, datagram: &[u8]) -> Input<FromServer> {
        let read_at = Instant::now();
        let text = String::from_utf8_lossy(datagram);
        debug!("< {text:?}");
        match FromServer::parse(&text) {
            Ok(message) => {
                if let FromServer::Seat(_) = message {
                    self.is_new = true;
                    if !std::mem::replace(&mut self.is_seated, true) {
                        self.log.connected();
                    }
                }
                Input::Message(message, read_at)
            }
            Err(error) => {
                self.skipped.report(&error.to_string());
                Input::Unreadable
            }
        }
    }
}

impl Wire<Game<'_>> for TucWire<'_> {
    async fn send(&mut self, message: FromClient, answers: Option<Turn>) -> io::Result<()> {
        self.socket.send(&message.to_line()).await?;
        self.sent = answers.map(|turn| (turn, Instant::now())).or(self.sent);
        self.is_new |= matches!(message, FromClient::Name(_));
        Ok(())
    }

    async fn next(&mut self) -> io::Result<Input<FromServer>> {
        if let Some((turn, at)) = self.sent.take() {
            return Ok(Input::Sent(turn, at));
        }
        if self.is_new {
            self.find_local_server().await;
            self.is_new = false;
        }
        loop {
            let look_at = self.local.as_ref().map(|(_, at)| *at);
            select! {
                biased;
                datagram = self.socket.receive() => return Ok(self.read(&datagram?)),
                () = until(look_at) => self.look_after_server().await?,
            }
        }
    }
}
