//! Client of Cerveau, the game server of Missouri S&T: joins a session, plays a game, and connects again for the next.
//!
//! `config` holds its keys of a `[[server]]` table, `game` is the state machine of one connection, and `wire` brings its
//! messages. A game whose connection is lost is lost on the server, too.

use std::num::NonZeroU32;

use tokio::{sync::watch, time::sleep};
use tokio_util::sync::CancellationToken;
use tracing::{Instrument, info_span};
use zeitnot_seat::{Lobby, OrderKind, OrderQueue};
use zeitnot_wire::cerveau::{END, MAX_MESSAGE};

use crate::{
    drive::{KeptSeat, drive},
    findings::Findings,
    link::Link,
    protocol::{Protocol, ProtocolError, Shutdown},
    session::{self, ConnectionEnd, ConnectionLog, Session},
    wait::now,
};

mod config;
mod error;
mod game;
#[cfg(test)]
mod simulation;
mod wire;

pub use config::{Config, Name, Timeouts};
use error::ConnectionError;
use game::Game;
use wire::CerveauWire;

/// Protocol of the game server of Missouri S&T.
#[derive(Debug)]
pub struct Cerveau;

impl Protocol for Cerveau {
    const NAME: &'static str = "cerveau";
    const PLAYER_KEY: Option<&'static str> = Some("player");
    type Config = Config;

    fn check(_: &Config, _: &mut Findings) {}

    /// The server allows several players of one name; but a table that is there twice is a mistake.
    fn is_same_player(one: &Config, other: &Config) -> bool {
        (&one.address, &one.player, &one.session) == (&other.address, &other.player, &other.session)
    }

    fn limit_games(config: &mut Config, games: NonZeroU32) {
        config.games = Some(games);
    }

    fn takes(kind: OrderKind) -> Result<(), &'static str> {
        Err(match kind {
            OrderKind::Challenge => {
                "on a Cerveau server players who name the same session meet: set `session` in its [[server]] table"
            }
            OrderKind::Join => "a Cerveau server has no tournaments that can be joined",
            OrderKind::Block => "a Cerveau server seats whoever comes: nobody can be blocked there",
        })
    }

    async fn run(
        config: watch::Receiver<Config>,
        lobby: Lobby,
        _: OrderQueue,
        shutdown: Shutdown,
    ) -> Result<(), ProtocolError> {
        let config = config.borrow().clone();
        let span = info_span!("cerveau", server = %config.address, player = %config.player);
        let mut client = Client { config: &config, lobby, played: 0 };
        session::run(&mut client, &config.timeouts.reconnect, &shutdown).instrument(span).await
    }
}

struct Client<'a> {
    config: &'a Config,
    lobby: Lobby,
    played: u32,
}

impl Client<'_> {
    /// Waits until a game could be played: one that begins without a player is lost. The seat is not reserved, as the
    /// opponent may be long in coming: if another game takes it, the session is left.
    async fn free_seat(&self) {
        let mut changes = self.lobby.seats().changes();
        while !self.lobby.seats().has_free() {
            changes.next().await;
        }
    }

    async fn connect(&self) -> Result<Link, ConnectionError> {
        self.free_seat().await;
        let Config { address, timeouts, .. } = self.config;
        let connected = address.connect_ended_by(END, MAX_MESSAGE, timeouts.connect).await;
        let (reader, writer) = connected.map_err(ConnectionError::Connect)?;
        Ok(Link::new(reader, writer))
    }
}

impl Session for Client<'_> {
    type Error = ConnectionError;

    async fn connect_once(
        &mut self,
        stop: &CancellationToken,
        log: &mut ConnectionLog,
    ) -> Result<ConnectionEnd, ConnectionError> {
        let Some(connected) = stop.run_until_cancelled(self.connect()).await else {
            return Ok(ConnectionEnd::Stopped);
        };
        let mut link = connected?;
        let mut game = Game::new(self.config, now());
        let mut wire = CerveauWire::new(&mut link, log);
        // A game ends with its connection.
        let seat = &mut KeptSeat::default();
        let ended = drive(&mut game, &mut wire, &self.lobby, seat, stop.cancelled()).await;
        link.close().await;
        if !game.has_ended {
            // Without a free seat it left by itself, and joins again once one is free.
            let end = |left: Option<()>| left.map_or(ConnectionEnd::Stopped, |()| ConnectionEnd::Completed);
            return ended.map(end);
        }
        self.played += 1;
        if session::has_played_all(self.config.games, self.played) {
            return Ok(ConnectionEnd::Stopped);
        }
        stop.run_until_cancelled(sleep(self.config.timeouts.between_games)).await;
        Ok(ConnectionEnd::Completed)
    }

    fn refusal(&self, error: &ConnectionError) -> Option<ProtocolError> {
        let ConnectionError::Refused { what, advice } = error else { return None };
        Some(ProtocolError::Refused { server: self.config.address.to_string(), what: what.clone(), advice })
    }
}
