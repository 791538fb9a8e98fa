//! Forward pruning and singular extensions: certainty is given up for depth, as people do.
//!
//! Far from the leaves a quick look is taken at each move, and only the share of them that looks best is
//! searched. The farther from the leaves, the larger the share: a good move that is missed there costs the
//! more. A move that looks much better than all others is searched a ply deeper, because all depends on it.
//! Source: Chess Programming Wiki, "Forward Pruning" (Shannon's type B) and "Singular Extensions"; the depths
//! 4, 9 and 13 are those of a course report at TUC, the shares and the margin are ours.

use std::cmp::Reverse;

use zeitnot_rules::Moves;

use super::tree_search::{Node, TreeSearch};
use crate::{EngineGame, Score, Stopped};

/// So many moves are looked at in any case.
const LEAST_KEPT: usize = 4;

/// How much is passed over, and what is singular.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Pruning {
    /// By depth, the least first; nearer to the leaves every move is searched.
    pub shares: [KeptShare; 3],
    /// A move is singular if it looks better than the next one by so many centipawns.
    pub margin: i32,
}

/// The part of the moves that is searched.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct KeptShare {
    /// Where this many plies are to be looked ahead, or more.
    pub depth: u16,
    /// Of the moves.
    pub percent: u8,
}

impl Default for Pruning {
    fn default() -> Self {
        let share = |depth, percent| KeptShare { depth, percent };
        Pruning { shares: [share(4, 40), share(9, 60), share(13, 80)], margin: 150 }
    }
}

impl Pruning {
    /// How many of these moves are searched; `None`: all, and without a look.
    fn kept(&self, depth: u16, moves: usize) -> Option<usize> {
        let share = self.shares.iter().rfind(|share| depth >= share.depth)?;
        Some((moves * usize::from(share.percent)).div_ceil(100).max(LEAST_KEPT))
    }
}

impl<G: EngineGame> TreeSearch<'_, G> {
    /// Leaves the moves that look best, the best first. Returns the one that is singular.
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
        // Out of check there are few ways, and each may be the only one.
        if !node.position.is_check() {
            looks.truncate(kept);
        }
        *moves = looks.iter().map(|&(_, mv)| mv).collect();

        let singular = match looks[..] {
            [(best, mv), (next, _), ..] if best.get() - next.get() >= pruning.margin => Some(mv),
            [(_, only)] => Some(only),
            _ => None,
        };
        // A line may become twice as long, but no longer: else a duel of only moves would never end.
        Ok(singular.filter(|_| node.ply < self.horizon))
    }
}
