//! Client of the contest protocol over TCP and WebSocket.
//!
//! `config` holds its keys of a `[[server]]` table, `connection` is the state machine of one connection with its games,
//! `first_message` its wait for a first message, `game` one game, `wire` its lines on a socket.

use std::{num::NonZeroU32, time::Duration};

use tokio::{sync::watch, time::sleep};
use tokio_util::sync::CancellationToken;
use tracing::{Instrument, info, info_span};
use zeitnot_net::{NetError, StatusCode};
use zeitnot_seat::{Lobby, OrderKind, OrderQueue};
use zeitnot_wire::{Message, contest::FromClient};

use crate::{
    drive::{KeptSeat, drive},
    findings::Findings,
    link::Link,
    protocol::{Protocol, ProtocolError, Shutdown},
    session::{self, ConnectionEnd, ConnectionLog, Session},
    wait::now,
};

mod config;
mod connection;
mod error;
mod first_message;
mod game;
#[cfg(test)]
mod simulation;
mod wire;

pub use config::{Config, Player, Timeouts, Tournament};
use connection::{Connection, Progress};
use error::ConnectionError;
use wire::ContestWire;

/// Refusals of our `JOIN` in a row after which we leave.
const MAX_REFUSALS: u32 = 3;

/// Protocol of class tournaments, as spoken by `chess-contest-server`.
#[derive(Debug)]
pub struct Contest;

impl Protocol for Contest {
    const NAME: &'static str = "contest";
    const PLAYER_KEY: Option<&'static str> = Some("player");
    type Config = Config;

    fn check(config: &Config, findings: &mut Findings) {
        if config.token.is_some() && !config.address.is_loopback() {
            findings.warnings.push(format!("the token is sent unencrypted to {}", config.address));
        }
    }

    fn is_same_player(one: &Config, other: &Config) -> bool {
        (&one.address, &one.tournament, &one.player) == (&other.address, &other.tournament, &other.player)
    }

    fn limit_games(config: &mut Config, games: NonZeroU32) {
        config.games = Some(games);
    }

    fn takes(kind: OrderKind) -> Result<(), &'static str> {
        Err(match kind {
            OrderKind::Challenge => {
                "a contest server pairs its players itself: nobody can be challenged there"
            }
            OrderKind::Join => {
                "a contest server's table is for one tournament: add a [[server]] table with the other one, and restart"
            }
            OrderKind::Block => "a contest server pairs its players itself: nobody can be blocked there",
        })
    }

    async fn run(
        config: watch::Receiver<Config>,
        lobby: Lobby,
        _: OrderQueue,
        shutdown: Shutdown,
    ) -> Result<(), ProtocolError> {
        let config = config.borrow().clone();
        let Config { address, player, tournament, .. } = &config;
        let span = info_span!("contest", server = %address, %player, %tournament);
        let progress = Progress { games_left: config.games.map(NonZeroU32::get), ..Progress::default() };
        let mut client = Client {
            config: &config,
            lobby,
            link: None,
            progress,
            seat: KeptSeat::default(),
            is_over: false,
            is_known: false,
            refusals: 0,
        };
        session::run(&mut client, &config.timeouts.reconnect, &shutdown).instrument(span).await
    }
}

struct Client<'a> {
    config: &'a Config,
    lobby: Lobby,
    link: Option<Link>,
    progress: Progress,
    seat: KeptSeat,
    /// The tournament was over when we last asked, and that was reported.
    is_over: bool,
    /// We have been paired here: the server knows our tournament and name.
    is_known: bool,
    /// Refusals of our `JOIN` in a row.
    refusals: u32,
}

