//! Part of a game that a class tournament referees.

use std::time::Duration;

use tokio::time::Instant;
use zeitnot_host::tag::GameTag;
use zeitnot_rules::{ByColor, Color, MoveText};
use zeitnot_wire::lichess::UserId;

use super::Game;

/// A game that a class tournament referees.
#[derive(Clone, Debug)]
pub(in crate::lichess) struct ClassGame {
    pub(in crate::lichess) tag: GameTag,
    /// The account whose messages are applied; those of the other one only repeat them.
    pub(in crate::lichess) witness: UserId,
    /// Ply at which a move was last passed on.
    pub(in crate::lichess) passed_on: Option<usize>,
}

impl Game {
    pub(in crate::lichess) fn is_class_game(&self, tag: GameTag) -> bool {
        self.class.as_ref().is_some_and(|class| class.tag == tag)
    }

    /// Applies a move that the tournament's referee has accepted.
    pub(in crate::lichess) fn apply_refereed(&mut self, text: &str, left: ByColor<Duration>, now: Instant) {
        let mover = self.hosted.referee.turn();
        if self.hosted.referee.replay(text, Some(left[mover]), None).is_err() {
            return tracing::error!("Lichess: game {}: the referee's move {text} is not legal here", self.id);
        }
        if !self.board().outcome().is_over() {
            self.set_clocks(left, now);
            self.tell_state(now);
        }
    }

    pub(in crate::lichess) fn set_clocks(&mut self, left: ByColor<Duration>, now: Instant) {
        let color = self.hosted.referee.turn();
        let clock = &mut self.hosted.referee.clock;
        clock.set(left);
        clock.start(color, now);
    }

    /// Checks a move that is passed on to the tournament's referee.
    pub(in crate::lichess) fn pass_on(&mut self, color: Color, text: &str) -> Result<MoveText, String> {
        let mv = self.read_move(color, text);
        let ply = self.hosted.referee.plies.len();
        match &mut self.class {
            Some(class) if class.passed_on != Some(ply) => {
                class.passed_on = mv.is_ok().then_some(ply).or(class.passed_on);
                mv
            }
            _ => Err("Not your turn, or game already over".to_owned()),
        }
    }
}
