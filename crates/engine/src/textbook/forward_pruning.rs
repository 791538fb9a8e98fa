//! Forward pruning and singular extensions.
//!
//! A shallow search ranks the moves and only the best of them are searched: by remaining depth or by ply. By depth, a
//! larger share is kept the higher the depth, and a move that is much better than all others is extended by a ply.
//!
//! Sources: Chess Programming Wiki, "Forward Pruning" (Shannon's type B) and "Singular Extensions"; pruning by ply, and
//! the depths 4, 9 and 13, are from a course report at TUC, the shares and the margin are hand-picked.

use std::cmp::Reverse;

use zeitnot_rules::Moves;

use super::{
    MAX_DEPTH,
    tree_search::{Node, TreeSearch},
};
use crate::{EngineGame, Score, Stopped};

/// Minimum number of moves kept by depth.
const MIN_KEPT: usize = 4;
/// Remaining depths, and the percentage of the moves that is kept from there on.
const SHARES: [(u16, usize); 3] = [(4, 40), (9, 60), (13, 80)];
/// Lead over the second-best move that makes a move singular, in centipawns.
const SINGULAR_MARGIN: i32 = 150;

/// Last ply at which all moves are searched, where pruning is by ply.
const LAST_FULL_PLY: u16 = 4;
/// Plies over which the share falls to a single move.
const FALLING_PLIES: usize = 5;
/// Last ply where pruning is by ply.
const LAST_PLY: u16 = 13;

/// Choice of the moves that are searched.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum ForwardPruning {
    /// A share by the remaining depth, with singular extensions.
    ByDepth,
    /// At ply d from the root, from 5 on, all but ⌊moves · (d − 4) / 5⌋ and at least one, to ply 13.
    ByPly,
}

impl ForwardPruning {
    /// Maximum depth of the search.
    pub(super) fn max_depth(self) -> u16 {
        match self {
            ForwardPruning::ByDepth => MAX_DEPTH,
            ForwardPruning::ByPly => LAST_PLY,
        }
    }

    /// Number of moves to search; `None` for all, without ranking them.
    fn kept(self, ply: u16, depth: u16, moves: usize) -> Option<usize> {
        match self {
            ForwardPruning::ByDepth => {
                let (_, percent) = SHARES.iter().rfind(|(least, _)| depth >= *least)?;
                Some((moves * percent).div_ceil(100).max(MIN_KEPT))
            }
            ForwardPruning::ByPly => {
                let beyond = usize::from(ply.checked_sub(LAST_FULL_PLY).filter(|&beyond| beyond > 0)?);
                Some(moves.saturating_sub(moves * beyond / FALLING_PLIES).max(1))
            }
        }
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
        let Some(kept) = pruning.kept(node.ply, node.depth, moves.len()) else { return Ok(None) };
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
            [(best, mv), (next, _), ..] if best.get() - next.get() >= SINGULAR_MARGIN => Some(mv),
            [(_, only)] => Some(only),
            _ => None,
        };
        // Limits extended lines to twice the iteration's depth.
        Ok(singular.filter(|_| pruning == ForwardPruning::ByDepth && node.ply < self.horizon))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_ply_fewer_and_fewer_moves_are_kept_and_then_one() {
        let kept = |ply| ForwardPruning::ByPly.kept(ply, 1, 32);
        assert_eq!([0, 4, 5, 6, 7, 8].map(kept), [None, None, Some(26), Some(20), Some(13), Some(7)]);
        assert_eq!([9, 10, 13].map(kept), [Some(1); 3]);
    }
}
