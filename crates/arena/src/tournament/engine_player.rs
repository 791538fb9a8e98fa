//! Player of a tournament that the arena runs itself: it takes a seat in this process, and plays by an engine.

use std::time::Duration;

use tokio::{
    select,
    time::{Instant, sleep},
};
use tokio_util::sync::CancellationToken;
use zeitnot_engine::Clocks;
use zeitnot_host::tag::GameTag;
use zeitnot_net::wait::or_never;
use zeitnot_pairing::Name;
use zeitnot_rules::DynGame;
use zeitnot_web::play::{Finding, Found};

use super::{
    admission::{Applicant, JoinError, Proof},
    engines::TournamentEngine,
    registry::{Seat, TournamentRegistry},
};
use crate::{
    client::{Client, Outbox},
    message::{GameView, Notice, Request},
};

/// Pause between two attempts to join.
const RETRY: Duration = Duration::from_secs(30);

#[derive(Debug)]
pub(super) struct EnginePlayer {
    pub(super) tournament: Name,
    pub(super) name: Name,
    pub(super) engine: TournamentEngine,
}

/// Search for the move of a game. Dropping it stops the search.
struct Thinking {
    game: GameTag,
    finding: Finding,
}

impl EnginePlayer {
    /// Plays until `stop`, or until the tournament does not want the player any more.
    pub(super) async fn run(self, registry: TournamentRegistry, stop: CancellationToken) {
        let EnginePlayer { tournament, name, .. } = &self;
        let mut told = None;
        loop {
            let (client, outbox) = Client::channel(stop.child_token());
            let applicant = Applicant { name: name.clone(), proof: Proof::Account, client: client.clone() };
            match registry.join(tournament.as_str(), applicant).await {
                Ok(seat) => {
                    self.play(&seat, outbox).await;
                    client.close();
                    self.engine.rest();
                    seat.leave().await;
                    // Without a fault, only the end of the tournament or of the arena closes a connection.
                    let Some(fault) = client.fault() else { return };
                    tracing::warn!("{tournament}: engine {name} was disconnected: {fault}");
                }
                Err(error @ (JoinError::Removed { .. } | JoinError::Over(_) | JoinError::Unknown { .. })) => {
                    tracing::debug!(%error, "{tournament}: engine {name} plays no more");
                    return;
                }
                Err(error) => {
                    if told.as_ref() != Some(&error) {
                        tracing::warn!(
                            "{tournament}: engine {name} cannot join: {error}; trying again every 30 s"
                        );
                    }
                    told = Some(error);
                    let _ = stop.run_until_cancelled(sleep(RETRY)).await;
                }
            }
            if stop.is_cancelled() {
                return;
            }
        }
    }

    /// Plays games until the connection is closed.
    async fn play(&self, seat: &Seat, mut outbox: Outbox) {
        let (mut board, mut thinking) = (None::<DynGame>, None::<Thinking>);
        loop {
            let notice = select! {
                biased;
                notice = outbox.next() => notice,
                found = or_never(thinking.as_mut().map(|thinking| &mut thinking.finding)) => {
                    if let Some(Thinking { game, .. }) = thinking.take() {
                        self.answer(seat, game, found).await;
                    }
                    continue;
                }
            };
            match notice {
                None => return,
                Some(Notice::GamePaired { game, kind, .. }) => {
                    self.engine.prepare(kind);
                    seat.send(Request::Ack { game: game.to_string() }).await;
                }
                Some(Notice::GameStarted(view)) => {
                    board = view.info.position(&view.info.start_fen).ok();
                }
                Some(Notice::PlayerMoved { made, .. }) => {
                    board = board.and_then(|mut board| board.play(&made.mv).ok().map(|()| board));
                }
                Some(Notice::YourMove(view)) => {
                    let known = board.take().filter(|board| board.now() == view.fen);
                    // Without its history, a position is still worth a move.
                    board = known.or_else(|| view.info.position(&view.fen).ok());
                    thinking = board.as_ref().map(|board| self.think(board, &view));
                }
                Some(Notice::GameOver { .. } | Notice::GameAborted { .. }) => {
                    (board, thinking) = (None, None);
                    self.engine.rest();
                }
                Some(_) => {}
            }
        }
    }

    fn think(&self, board: &DynGame, view: &GameView) -> Thinking {
        let increment = view.info.time_control.map_or(Duration::ZERO, |time_control| time_control.increment);
        let read_at = Instant::now().into_std();
        let clocks = Clocks { left: view.left, increment, moves_to_go: None, read_at };
        Thinking { game: view.game, finding: self.engine.find(board, clocks) }
    }

    /// Plays the move that was found; resigns without one.
    async fn answer(&self, seat: &Seat, game: GameTag, found: Option<Found>) {
        let (game, read_at) = (game.to_string(), Instant::now());
        let request = match found {
            Some(Found { text, .. }) => Request::Move { game, mv: text, read_at },
            None => {
                let EnginePlayer { tournament, name, .. } = self;
                tracing::warn!("{tournament}: engine {name} has no move in game {game}: it resigns");
                Request::Resign { game, read_at }
            }
        };
        seat.send(request).await;
    }
}
