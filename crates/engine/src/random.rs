//! Thinker that plays random legal moves.

use std::time::Duration;

use zeitnot_rules::Game;

use super::{Best, Report, Score, Task, Thinker};

/// Plays random legal moves.
#[derive(Copy, Clone, Debug, Default)]
pub struct RandomMover;

impl<G: Game> Thinker<G> for RandomMover {
    fn think(&mut self, task: &Task<'_, G>) -> Report {
        let position = task.game.now();
        let mut moves = position.moves();
        let wanted = &task.limits.root_moves;
        moves.retain(|mv| wanted.is_empty() || wanted.contains(&position.pack(*mv)));
        if let Some(&mv) = fastrand::choice(&moves) {
            task.best.publish(Best { mv: position.pack(mv), score: Score::ZERO, depth: 0 });
        }
        Report { nodes: 1, depth: 0, time: Duration::ZERO }
    }
}
