//! Another engine's scores for the quiet positions of games.

use std::{
    ops::ControlFlow,
    sync::Arc,
    time::{Duration, Instant},
};

use zeitnot_engine::{Decision, Limits, Score, StopFlag, Task};
use zeitnot_external::{Fault, MatchEngine, Program, Reply};
use zeitnot_rules::{Color, Game, GameHistory, Packed, Tactics, chess::Chess};

use super::{BadGame, GameRecord, PlayedGame, UNSCORED};

/// Times that a position is asked for; before each but the first, the engine is started anew.
const ATTEMPTS: usize = 3;
/// Time for a position, …
const PATIENCE: Duration = Duration::from_secs(10);
/// … and this for each node in addition.
const PATIENCE_PER_NODE: Duration = Duration::from_micros(100);

/// An engine that gives scores.
pub struct Teacher {
    engine: MatchEngine,
    nodes: u64,
}

/// Reason why a game has no new scores.
#[derive(Debug, thiserror::Error)]
pub enum TeacherError {
    #[error("{0}")]
    Game(#[from] BadGame),
    /// The engine, several times in a row.
    #[error("{0}")]
    Engine(#[from] Fault),
}

impl Teacher {
    /// Creates a teacher that searches each position with this many nodes, in a process of its own.
    pub fn new(program: Arc<Program>, nodes: u64) -> Teacher {
        Teacher { engine: MatchEngine::new(program), nodes }
    }

    /// Returns the game with new scores of its quiet positions, or `None` on a stop; those where the engine would capture
    /// or promote are [`UNSCORED`]. The engine is told of a new game first, so that its scores do not depend on games
    /// before.
    pub fn relabel(
        &mut self,
        game: &GameRecord<'_>,
        stop: &StopFlag,
    ) -> Result<Option<PlayedGame>, TeacherError> {
        let mut plies = Vec::with_capacity(game.len());
        let mut is_ready = false;
        for ply in game.plies() {
            let ply = ply?;
            let mut score = ply.score;
            if ply.is_quiet() {
                let Some(new) = self.persistent_score(&ply.position, &mut is_ready, stop)? else {
                    return Ok(None);
                };
                score = new.map_or(UNSCORED, Score::to_bits);
            }
            plies.push((ply.mv, score));
        }
        Ok(Some(PlayedGame { start: game.start().clone(), plies, result: game.result() }))
    }

    /// Asks again after a fault; `None` on a stop, `Some(None)` as [`Teacher::score`]. `is_ready` tells whether the engine knows of the game.
    fn persistent_score(
        &mut self,
        position: &Chess,
        is_ready: &mut bool,
        stop: &StopFlag,
    ) -> Result<Option<Option<Score>>, Fault> {
        let mut attempt = 1;
        loop {
            let prepared = if *is_ready { Ok(()) } else { self.engine.prepare() };
            let score = prepared.and_then(|()| self.score(position, stop));
            *is_ready = score.is_ok();
            match score {
                _ if stop.is_raised() => return Ok(None),
                Ok(score) => return Ok(Some(score)),
                Err(fault) if attempt == ATTEMPTS => return Err(fault),
                Err(fault) => {
                    tracing::warn!(%fault, "the engine is started again");
                    self.engine.leave();
                    attempt += 1;
                }
            }
        }
    }

    /// Score of a position, from White's point of view; none if it belongs to a capture or promotion.
    fn score(&mut self, position: &Chess, stop: &StopFlag) -> Result<Option<Score>, Fault> {
        let game = GameHistory::new(position.clone());
        let best = Decision::new(Packed::NONE);
        let nodes = u32::try_from(self.nodes).unwrap_or(u32::MAX);
        let patience = PATIENCE.saturating_add(PATIENCE_PER_NODE.saturating_mul(nodes));
        let limits = Limits {
            nodes: Some(self.nodes),
            hard: Instant::now().checked_add(patience),
            ..Limits::default()
        };
        let watch = |_: &_| ControlFlow::Continue(());
        let answer =
            self.engine.think(&Task { game: &game, limits: &limits, best: &best, stop, watch: &watch })?;
        if answer.reply != Reply::Move {
            return Err(Fault::NoMove);
        }
        // A move without a score, as with very few nodes.
        if answer.report.depth == 0 {
            return Err(Fault::Unsupported);
        }
        let best = answer.whole.unwrap_or_else(|| best.read());
        let score = if position.side_to_move() == Color::White { best.score } else { -best.score };
        Ok(position.unpack(best.mv).is_some_and(|mv| position.gain(mv) == 0).then_some(score))
    }
}
