//! Client of TUC-Chess over UDP: sends a name, gets a seat, plays a game.
//!
//! `config` holds its keys of a `[[server]]` table, `game` plays one game on one `socket`. Datagrams get lost, and the
//! protocol has no way to ask again: losses are made good where possible; otherwise the game is left with a warning.

use std::{num::NonZeroU32, time::Duration};

use tokio_util::sync::CancellationToken;
use tracing::{Instrument, debug, info, info_span, warn};
use zeitnot_seat::Lobby;

use crate::{
    findings::Findings,
    protocol::{Protocol, ProtocolError, Shutdown},
    session::{self, ConnectionEnd, Session},
};

mod config;
mod game;
mod socket;

pub use config::{Config, Name, Timeouts};
use game::{Game, GameError};
use socket::Socket;

/// Protocol of the course server of the Technical University of Crete.
#[derive(Debug)]
pub struct TucChess;

impl Protocol for TucChess {
    const NAME: &'static str = "tuc";
    const PLAYER_KEY: Option<&'static str> = Some("player");
    type Config = Config;

    fn check(_: &Config, _: &mut Findings) {}

    fn is_same_player(one: &Config, other: &Config) -> bool {
        (&one.address, &one.player) == (&other.address, &other.player)
    }

    fn limit_games(config: &mut Config, games: NonZeroU32) {
        config.games = games;
    }

    async fn run(config: Config, lobby: Lobby, shutdown: Shutdown) -> Result<(), ProtocolError> {
        let span = info_span!("tuc", server = %config.address, player = %config.player);
        let mut client = Client { config: &config, lobby, remaining: config.games.get(), is_waiting: false };
        session::run(&mut client, &config.timeouts.reconnect, &shutdown).instrument(span).await
    }
}

struct Client<'a> {
    config: &'a Config,
    lobby: Lobby,
    remaining: u32,
    /// The last attempt failed, and that was reported.
    is_waiting: bool,
}

impl Session for Client<'_> {
    type Error = GameError;

    async fn connect_once(&mut self, stop: &CancellationToken) -> Result<ConnectionEnd, GameError> {
        let socket = Socket::open(&self.config.address).await?;
        let Some(result) = Game::new(self.config, socket).run(&self.lobby, stop).await? else {
            return Ok(ConnectionEnd::Stopped);
        };
        self.remaining -= 1;
        self.is_waiting = false;
        info!("{result}; {} more to play", self.remaining);
        Ok(if self.remaining == 0 { ConnectionEnd::Stopped } else { ConnectionEnd::Completed })
    }

    /// Reports a missing server once, not with every attempt until it is started.
    fn report(&mut self, error: &GameError, delay: Duration) {
        let delay = delay.as_secs_f64();
        match error {
            GameError::NoServer(_) if self.is_waiting => debug!("{error}; reconnecting in {delay:.1} s"),
            _ => warn!("{error}; reconnecting in {delay:.1} s"),
        }
        self.is_waiting = true;
    }
}
