//! The tree: nodes in one arena of fixed size, the children of a node side by side.

use std::{
    cmp::Reverse,
    collections::BinaryHeap,
    sync::atomic::{AtomicU32, Ordering::Relaxed},
};

use zeitnot_rules::{MAX_MOVES, Packed};

use super::node::{Node, Proof};
use crate::Score;

const ROOT: u32 = 0;
/// Most nodes that can be indexed.
const MAX_NODES: usize = u32::MAX as usize - 1;

/// Arena of nodes; the system commits its pages on first use.
pub(super) struct Tree {
    nodes: Box<[Node]>,
    used: AtomicU32,
}

impl Tree {
    /// Creates a root with room for this many nodes, fewer if memory is short.
    pub(crate) fn new(nodes: usize) -> Tree {
        let mut nodes = nodes.clamp(1 + MAX_MOVES, MAX_NODES);
        loop {
            match bytemuck::allocation::try_zeroed_slice_box(nodes) {
                Ok(nodes) => return Tree { nodes, used: AtomicU32::new(1) },
                Err(()) => nodes = (nodes / 2).max(1),
            }
        }
    }

    pub(crate) fn root(&self) -> &Node {
        &self.nodes[ROOT as usize]
    }

    /// Children of a node; empty for a leaf.
    pub(crate) fn children(&self, node: &Node) -> &[Node] {
        let (first, count) = node.children().unwrap_or_default();
        &self.nodes[first as usize..][..usize::from(count)]
    }

    pub(crate) fn len(&self) -> usize {
        self.used.load(Relaxed) as usize
    }

    /// Fill level in permille.
    pub(crate) fn hashfull(&self) -> u16 {
        (self.len() * 1000 / self.nodes.len()) as u16
    }

    /// Returns whether the children of a node may not fit.
    pub(crate) fn is_full(&self) -> bool {
        self.len() + MAX_MOVES > self.nodes.len()
    }

    pub(crate) fn expand(&self, node: &Node, children: impl ExactSizeIterator<Item = (Packed, f32)>) {
        let count = children.len() as u16;
        let room = self.used.fetch_update(Relaxed, Relaxed, |used| {
            used.checked_add(u32::from(count)).filter(|&end| end as usize <= self.nodes.len())
        });
        if let Ok(first) = room {
            for (child, (mv, prior)) in self.nodes[first as usize..].iter().zip(children) {
                child.reset(mv, prior);
            }
        }
        node.set_children(room.ok().map(|first| (first, count)));
    }

    pub(crate) fn clear(&mut self) {
        self.used = AtomicU32::new(1);
        self.root().reset(Packed::NONE, 0.0);
    }

    /// Best known child: by proof, then by visits.
    pub(crate) fn best(&self, node: &Node) -> Option<&Node> {
        let known =
            self.children(node).iter().filter(|child| child.visits() > 0 || child.proof() != Proof::OPEN);
        known.max_by_key(|child| (child.proof().rank(), child.visits()))
    }

    /// Proves a node by its children if possible: one winning child suffices, otherwise all must be proved.
    pub(crate) fn prove_by_children(&self, node: &Node) -> bool {
        let proofs = || self.children(node).iter().map(Node::proof);
        let Some(best) = proofs().filter_map(Proof::score).max() else { return false };
        let is_proved = best > Score::ZERO || proofs().all(|proof| proof != Proof::OPEN);
        if is_proved {
            node.prove(Proof::of(-best.to_root(1)));
        }
        is_proved
    }

