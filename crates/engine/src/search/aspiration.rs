//! Aspiration windows: an iteration is expected to end near the score of the one before, and a narrow
//! window around it cuts more. Where the score falls outside, the window grows on that side.
//!
//! Source: Chess Programming Wiki, "Aspiration Windows".

use super::{MAX_PLY, Root, Window, Worker};
use crate::{
    Score, Stopped,
    eval::{EngineGame, State},
};

/// Below this depth scores jump too much.
const MIN_DEPTH: i32 = 5;
const FIRST_MARGIN: i32 = 20;
/// Beyond this the window is opened wholly.
const LAST_MARGIN: i32 = 800;

impl<G: EngineGame> Worker<'_, G> {
    /// Searches the root to this depth.
    pub(super) fn aspire(
        &mut self,
        root: &G,
        state: &State<G>,
        depth: i32,
        last: Score,
    ) -> Result<Score, Stopped> {
        if let Some(score) = self.seek_mate(root, state, depth)? {
            return Ok(score);
        }
        let mut margin = FIRST_MARGIN;
        let mut window = match depth < MIN_DEPTH || last.is_decisive() {
            true => Window::FULL,
            false => Window { alpha: last.offset(-margin), beta: last.offset(margin) },
        };
        loop {
            let score = self.node::<Root>(root, state, depth, window, 0)?;
            margin *= 2;
            let grown = |by: i32| if margin > LAST_MARGIN { None } else { Some(score.offset(by)) };
            if score <= window.alpha && window.alpha > Window::FULL.alpha {
                window.alpha = grown(-margin).unwrap_or(Window::FULL.alpha);
            } else if score >= window.beta && window.beta < Window::FULL.beta {
                window.beta = grown(margin).unwrap_or(Window::FULL.beta);
            } else {
                return Ok(score);
            }
        }
    }

    /// Where a mate is asked for, the first window holds nothing else: what only the evaluation would
    /// prune stays, and mate-distance pruning ends every line that is too long. `None`: none is seen yet.
    fn seek_mate(&mut self, root: &G, state: &State<G>, depth: i32) -> Result<Option<Score>, Stopped> {
        let Some(moves) = self.shared.task.limits.mate else { return Ok(None) };
        let longest = Score::mate_in(moves.saturating_mul(2).saturating_sub(1).min(MAX_PLY));
        let window = Window { alpha: -(-longest).above(), beta: Score::INFINITE };
        let score = self.node::<Root>(root, state, depth, window, 0)?;
        Ok((score >= longest).then_some(score))
    }
}
