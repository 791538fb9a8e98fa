//! Client of IMCS, the Internet MiniChess Server: accepts or offers one game after another.
//!
//! `config` is its table in the configuration, `talk` a connection, `session` finds a game on it, `game`
//! plays it; here is what lasts longer: connecting, again and again, as the server closes after each game.

use std::{
    num::NonZeroU32,
    time::{Duration, Instant},
};

use tokio::time::sleep;
use tracing::{Instrument, info, info_span, warn};

use zeitnot_net::NetError;
use zeitnot_seat::Lobby;

use super::{Protocol, ProtocolError, Shutdown, backoff::Backoff, link::LinkError};

mod config;
mod game;
mod session;
mod talk;

pub use config::{Accept, Config, Offer, Patience, User};
use session::{Duds, Visit, visit};

/// The protocol of the MiniChess server of Portland State.
#[derive(Debug)]
pub struct Imcs;

/// Why a visit ended that we did not end.
#[derive(Debug, thiserror::Error)]
enum Lost {
    #[error("cannot connect: {0} (is the server running, and its address right?)")]
    Connect(NetError),
    #[error("{error}; its last words: {words:?}")]
    Dismissed { error: LinkError, words: String },
    #[error("nothing from the server within {0:?} of when it should have spoken")]
    Silent(Duration),
    #[error(transparent)]
    Link(#[from] LinkError),
    #[error("expected {wanted}, but the server says {got:?}")]
    Unexpected { wanted: &'static str, got: String },
    /// The offer was dead.
    #[error("the game did not begin, its other player is gone: {0:?}")]
    NoGame(String),
    #[error("the game was resigned: {0}")]
    NoPlayer(String),
    #[error("the game was broken off: {0:?}")]
    BrokenOff(String),
    /// It would not be better the next time.
    #[error("{what}")]
    Refused { what: String, advice: &'static str },
}

impl Protocol for Imcs {
    const NAME: &'static str = "imcs";
    type Config = Config;

    fn count(config: &mut Config, games: NonZeroU32) -> Result<(), &'static str> {
        config.games = Some(games);
        Ok(())
    }

    async fn run(config: Config, lobby: Lobby, shutdown: Shutdown) -> Result<(), ProtocolError> {
        let span = info_span!("imcs", server = %config.address, user = %config.user);
        let stay = stay(&config, &lobby, &shutdown).instrument(span);
        shutdown.now.run_until_cancelled(stay).await.unwrap_or(Ok(()))
    }
}

/// Visits the server until told to stop, or until enough was played.
async fn stay(config: &Config, lobby: &Lobby, shutdown: &Shutdown) -> Result<(), ProtocolError> {
    let Patience { first_pause, longest_pause, steady, .. } = config.patience;
    let mut backoff = Backoff::new(first_pause, longest_pause, steady);
    let (mut duds, mut played) = (Duds::default(), 0);
    while !shutdown.soon.is_cancelled() {
        let began = Instant::now();
        let lost = match visit(config, lobby, &shutdown.soon, &mut duds).await {
            Ok(Visit::Left) => return Ok(()),
            Ok(Visit::Played) => {
                played += 1;
                backoff.reset();
                if config.games.is_some_and(|games| games.get() == played) {
                    info!("{played} games are played, as the configuration wants it");
                    return Ok(());
                }
                continue;
            }
            Err(Lost::Refused { what, advice }) => {
                return Err(ProtocolError::Refused { server: config.address.to_string(), what, advice });
            }
            Err(lost) => lost,
        };
        let pause = backoff.pause(began.elapsed());
        warn!("{lost}; next try in {:.1} s", pause.as_secs_f64());
        shutdown.soon.run_until_cancelled(sleep(pause)).await;
    }
    Ok(())
}