    /// Makes a child of the root the new root and drops all other nodes.
    ///
    /// Children always follow their parents in the arena, so the kept blocks move down in arena order and each parent
    /// is placed before its children.
    pub(crate) fn promote(&mut self, child: usize) {
        let Some((first, _)) = self.root().children() else { return self.clear() };
        self.nodes.swap(first as usize + child, ROOT as usize);
        let mut used = ROOT + 1;
        let mut blocks = BinaryHeap::from_iter(self.block_of(ROOT));
        while let Some(Reverse((first, parent))) = blocks.pop() {
            let count = self.children(&self.nodes[parent as usize]).len() as u32;
            for at in 0..count {
                self.nodes.swap((first + at) as usize, (used + at) as usize);
                blocks.extend(self.block_of(used + at));
            }
            self.nodes[parent as usize].set_children(Some((used, count as u16)));
            used += count;
        }
        self.used = AtomicU32::new(used);
    }

    /// Index of a node's first child, with the node.
    fn block_of(&self, node: u32) -> Option<Reverse<(u32, u32)>> {
        self.nodes[node as usize].children().map(|(first, _)| Reverse((first, node)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zeitnot_rules::Margin;

    fn expand(tree: &Tree, node: &Node, moves: std::ops::Range<u16>) {
        assert!(node.claim_expansion() && !node.claim_expansion());
        tree.expand(node, moves.map(|mv| (Packed(mv), 0.5)));
    }

    fn moves(tree: &Tree, node: &Node) -> Vec<u16> {
        tree.children(node).iter().map(|child| child.mv().0).collect()
    }

    #[test]
    fn what_hangs_on_the_new_root_is_kept_and_the_rest_is_room_again() {
        let mut tree = Tree::new(0);
        expand(&tree, tree.root(), 1..4);
        let middle = &tree.children(tree.root())[1];
        expand(&tree, &tree.children(tree.root())[0], 10..15);
        expand(&tree, middle, 20..24);
        expand(&tree, &tree.children(tree.root())[2], 30..40);
        expand(&tree, &tree.children(middle)[3], 50..52);
        expand(&tree, &tree.children(middle)[0], 60..63);
        tree.promote(1);
        assert_eq!(tree.len(), 1 + 4 + 2 + 3);
        assert_eq!(tree.root().mv(), Packed(2));
        assert_eq!(moves(&tree, tree.root()), [20, 21, 22, 23]);
        assert_eq!(moves(&tree, &tree.children(tree.root())[3]), [50, 51]);
        assert_eq!(moves(&tree, &tree.children(tree.root())[0]), [60, 61, 62]);
        assert!(tree.children(&tree.children(tree.root())[1]).is_empty());
    }

    #[test]
    fn a_node_without_room_for_children_stays_a_leaf() {
        let tree = Tree::new(0);
        expand(&tree, tree.root(), 0..300);
        let child = &tree.children(tree.root())[7];
        expand(&tree, child, 0..300);
        assert!(tree.children(child).is_empty() && child.claim_expansion());
        assert!(tree.is_full() && tree.len() == 301);
    }

    #[test]
    fn proofs_go_up() {
        let tree = Tree::new(0);
        expand(&tree, tree.root(), 0..3);
        let [a, b, c] = tree.children(tree.root()) else { panic!() };
        let prove = |node: &Node, score| {
            node.prove(Proof::of(score));
            tree.prove_by_children(tree.root()).then(|| tree.root().proof().score()).flatten()
        };
        assert_eq!(prove(a, Score::mated_in(1)), None);
        assert_eq!(prove(b, Score::mated_in(3)), None);
        assert_eq!(prove(c, Score::mated_in(5)), Some(Score::mate_in(6)));
        // A loss by count is better than being mated, and one by less than one by more.
        let lost = |margin| -Score::count_win(Margin(margin));
        assert_eq!(prove(a, lost(8)), Some(-lost(8)));
        assert_eq!(prove(b, lost(2)), Some(-lost(2)));
        assert_eq!(tree.best(tree.root()).map(Node::mv), Some(b.mv()));
        assert_eq!(prove(c, Score::ZERO), Some(Score::ZERO));
        assert_eq!(prove(b, Score::mate_in(2)), Some(Score::mated_in(3)));
        assert_eq!(tree.best(tree.root()).map(Node::mv), Some(b.mv()));
    }
}
