//! Tasks of the running games, and the account's ends of their signals.

use std::collections::HashMap;

use tokio::sync::{mpsc, oneshot, watch};
use tokio_util::{sync::CancellationToken, task::JoinMap};
use tracing::{Instrument, info_span};
use zeitnot_seat::{Opponent, Reservation};
use zeitnot_wire::lichess::GameId;

use crate::lichess::game::{
    context::{GameContext, GameEnd, GameSignals},
    result::GameFinish,
    session as game,
};

#[derive(Default)]
pub(crate) struct GameTasks {
    tasks: JoinMap<GameId, GameEnd>,
    signals: HashMap<GameId, Signals>,
}

struct Signals {
    finished: mpsc::Sender<GameFinish>,
    slot_wanted: CancellationToken,
    seat: watch::Sender<Option<Reservation>>,
}

impl GameTasks {
    /// Starts the task of a game. Returns the receiver of the kind of opponent.
    pub(crate) fn begin(&mut self, id: GameId, context: &GameContext) -> oneshot::Receiver<Opponent> {
        let (finished, told) = mpsc::channel(1);
        let (seat, seated) = watch::channel(None);
        let (sender, opponent) = oneshot::channel();
        let slot_wanted = CancellationToken::new();
        let signals =
            GameSignals { finished: told, slot_wanted: slot_wanted.clone(), opponent: Some(sender) };
        self.signals.insert(id, Signals { finished, slot_wanted, seat });
        let context = GameContext { seat: seated, ..context.clone() };
        let span = info_span!("game", id = %id);
        self.tasks.spawn(id, game::play(context, id, signals).instrument(span));
        opponent
    }

    /// Returns the next game whose task has ended; its end is `None` if it crashed. `None`: no game runs. Cancel safe.
    pub(crate) async fn next(&mut self) -> Option<(GameId, Option<GameEnd>)> {
        let (id, end) = self.tasks.join_next().await?;
        self.signals.remove(&id);
        Some((id, end.ok()))
    }

    pub(crate) fn seat(&self, id: GameId, seat: Reservation) {
        if let Some(game) = self.signals.get(&id) {
            game.seat.send_replace(Some(seat));
        }
    }

    pub(crate) fn finish(&self, id: GameId, finish: GameFinish) {
        if let Some(game) = self.signals.get(&id) {
            // Once is enough.
            let _ = game.finished.try_send(finish);
        }
    }

    pub(crate) fn request_slot(&self, id: GameId) {
        if let Some(game) = self.signals.get(&id) {
            game.slot_wanted.cancel();
        }
    }
}
