//! Client of TUC-Chess over UDP: sends a name, gets a seat, plays a game.
//!
//! `config` holds its keys of a `[[server]]` table, `game` is the state machine of one `socket`, `playing` its running
//! game, and `wire` brings its inputs. `silence` reports that nothing comes; `local_server` notices the end of a server on
//! this machine.
//!
//! Datagrams get lost, and the protocol has no way to ask again: losses are made good where possible; otherwise the game
//! is left with a warning.

use std::num::NonZeroU32;

use tokio::{sync::watch, time::sleep};
use tokio_util::sync::CancellationToken;
use tracing::{Instrument, info, info_span};
use zeitnot_net::Contradictions;
use zeitnot_seat::{Lobby, OrderKind, OrderQueue};

use crate::{
    drive::{KeptSeat, drive},
    findings::Findings,
    protocol::{Protocol, ProtocolError, Shutdown},
    session::{self, ConnectionEnd, ConnectionLog, Session},
    wait::now,
};

mod config;
mod end;
mod game;
mod local_server;
mod playing;
mod silence;
#[cfg(test)]
mod simulation;
mod socket;
mod wire;

pub use config::{Config, Name, Timeouts};
use end::GameError;
use game::Game;
use socket::Socket;
use wire::TucWire;

/// Protocol of the course server of the Technical University of Crete.
#[derive(Debug)]
pub struct TucChess;

impl Protocol for TucChess {
    const NAME: &'static str = "tuc";
    const PLAYER_KEY: Option<&'static str> = Some("player");
    type Config = Config;

    fn contradictions(config: &Config, found: &mut Contradictions) {
        config.contradictions(found);
    }

    fn check(_: &Config, _: &mut Findings) {}

    fn is_same_player(one: &Config, other: &Config) -> bool {
        (&one.address, &one.player) == (&other.address, &other.player)
    }

    fn limit_games(config: &mut Config, games: NonZeroU32) {
        config.games = games;
    }

    fn takes(kind: OrderKind) -> Result<(), &'static str> {
        Err(match kind {
            OrderKind::Challenge | OrderKind::Block => {
                "a TUC-Chess server seats whoever comes: nobody can be challenged or blocked there"
            }
            OrderKind::Join => "a TUC-Chess server has no tournaments that can be joined",
        })
    }

    async fn run(
        config: watch::Receiver<Config>,
        lobby: Lobby,
        _: OrderQueue,
        shutdown: Shutdown,
    ) -> Result<(), ProtocolError> {
        let config = config.borrow().clone();
        let span = info_span!("tuc", server = %config.address, player = %config.player);
        let mut client = Client { config: &config, lobby, remaining: config.games.get() };
        session::run(&mut client, &config.timeouts.reconnect, &shutdown).instrument(span).await
    }
}

struct Client<'a> {
    config: &'a Config,
    lobby: Lobby,
    remaining: u32,
}

impl Session for Client<'_> {
    type Error = GameError;

    async fn connect_once(
        &mut self,
        stop: &CancellationToken,
        log: &mut ConnectionLog,
    ) -> Result<ConnectionEnd, GameError> {
        let socket = Socket::open(&self.config.address).await?;
        let mut game = Game::new(self.config, now());
        let mut wire = TucWire::new(socket, log);
        // A game ends with its connection.
        let seat = &mut KeptSeat::default();
        let Some(result) = drive(&mut game, &mut wire, &self.lobby, seat, stop.cancelled()).await? else {
            return Ok(ConnectionEnd::Stopped);
        };
        self.remaining -= 1;
        info!("{result}; {} more to play", self.remaining);
        if self.remaining == 0 {
            return Ok(ConnectionEnd::Stopped);
        }
        // A server that ends with its game would take our name, and give no seat.
        stop.run_until_cancelled(sleep(self.config.timeouts.between_games)).await;
        Ok(ConnectionEnd::Completed)
    }
}
