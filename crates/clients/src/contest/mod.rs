//! Client of the contest protocol over TCP and WebSocket: plays one tournament game after another.
//!
//! `config` is its table in the configuration, `session` one connection, `game` one game; here is what
//! lasts longer: connecting, again and again.

use std::{
    num::NonZeroU32,
    time::{Duration, Instant},
};

use tokio::time::sleep;
use tracing::{Instrument, info, info_span, warn};

use zeitnot_net::{NetError, StatusCode};
use zeitnot_rules::{ByColor, Color, TimeControl};
use zeitnot_seat::Lobby;
use zeitnot_wire::{Message, contest::FromClient};

use super::{
    Protocol, ProtocolError, Shutdown,
    backoff::Backoff,
    link::{Link, LinkError},
    secret::Secret,
};

mod config;
mod game;
mod session;

pub use config::{Config, Patience, Player, Tournament};
use session::Session;

/// The protocol of class tournaments, as `chess-contest-server` speaks it.
#[derive(Debug)]
pub struct Contest;

/// A game that was offered to us.
#[derive(Clone, Debug)]
struct Paired {
    game: String,
    names: ByColor<String>,
    side: Color,
    time_control: TimeControl,
}

/// Why a session ended that we did not end.
#[derive(Debug, thiserror::Error)]
enum Lost {
    #[error("cannot connect: {0} (is the server running, and its address right?)")]
    Connect(NetError),
    #[error("{error}; its last words: {words:?}")]
    Dismissed { error: LinkError, words: String },
    #[error("nothing from the server for {0:?}")]
    Silent(Duration),
    #[error(transparent)]
    Link(#[from] LinkError),
}

impl Protocol for Contest {
    const NAME: &'static str = "contest";
    type Config = Config;

    fn count(_: &mut Config, _: NonZeroU32) -> Result<(), &'static str> {
        Err("its tournament says how many games there are")
    }

    async fn run(config: Config, lobby: Lobby, shutdown: Shutdown) -> Result<(), ProtocolError> {
        let span = info_span!("contest", server = %config.address, player = %config.player);
        stay(&config, &lobby, &shutdown).instrument(span).await
    }
}

/// Visits the server until told to stop. The pauses between visits grow until one visit lasted.
async fn stay(config: &Config, lobby: &Lobby, shutdown: &Shutdown) -> Result<(), ProtocolError> {
    let Patience { first_pause, longest_pause, steady, .. } = config.patience;
    let mut backoff = Backoff::new(first_pause, longest_pause, steady);
    loop {
        let began = Instant::now();
        let Err(lost) = visit(config, lobby, shutdown).await else { return Ok(()) };
        if let Some(refused) = hopeless(config, &lost) {
            return Err(refused);
        }
        let pause = backoff.pause(began.elapsed());
        warn!("{lost}; next try in {:.1} s", pause.as_secs_f64());
        if shutdown.soon.run_until_cancelled(sleep(pause)).await.is_none() {
            return Ok(());
        }
    }
}

/// One connection. `Ok`: we left, because we were told to.
async fn visit(config: &Config, lobby: &Lobby, shutdown: &Shutdown) -> Result<(), Lost> {
    let token = config.token.as_ref().map(Secret::hidden);
    let connecting = config.address.connect_with(token, config.patience.connect);
    let Some(connected) = shutdown.soon.run_until_cancelled(connecting).await else { return Ok(()) };
    let (reader, writer) = connected.map_err(Lost::Connect)?;
    info!("connected; joining tournament {}", config.tournament);
    let mut link = Link::new(reader, writer);
    let session = Session::new(config, lobby, &mut link).run(shutdown.soon.cancelled());
    let ended = shutdown.now.run_until_cancelled(session).await.unwrap_or(Ok(()));
    if ended.is_ok() {
        // The close says it as well, should this line not get through.
        let _ = link.send(FromClient::Disconnect.to_line(), None);
    }
    link.close().await;
    ended
}

/// Who shows a wrong token will not be let in with it the next time either.
fn hopeless(config: &Config, lost: &Lost) -> Option<ProtocolError> {
    match lost {
        Lost::Connect(error @ NetError::Http(StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN)) => {
            Some(ProtocolError::Refused {
                server: config.address.to_string(),
                what: error.to_string(),
                advice: "set this server's `token` in its [[server]] table, or ZEITNOT_TOKEN",
            })
        }
        _ => None,
    }
}
