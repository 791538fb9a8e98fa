//! Forward pruning and singular extensions.
//!
//! Far from the leaves, a shallow search ranks the moves and only the best share of them is searched, a larger one
//! at higher depth. A move that is much better than all others is extended by a ply.
//!
//! Sources: Chess Programming Wiki, "Forward Pruning" (Shannon's type B) and "Singular Extensions"; the depths 4, 9
//! and 13 are from a course report at TUC, the shares and the margin are hand-picked.

use std::cmp::Reverse;

use zeitnot_rules::Moves;

use super::tree_search::{Node, TreeSearch};
use crate::{EngineGame, Score, Stopped};

/// Minimum number of moves kept.
const MIN_KEPT: usize = 4;

/// Parameters of forward pruning and singular extensions.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct ForwardPruning {
    /// Shares by depth, ascending; every move is searched below the first depth.
    pub shares: [KeptShare; 3],
    /// Lead over the second-best move that makes a move singular, in centipawns.
    pub margin: i32,
}

/// Share of the moves that is searched.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct KeptShare {
    /// Minimum depth in plies.
    pub depth: u16,
    /// Percentage of the moves.
    pub percent: u8,
}

impl Default for ForwardPruning {
    fn default() -> Self {
        let share = |depth, percent| KeptShare { depth, percent };
        ForwardPruning { shares: [share(4, 40), share(9, 60), share(13, 80)], margin: 150 }
    }
}

impl ForwardPruning {
    /// Number of moves to search; `None` for all, without ranking them.
    fn kept(&self, depth: u16, moves: usize) -> Option<usize> {
        let share = self.shares.iter().rfind(|share| depth >= share.depth)?;
        Some((moves * usize::from(share.percent)).div_ceil(100).max(MIN_KEPT))
    }
}

impl<G: EngineGame> TreeSearch<'_, G> {
    /// Keeps the best moves, best first, and returns the singular one.
    pub(super) fn prune(
        &mut self,
        node: &Node<G>,
        moves: &mut Moves<G::Move>,
    ) -> Result<Option<G::Move>, Stopped> {
        let Some(pruning) = self.options.pruning else { return Ok(None) };
        let Some(kept) = pruning.kept(node.depth, moves.len()) else { return Ok(None) };
        let mut looks = Vec::with_capacity(moves.len());
        for &mv in moves.iter() {
            let mut child = self.child(node, mv);
            child.depth = 0;
            looks.push((-self.alpha_beta(&child, Score::NEG_INFINITE, Score::INFINITE)?.score, mv));
        }
        looks.sort_by_key(|&(score, _)| Reverse(score));
        // Evasions are few, and each may be the only good one.
        if !node.position.is_check() {
            looks.truncate(kept);
        }
        *moves = looks.iter().map(|&(_, mv)| mv).collect();

        let singular = match looks[..] {
            [(best, mv), (next, _), ..] if best.get() - next.get() >= pruning.margin => Some(mv),
            [(_, only)] => Some(only),
            _ => None,
        };
        // Limits extended lines to twice the iteration's depth.
        Ok(singular.filter(|_| node.ply < self.horizon))
    }
}
