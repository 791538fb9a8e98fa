//! The bot: a player for each game that a protocol brings, which always answers before the deadline.

#[cfg(test)]
#[macro_use]
extern crate zeitnot_testing;

use std::future::pending;

use tokio::{
    select,
    sync::{mpsc, watch},
};
use tokio_util::{
    sync::CancellationToken,
    task::{AbortOnDropHandle, TaskTracker},
};

use zeitnot_engine::{PlayVisitor, Playable, with_game};
use zeitnot_rules::GameError;
use zeitnot_seat::{Declined, GameInfo, Lobby, OpenSeat, Reservation, Seat, Seats};

mod activity;
mod board;
pub mod cache;
pub mod choice;
mod clock;
mod config;
mod context;
mod lag;
mod load;
pub mod metrics;
pub mod network;
mod player;
pub mod policy;
mod ponder;
mod request;
mod search;
pub mod sources;
mod status;
pub mod syzygy;

pub use activity::Activity;
use board::{Board, TypedBoard};
pub use config::Config;
pub use context::BotContext;
use player::Player;
pub use status::{Answer, GameLine, GameStatus, MoveOrigin, ThoughtStatus};

/// The actor behind a [`Lobby`]: gives each game a player.
pub struct Bot {
    games: mpsc::Receiver<OpenSeat>,
    seats: Seats,
    players: TaskTracker,
    context: BotContext,
    /// Later configurations.
    updates: Option<watch::Receiver<Config>>,
}

/// Games that may wait for a player.
const WAITING_GAMES: usize = 16;
/// Events that a player may be behind; a game brings one or two a second.
const WAITING_EVENTS: usize = 64;
/// Answers that may wait for the protocol. An event has one at most, and the last one is the one that counts.
const WAITING_ACTIONS: usize = WAITING_EVENTS;

impl Bot {
    /// Creates a bot whose players share this context, and the lobby that brings it games.
    pub fn channel(context: BotContext) -> (Lobby, Bot) {
        let (lobby, games) = Lobby::channel(WAITING_GAMES);
        let seats = Seats::new(context.config.max_games);
        (
            lobby.with_seats(seats.clone()),
            Bot { games, seats, players: TaskTracker::new(), context, updates: None },
        )
    }

    /// Takes the reloadable keys from these configurations, for the games that begin then.
    #[must_use]
    pub fn with_updates(self, updates: watch::Receiver<Config>) -> Bot {
        Bot { updates: Some(updates), ..self }
    }

    /// Starts players until the lobby is dropped or `shutdown` is cancelled; returns when the last game has ended.
    pub async fn run(mut self, shutdown: CancellationToken) {
        let lags = self.context.lags.clone();
        let load = self.context.load.clone();
        let _watch = AbortOnDropHandle::new(tokio::spawn(lags.watch(load)));
        loop {
            let request = select! {
                biased;
                () = shutdown.cancelled() => break,
                () = changed(&mut self.updates) => {
                    self.update();
                    continue;
                }
                request = self.games.recv() => request,
            };
            let Some(OpenSeat { info, reply, reservation }) = request else { break };
            metrics::waiting_games(self.games.len());
            let seat = self.open(info, reservation);
            if let Err(declined) = &seat {
                // The client reports it, once for many games.
                tracing::debug!("{declined}");
            }
            let _ = reply.send(seat);
        }
        self.games.close();
        self.players.close();
        self.players.wait().await;
    }

    /// Goes on by the latest configuration.
    fn update(&mut self) {
        if let Some(updates) = &mut self.updates {
            self.context.config.update(&updates.borrow_and_update());
            self.seats.set_max(self.context.config.max_games);
        }
    }

    fn open(&self, info: GameInfo, reservation: Reservation) -> Result<Seat, Declined> {
        let opening = OpenBoard { info: &info, context: &self.context };
        let opened = with_game(info.game, opening).map_err(|error| Declined(error.to_string()))?;
        let (board, context) = opened;
        let (events, from_protocol) = mpsc::channel(WAITING_EVENTS);
        let (to_protocol, actions) = mpsc::channel(WAITING_ACTIONS);
        let engine = context.factory.name();
        tracing::debug!(game = %info.id, engine, "player started");
        let player = Player::new(info, board, context, to_protocol);
        self.players.spawn(async move {
            player.run(from_protocol).await;
            drop(reservation);
        });
        Ok(Seat { engine, events, actions })
    }
}

/// Waits for another configuration, forever if none can come. Cancel safe.
async fn changed(updates: &mut Option<watch::Receiver<Config>>) {
    if let Some(watched) = updates {
        if watched.changed().await.is_ok() {
            return;
        }
        *updates = None;
    }
    pending().await
}

/// Sets up the board of a game and chooses its engine: the only place where the bot depends on the type of a game.
struct OpenBoard<'b> {
    info: &'b GameInfo,
    context: &'b BotContext,
}

impl PlayVisitor for OpenBoard<'_> {
    type Out = Result<(Box<dyn Board>, BotContext), GameError>;

    fn visit<G: Playable>(self, start: G) -> Self::Out {
        let root = match &self.info.start {
            Some(text) => start.parse_position(text)?,
            None => start,
        };
        let context = self.context.for_game(self.info, &root);
        Ok((Box::new(TypedBoard::new(root, context.factory.clone())), context))
    }
}