impl Client<'_> {
    /// Counts refusals of our `JOIN`. A server that has paired us before may hold our name for a connection that is
    /// lost, and will let us in again.
    fn count_refusals(&mut self, ended: &Result<Option<()>, ConnectionError>) {
        self.is_known |= self.progress.was_paired;
        self.refusals = match ended {
            Err(ConnectionError::JoinRefused(_)) if !self.is_known => self.refusals.saturating_add(1),
            _ => 0,
        };
    }

    /// Returns whether the server has refused us for good.
    fn is_refused(&self) -> bool {
        let limit = if self.config.games.is_some() { 1 } else { MAX_REFUSALS };
        self.refusals >= limit
    }

    /// Leaves, or waits before the server is asked again: the tournament may begin anew.
    async fn tournament_over(&mut self, said: &str, stop: &CancellationToken) -> ConnectionEnd {
        let Config { tournament, games, timeouts, .. } = self.config;
        if games.is_some() {
            info!("tournament {tournament} is over ({said:?}): leaving");
            return ConnectionEnd::Stopped;
        }
        let delay = timeouts.reconnect.max_delay;
        if !std::mem::replace(&mut self.is_over, true) {
            let seconds = delay.as_secs_f64();
            info!(
                "tournament {tournament} is over ({said:?}); asking every {seconds:.0} s whether it goes on"
            );
        }
        stop.run_until_cancelled(sleep(delay)).await;
        ConnectionEnd::Completed
    }
}

impl Session for Client<'_> {
    type Error = ConnectionError;

    async fn connect_once(
        &mut self,
        stop: &CancellationToken,
        log: &mut ConnectionLog,
    ) -> Result<ConnectionEnd, ConnectionError> {
        let config = self.config;
        self.progress.was_paired = false;
        self.seat.keep_for(self.progress.lost_game, now());
        let connecting = config.address.connect_with(config.token.as_ref(), config.timeouts.connect);
        let Some(connected) = stop.run_until_cancelled(connecting).await else {
            return Ok(ConnectionEnd::Stopped);
        };
        let (reader, writer) = connected.map_err(ConnectionError::Connect)?;
        if !self.is_over {
            info!("connected; joining tournament {}", config.tournament);
        }
        log.connected();
        let link = self.link.insert(Link::new(reader, writer));
        let mut connection = Connection::new(config, &mut self.progress, now());
        let mut wire = ContestWire::new(link);
        let ended = drive(&mut connection, &mut wire, &self.lobby, &mut self.seat, stop.cancelled()).await;
        let lost_game = connection.running();
        self.progress.lost_game = lost_game.or(self.progress.lost_game);
        self.seat.keep_for(self.progress.lost_game, now());
        if ended.is_err()
            && let Some(link) = self.link.take()
        {
            link.close().await;
        }
        self.count_refusals(&ended);
        match ended {
            Err(ConnectionError::TournamentOver(said)) => Ok(self.tournament_over(&said, stop).await),
            ended => {
                self.is_over = false;
                ended.map(|_| ConnectionEnd::Stopped)
            }
        }
    }

    fn was_useful(&self) -> bool {
        self.progress.was_paired
    }

    fn time_left(&self) -> Option<Duration> {
        self.progress.lost_game.and_then(|clock| clock.time_left(now()))
    }

    /// A wrong token stays wrong, and so do the kind of a port and a name that is refused again and again.
    fn refusal(&self, error: &ConnectionError) -> Option<ProtocolError> {
        let advice = match error {
            ConnectionError::Connect(NetError::Http(StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN)) => {
                "set this server's `token` in its [[server]] table, or ZEITNOT_TOKEN"
            }
            ConnectionError::Connect(NetError::NotWebSocket) => {
                "set `address` in its [[server]] table to tcp://host:port, or to the server's WebSocket port"
            }
            ConnectionError::NotTcp(_) => {
                "set `address` in its [[server]] table to ws://host:port, or to the server's TCP port"
            }
            ConnectionError::JoinRefused(_) if self.is_refused() => {
                "check `tournament`, `player` and `key` in its [[server]] table"
            }
            _ => return None,
        };
        let what = match error {
            ConnectionError::Connect(error) => error.to_string(),
            error => error.to_string(),
        };
        Some(ProtocolError::Refused { server: self.config.address.to_string(), what, advice })
    }

    async fn leave(&mut self) {
        if let Some(link) = self.link.take() {
            // The close says it as well, should this line not get through.
            let _ = link.send(FromClient::Disconnect.to_line(), None);
            link.close().await;
        }
    }
}
