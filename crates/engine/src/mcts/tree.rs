//! The tree: all nodes in one arena that never grows, the children of a node side by side.

use std::{
    cmp::Reverse,
    collections::BinaryHeap,
    sync::atomic::{AtomicU32, Ordering::Relaxed},
};

use zeitnot_rules::{MAX_MOVES, Packed};

use super::node::{Node, Proof};

/// Where the root stands.
const ROOT: u32 = 0;
/// As many nodes as have an index that says nothing else.
const MOST: usize = u32::MAX as usize - 1;

/// See the module's comment. The system hands out its pages as they are used.
pub(super) struct Tree {
    nodes: Box<[Node]>,
    used: AtomicU32,
}

impl Tree {
    /// A lone root, with room for so many nodes, or for fewer where there is not so much memory.
    pub fn new(nodes: usize) -> Tree {
        let mut nodes = nodes.clamp(1 + MAX_MOVES, MOST);
        loop {
            match bytemuck::allocation::try_zeroed_slice_box(nodes) {
                Ok(nodes) => return Tree { nodes, used: AtomicU32::new(1) },
                Err(()) => nodes = (nodes / 2).max(1),
            }
        }
    }

    pub fn root(&self) -> &Node {
        &self.nodes[ROOT as usize]
    }

    /// None where it is a leaf.
    pub fn children(&self, node: &Node) -> &[Node] {
        let (first, count) = node.children().unwrap_or_default();
        &self.nodes[first as usize..][..usize::from(count)]
    }

    /// Nodes in use.
    pub fn len(&self) -> usize {
        self.used.load(Relaxed) as usize
    }

    /// In thousandths.
    pub fn fill(&self) -> u16 {
        (self.len() * 1000 / self.nodes.len()) as u16
    }

    /// Might there be no room for the children of a node?
    pub fn is_full(&self) -> bool {
        self.len() + MAX_MOVES > self.nodes.len()
    }

    /// Gives a claimed node its children.
    pub fn grow(&self, node: &Node, children: impl ExactSizeIterator<Item = (Packed, f32)>) {
        let count = children.len() as u16;
        let room = self.used.fetch_update(Relaxed, Relaxed, |used| {
            used.checked_add(u32::from(count)).filter(|&end| end as usize <= self.nodes.len())
        });
        if let Ok(first) = room {
            for (child, (mv, prior)) in self.nodes[first as usize..].iter().zip(children) {
                child.reset(mv, prior);
            }
        }
        node.adopt(room.ok().map(|first| (first, count)));
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.used = AtomicU32::new(1);
        self.root().reset(Packed::NONE, 0.0);
    }

    /// The best move that is known, as far as one is: by proof, then by visits.
    pub fn best(&self, node: &Node) -> Option<&Node> {
        let known =
            self.children(node).iter().filter(|child| child.visits() > 0 || child.proof() != Proof::Open);
        known.max_by_key(|child| (child.proof().rank(), child.visits()))
    }

    /// Proves a node by its children if that can be done. One that wins is enough; else all must be known.
    pub fn settle(&self, node: &Node) -> bool {
        let children = self.children(node);
        let won = children.iter().filter_map(|child| match child.proof() {
            Proof::Won(plies) => Some(plies),
            _ => None,
        });
        if let Some(plies) = won.min() {
            node.prove(Proof::Lost(plies + 1));
            return true;
        }
        let (mut longest, mut drawn) = (0, false);
        for child in children {
            match child.proof() {
                Proof::Lost(plies) => longest = longest.max(plies),
                Proof::Drawn => drawn = true,
                Proof::Open | Proof::Won(_) => return false,
            }
        }
        node.prove(if drawn { Proof::Drawn } else { Proof::Won(longest + 1) });
        !children.is_empty()
    }

    /// A child of the root becomes the root; all that does not hang on it is forgotten.
    ///
    /// Children stand behind their parents. So what is kept can slide down block by block, in the order of
    /// the arena, and each parent has found its place before its children.
    pub fn promote(&mut self, child: usize) {
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
            self.nodes[parent as usize].adopt(Some((used, count as u16)));
            used += count;
        }
        self.used = AtomicU32::new(used);
    }

    /// Where the children of a node begin, with the node.
    fn block_of(&self, node: u32) -> Option<Reverse<(u32, u32)>> {
        self.nodes[node as usize].children().map(|(first, _)| Reverse((first, node)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grow(tree: &Tree, node: &Node, moves: std::ops::Range<u16>) {
        assert!(node.claim() && !node.claim());
        tree.grow(node, moves.map(|mv| (Packed(mv), 0.5)));
    }

    fn moves(tree: &Tree, node: &Node) -> Vec<u16> {
        tree.children(node).iter().map(|child| child.mv().0).collect()
    }

    #[test]
    fn what_hangs_on_the_new_root_is_kept_and_the_rest_is_room_again() {
        let mut tree = Tree::new(0);
        grow(&tree, tree.root(), 1..4);
        let middle = &tree.children(tree.root())[1];
        grow(&tree, &tree.children(tree.root())[0], 10..15);
        grow(&tree, middle, 20..24);
        grow(&tree, &tree.children(tree.root())[2], 30..40);
        grow(&tree, &tree.children(middle)[3], 50..52);
        grow(&tree, &tree.children(middle)[0], 60..63);
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
        grow(&tree, tree.root(), 0..300);
        let child = &tree.children(tree.root())[7];
        grow(&tree, child, 0..300);
        assert!(tree.children(child).is_empty() && child.claim());
        assert!(tree.is_full() && tree.len() == 301);
    }

    #[test]
    fn proofs_go_up() {
        let tree = Tree::new(0);
        grow(&tree, tree.root(), 0..3);
        let [a, b, c] = tree.children(tree.root()) else { panic!() };
        a.prove(Proof::Lost(1));
        b.prove(Proof::Lost(3));
        assert!(!tree.settle(tree.root()));
        c.prove(Proof::Lost(5));
        assert!(tree.settle(tree.root()));
        assert_eq!(tree.root().proof(), Proof::Won(6));
        c.prove(Proof::Drawn);
        assert!(tree.settle(tree.root()));
        assert_eq!(tree.root().proof(), Proof::Drawn);
        b.prove(Proof::Won(2));
        assert!(tree.settle(tree.root()));
        assert_eq!(tree.root().proof(), Proof::Lost(3));
        assert_eq!(tree.best(tree.root()).map(Node::mv), Some(b.mv()));
    }
}
