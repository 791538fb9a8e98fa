//! Client of IMCS, the Internet MiniChess Server: accepts or offers one game after another.
//!
//! `config` holds its keys of a `[[server]]` table, `connection` is a connection on which we are logged in, `seek` finds
//! a game there, `game` is its state machine with `board` and `verdict`, and `wire` brings its inputs. The server closes
//! after each game. A game whose connection was lost is taken up again, if the server still lists it and accepts that,
//! as our arena does.

use std::{num::NonZeroU32, time::Duration};

use tokio::{select, sync::watch};
use tokio_util::sync::CancellationToken;
use tracing::{Instrument, info_span};
use zeitnot_net::Contradictions;
use zeitnot_seat::{BlockOrder, Lobby, Order, OrderAnswer, OrderError, OrderKind, OrderQueue};

use crate::{
    findings::Findings,
    protocol::{Protocol, ProtocolError, Shutdown},
    session::{self, ConnectionEnd, ConnectionLog, Session},
    wait::now,
};

mod blocked;
mod board;
mod config;
mod connection;
mod game;
mod seek;
#[cfg(test)]
mod simulation;
mod start;
mod verdict;
mod wire;

use blocked::BlockedPlayers;
pub use config::{Accept, Config, Offer, Timeouts, User};
use connection::ConnectionError;
use seek::Progress;

/// Protocol of the MiniChess server of Portland State.
#[derive(Debug)]
pub struct Imcs;

impl Protocol for Imcs {
    const NAME: &'static str = "imcs";
    const PLAYER_KEY: Option<&'static str> = Some("user");
    type Config = Config;

    fn contradictions(config: &Config, found: &mut Contradictions) {
        config.contradictions(found);
    }

    fn check(_: &Config, _: &mut Findings) {}

    fn is_same_player(one: &Config, other: &Config) -> bool {
        (&one.address, &one.user) == (&other.address, &other.user)
    }

    fn limit_games(config: &mut Config, games: NonZeroU32) {
        config.games = Some(games);
    }

    fn takes(kind: OrderKind) -> Result<(), &'static str> {
        match kind {
            OrderKind::Challenge => Err(
                "IMCS has no challenges: games are offered to everybody, and the bot makes and accepts offers itself",
            ),
            OrderKind::Join => Err("IMCS has no tournaments"),
            OrderKind::Block => Ok(()),
        }
    }

    async fn run(
        config: watch::Receiver<Config>,
        lobby: Lobby,
        mut orders: OrderQueue,
        shutdown: Shutdown,
    ) -> Result<(), ProtocolError> {
        let config = config.borrow().clone();
        let span = info_span!("imcs", server = %config.address, user = %config.user);
        let blocked = BlockedPlayers::default();
        let mut client = Client {
            config: &config,
            lobby,
            blocked: blocked.clone(),
            progress: Progress::default(),
            played: 0,
        };
        let playing = session::run(&mut client, &config.timeouts.reconnect, &shutdown).instrument(span);
        let blocking = async {
            loop {
                let request = orders.next().await;
                let _ = request.answer.send(block(&blocked, &request.order));
            }
        };
        select! {
            ended = playing => ended,
            () = blocking => Ok(()),
        }
    }
}

fn block(blocked: &BlockedPlayers, order: &Order) -> OrderAnswer {
    match order {
        Order::Block(BlockOrder { player }) => {
            blocked.block(player)?;
            Ok(format!("offers of {player} are not accepted any more; {player} may still accept ours"))
        }
        Order::Unblock(BlockOrder { player }) => {
            blocked.unblock(player);
            Ok(format!("offers of {player} are accepted again, if the configuration allows it"))
        }
        Order::Challenge(_) => Err(not_there(OrderKind::Challenge)),
        Order::Join(_) => Err(not_there(OrderKind::Join)),
    }
}

fn not_there(kind: OrderKind) -> OrderError {
    OrderError::Conflict(Imcs::takes(kind).err().unwrap_or_default().to_owned())
}

struct Client<'a> {
    config: &'a Config,
    lobby: Lobby,
    blocked: BlockedPlayers,
    progress: Progress,
    played: u32,
}

impl Session for Client<'_> {
    type Error = ConnectionError;

    async fn connect_once(
        &mut self,
        stop: &CancellationToken,
        log: &mut ConnectionLog,
    ) -> Result<ConnectionEnd, ConnectionError> {
        let Client { config, lobby, blocked, progress, .. } = self;
        let end = seek::connect_once(config, lobby, stop, log, blocked, progress).await?;
        if end == ConnectionEnd::Completed {
            self.played += 1;
            if session::has_played_all(self.config.games, self.played) {
                return Ok(ConnectionEnd::Stopped);
            }
        }
        Ok(end)
    }

    fn time_left(&self) -> Option<Duration> {
        self.progress.lost_game.as_ref().and_then(|lost| lost.clock.time_left(now()))
    }

    fn has_lost_game(&self) -> bool {
        self.time_left().is_some()
    }

    fn refusal(&self, error: &ConnectionError) -> Option<ProtocolError> {
        let ConnectionError::Refused { what, advice } = error else { return None };
        Some(ProtocolError::Refused { server: self.config.address.to_string(), what: what.clone(), advice })
    }
}
