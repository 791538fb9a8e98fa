//! Aspiration windows: each iteration starts with a narrow window around the previous score and widens it on
//! the side where the search fails.
//!
//! Source: Chess Programming Wiki, "Aspiration Windows".

use super::{MAX_PLY, Root, Window, Worker, tunable::tunables};
use crate::{
    Score, Stopped,
    eval::{EngineGame, State},
};

/// Shallower iterations use the full window.
const MIN_DEPTH: i32 = 5;
/// A wider window is opened fully on that side.
const MAX_MARGIN: i32 = 800;

tunables! {
    /// First half-width of the window, in centipawns; doubled at each failure.
    INITIAL_MARGIN = AspirationMargin: 20, 5..=100;
}

impl<G: EngineGame> Worker<'_, G> {
    /// Searches the root to a depth.
    pub(super) fn aspiration_search(
        &mut self,
        root: &G,
        state: &State<G>,
        depth: i32,
        last: Score,
    ) -> Result<Score, Stopped> {
        if let Some(score) = self.mate_search(root, state, depth)? {
            return Ok(score);
        }
        let mut margin = INITIAL_MARGIN.get();
        let mut window = match depth < MIN_DEPTH || last.is_decisive() {
            true => Window::FULL,
            false => Window { alpha: last.offset(-margin), beta: last.offset(margin) },
        };
        loop {
            let score = self.node::<Root>(root, state, depth, window, 0)?;
            margin *= 2;
            let grown = |by: i32| if margin > MAX_MARGIN { None } else { Some(score.offset(by)) };
            if score <= window.alpha && window.alpha > Window::FULL.alpha {
                window.alpha = grown(-margin).unwrap_or(Window::FULL.alpha);
            } else if score >= window.beta && window.beta < Window::FULL.beta {
                window.beta = grown(margin).unwrap_or(Window::FULL.beta);
            } else {
                return Ok(score);
            }
        }
    }

    /// Searches for the mate of `go mate` with a window that holds only such mates, so that pruning by evaluation
    /// is off and mate-distance pruning ends every line that is too long.
    fn mate_search(&mut self, root: &G, state: &State<G>, depth: i32) -> Result<Option<Score>, Stopped> {
        let Some(moves) = self.shared.task.limits.mate else { return Ok(None) };
        let longest = Score::mate_in(moves.saturating_mul(2).saturating_sub(1).min(MAX_PLY));
        let window = Window { alpha: -(-longest).above(), beta: Score::INFINITE };
        let score = self.node::<Root>(root, state, depth, window, 0)?;
        Ok((score >= longest).then_some(score))
    }
}
