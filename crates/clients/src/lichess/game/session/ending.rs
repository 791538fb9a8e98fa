//! The end of a game: as its stream tells it, as the account hears of it, given up, or suspended.

use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;
use zeitnot_seat::Event;
use zeitnot_wire::lichess::{GameState, Status};

use super::{GameSession, Next};
use crate::{
    lichess::{
        HttpError,
        chat::sender::GameDetails,
        game::{
            actions::GameAction,
            context::GameEnd,
            desync::give_up,
            idle::suspended,
            result::{self, GameFinish},
        },
    },
    wait::or_never,
};

/// Time for the game's stream to tell an end that the account has heard of.
const RESULT_TIMEOUT: Duration = Duration::from_secs(2);

/// The end as the account hears of it, and until when the stream may tell it.
#[derive(Debug)]
pub(super) struct AwaitedEnd {
    pub(super) until: Instant,
    finish: GameFinish,
}

impl Next {
    pub(super) fn suspend() -> Next {
        Next::End("suspended until the opponent moves".to_owned(), GameEnd::Suspended)
    }
}

impl GameSession {
    /// Returns the result if the game is over, as its stream tells.
    pub(super) fn told_end(&self) -> Option<Next> {
        let GameState { status, winner, .. } = &self.state;
        status.is_over().then(|| Next::End(result::describe(status, *winner), GameEnd::Over))
    }

    /// The server says that the game is over and no more. It may have ended by our last move, which was not told then, or
    /// by something that nobody tells.
    pub(super) fn ended_untold(&mut self) {
        let moves = self.last_sent.map(|mv| format!("{} {}", self.state.moves, self.tracker.write(mv)));
        let ended = moves.and_then(|moves| self.ended_by(GameState { moves, ..self.state.clone() }));
        self.state =
            ended.unwrap_or_else(|| GameState { status: Status::UnknownFinish, ..self.state.clone() });
    }

    /// Returns a state with its result, if its moves end the game.
    fn ended_by(&mut self, state: GameState) -> Option<GameState> {
        self.tracker.follow(&state).ok()?;
        let (status, winner) = result::by_rules(self.tracker.outcome())?;
        Some(GameState { status, winner, ..state })
    }

    /// Ends a game that we have left, where no stream tells it.
    pub(super) fn left_by(&mut self, action: GameAction) {
        match action {
            GameAction::Resign => {
                (self.state.status, self.state.winner) = (Status::Resign, Some(!self.info.side));
            }
            GameAction::Abort => self.state.status = Status::Aborted,
            _ => {}
        }
    }

    /// Gives the stream some time to tell an end that the account has heard of.
    pub(super) fn await_end(&mut self, finish: GameFinish) -> Next {
        self.awaited_end = Some(AwaitedEnd { until: Instant::now() + RESULT_TIMEOUT, finish });
        Next::Wait
    }

    /// Ends the game as the account has heard; waits if it has heard nothing.
    pub(super) fn known_end(&mut self) -> Next {
        let Some(AwaitedEnd { finish, .. }) = self.awaited_end.take() else { return Next::Wait };
        let result = finish.describe();
        if let GameFinish::Told { status, winner } = finish
            && status.is_over()
        {
            (self.state.status, self.state.winner) = (status, winner);
        }
        Next::End(result, GameEnd::Over)
    }

    /// The server refuses the game's stream for good.
    pub(super) fn closed(&mut self, error: &HttpError) -> Next {
        match self.awaited_end {
            Some(_) => self.known_end(),
            None => Next::End(format!("unknown: {error}"), GameEnd::Over),
        }
    }

    /// Leaves a game that cannot be continued.
    pub(super) async fn give_up(&mut self, why: String) -> Next {
        let plies = self.state.played().count();
        match give_up(&self.context.http, self.id, plies, &why).await {
            Some(GameAction::Abort) => self.state.status = Status::Aborted,
            Some(_) => {
                let winner = !self.info.side;
                (self.state.status, self.state.winner) = (Status::Resign, Some(winner));
            }
            None => {}
        }
        Next::End(why, GameEnd::Over)
    }

    /// Records the result, and tells it to the player and in the chat.
    pub(super) async fn end(mut self, result: String, end: GameEnd) -> GameEnd {
        self.update_record();
        if end == GameEnd::Over {
            self.chat(GameDetails::Ended);
        }
        if let Some(record) = self.record.take() {
            match end {
                GameEnd::Over => self.context.pgn.write(record),
                _ => self.context.pgn.suspend(record),
            }
        }
        let outcome = result::outcome(&self.state.status, self.state.winner);
        let _ = self.player.send(Event::Ended { result, outcome }).await;
        end
    }

    /// Ends when this game is to be suspended.
    pub(super) fn suspended(&self, slot_wanted: &CancellationToken) -> impl Future<Output = ()> + use<> {
        let is_busy = !self.sending.is_empty() || !self.actions.tasks.is_empty();
        let idle_since = self.idle_since.filter(|_| !is_busy);
        let rules = self.context.rules.correspondence;
        or_never(
            self.is_correspondence().then(|| suspended(rules, idle_since, self.read_at, slot_wanted.clone())),
        )
    }

    /// Records the state, once the player knows it.
    pub(super) fn update_record(&mut self) {
        if let Some(record) = &mut self.record {
            record.update(self.state.clone());
        }
    }
}
