//! A node of the tree: 24 bytes that all threads write to at once.
//!
//! Sources: Chaslot, Winands and van den Herik, "Parallel Monte-Carlo Tree Search" (2008), for the virtual
//! loss; Winands, Björnsson and Saito, "Monte-Carlo Tree Search Solver" (2008), for proofs.

use std::sync::atomic::{
    AtomicI64, AtomicU16, AtomicU32,
    Ordering::{Acquire, Relaxed, Release},
};

use zeitnot_rules::Packed;

/// A value of 1 in the fixed point of the sums.
const ONE: i64 = 1 << 24;
/// In place of the first child: a thread is about to give the node children.
const CLAIMED: u32 = u32::MAX;

/// One move of the tree. Values are those of the side that played it.
#[derive(Debug, Default, bytemuck::Zeroable)]
#[repr(C)]
pub(super) struct Node {
    sum: AtomicI64,
    visits: AtomicU32,
    /// Where the children begin; 0: there are none.
    first: AtomicU32,
    mv: AtomicU16,
    prior: AtomicU16,
    count: AtomicU16,
    proof: AtomicU16,
}

/// What is certain of a node, for the side that moved there, with the plies to the end of the game.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Proof {
    Open,
    Drawn,
    Won(u16),
    Lost(u16),
}

impl Proof {
    const WON: u16 = 1 << 14;
    const LOST: u16 = 1 << 15;

    /// `None`: nothing is certain.
    pub fn value(self) -> Option<f32> {
        match self {
            Proof::Open => None,
            Proof::Drawn => Some(0.0),
            Proof::Won(_) => Some(1.0),
            Proof::Lost(_) => Some(-1.0),
        }
    }

    /// What to play by: a win, the sooner the better; all else; a loss, the later the better.
    pub fn rank(self) -> i32 {
        match self {
            Proof::Won(plies) => i32::from(Proof::LOST - plies),
            Proof::Lost(plies) => i32::from(plies) - i32::from(Proof::LOST),
            Proof::Open | Proof::Drawn => 0,
        }
    }

    fn to_bits(self) -> u16 {
        match self {
            Proof::Open => 0,
            Proof::Drawn => 1,
            Proof::Won(plies) => Proof::WON | plies,
            Proof::Lost(plies) => Proof::LOST | plies,
        }
    }

    fn from_bits(bits: u16) -> Proof {
        match bits {
            0 => Proof::Open,
            1 => Proof::Drawn,
            _ if bits & Proof::WON != 0 => Proof::Won(bits & !Proof::WON),
            _ => Proof::Lost(bits & !Proof::LOST),
        }
    }
}

impl Node {
    /// Makes this an unvisited node, whatever it was.
    pub fn reset(&self, mv: Packed, prior: f32) {
        self.sum.store(0, Relaxed);
        self.visits.store(0, Relaxed);
        self.first.store(0, Relaxed);
        self.mv.store(mv.0, Relaxed);
        self.prior.store((prior * f32::from(u16::MAX)) as u16, Relaxed);
        self.count.store(0, Relaxed);
        self.proof.store(0, Relaxed);
    }

    /// The move that leads here.
    pub fn mv(&self) -> Packed {
        Packed(self.mv.load(Relaxed))
    }

    /// How likely the move looked at first sight, from 0 to 1.
    pub fn prior(&self) -> f32 {
        f32::from(self.prior.load(Relaxed)) / f32::from(u16::MAX)
    }

    /// Those that are under way included.
    pub fn visits(&self) -> u32 {
        self.visits.load(Relaxed)
    }

    /// The mean of the values found, from -1 to 1; `None`: not visited yet.
    pub fn mean(&self) -> Option<f32> {
        let visits = self.visits();
        // A thread between the two sums of a visit may leave them a visit apart.
        (visits > 0).then(|| (self.sum.load(Relaxed) as f32 / (visits as f32 * ONE as f32)).clamp(-1.0, 1.0))
    }

    /// A visit begins: until it ends it counts as lost, so that other threads go elsewhere.
    pub fn enter(&self) {
        self.sum.fetch_sub(ONE, Relaxed);
        self.visits.fetch_add(1, Relaxed);
    }

    /// A visit ends with this value.
    pub fn leave(&self, value: f32) {
        self.sum.fetch_add(ONE + (value * ONE as f32) as i64, Relaxed);
    }

    pub fn proof(&self) -> Proof {
        Proof::from_bits(self.proof.load(Relaxed))
    }

    pub fn prove(&self, proof: Proof) {
        self.proof.store(proof.to_bits(), Relaxed);
    }

    /// Where the children stand, and how many there are.
    pub fn children(&self) -> Option<(u32, u16)> {
        match self.first.load(Acquire) {
            0 | CLAIMED => None,
            first => Some((first, self.count.load(Relaxed))),
        }
    }

    /// May the caller, and nobody else, give the node children? Whoever may must [`Node::adopt`].
    pub fn claim(&self) -> bool {
        self.first.compare_exchange(0, CLAIMED, Relaxed, Relaxed).is_ok()
    }

    /// The children are ready; without a place for them the node stays a leaf.
    pub fn adopt(&self, children: Option<(u32, u16)>) {
        let (first, count) = children.unwrap_or_default();
        self.count.store(count, Relaxed);
        self.first.store(first, Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_is_small_and_proofs_fit_into_it() {
        assert_eq!(size_of::<Node>(), 24);
        for proof in
            [Proof::Open, Proof::Drawn, Proof::Won(0), Proof::Won(192), Proof::Lost(0), Proof::Lost(193)]
        {
            assert_eq!(Proof::from_bits(proof.to_bits()), proof);
        }
        let ranks =
            [Proof::Lost(2), Proof::Lost(8), Proof::Open, Proof::Won(9), Proof::Won(1)].map(Proof::rank);
        assert!(ranks.is_sorted());
    }

    #[test]
    fn a_visit_under_way_counts_as_lost() {
        let node = Node::default();
        assert_eq!(node.mean(), None);
        node.enter();
        assert_eq!(node.mean(), Some(-1.0));
        node.leave(0.5);
        assert_eq!((node.visits(), node.mean()), (1, Some(0.5)));
    }
}
