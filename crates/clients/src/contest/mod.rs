//! Client of the contest protocol over TCP and WebSocket.
//!
//! `config` holds its keys of a `[[server]]` table, `connection` plays game after game on one connection, `game`
//! is one game.

use std::num::NonZeroU32;

use tokio_util::sync::CancellationToken;
use tracing::{Instrument, info, info_span};
use zeitnot_net::{NetError, StatusCode};
use zeitnot_seat::Lobby;
use zeitnot_wire::{Message, contest::FromClient};

use crate::{
    findings::Findings,
    link::Link,
    protocol::{Protocol, ProtocolError, Shutdown},
    secret::Secret,
    session::{self, ConnectionEnd, Session},
};

mod config;
mod connection;
mod game;

pub use config::{Config, Player, Timeouts, Tournament};
use connection::{Connection, ConnectionError};

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

    fn limit_games(_: &mut Config, _: NonZeroU32) -> Result<(), &'static str> {
        Err("its tournament determines the number of games")
    }

    async fn run(config: Config, lobby: Lobby, shutdown: Shutdown) -> Result<(), ProtocolError> {
        let span = info_span!("contest", server = %config.address, player = %config.player);
        let mut client = Client { config: &config, lobby, link: None, was_paired: false };
        session::run(&mut client, &config.timeouts.reconnect, &shutdown).instrument(span).await
    }
}

struct Client<'a> {
    config: &'a Config,
    lobby: Lobby,
    link: Option<Link>,
    /// The last connection brought a pairing.
    was_paired: bool,
}

impl Session for Client<'_> {
    type Error = ConnectionError;

    async fn connect_once(&mut self, stop: &CancellationToken) -> Result<ConnectionEnd, ConnectionError> {
        let config = self.config;
        self.was_paired = false;
        let token = config.token.as_ref().map(Secret::hidden);
        let connecting = config.address.connect_with(token, config.timeouts.connect);
        let Some(connected) = stop.run_until_cancelled(connecting).await else {
            return Ok(ConnectionEnd::Stopped);
        };
        let (reader, writer) = connected.map_err(ConnectionError::Connect)?;
        info!("connected; joining tournament {}", config.tournament);
        let link = self.link.insert(Link::new(reader, writer));
        let ended =
            Connection::new(config, &self.lobby, link, &mut self.was_paired).run(stop.cancelled()).await;
        if ended.is_err()
            && let Some(link) = self.link.take()
        {
            link.close().await;
        }
        ended.map(|()| ConnectionEnd::Stopped)
    }

    fn was_useful(&self) -> bool {
        self.was_paired
    }

    /// A wrong token stays wrong.
    fn refusal(&self, error: &ConnectionError) -> Option<ProtocolError> {
        match error {
            ConnectionError::Connect(
                error @ NetError::Http(StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN),
            ) => Some(ProtocolError::Refused {
                server: self.config.address.to_string(),
                what: error.to_string(),
                advice: "set this server's `token` in its [[server]] table, or ZEITNOT_TOKEN",
            }),
            _ => None,
        }
    }

    async fn leave(&mut self) {
        if let Some(link) = self.link.take() {
            // The close says it as well, should this line not get through.
            let _ = link.send(FromClient::Disconnect.to_line(), None);
            link.close().await;
        }
    }
}
