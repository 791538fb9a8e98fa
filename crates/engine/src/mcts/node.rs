//! Tree node: 24 bytes, updated by all threads without locks.
//!
//! Sources: Chaslot, Winands and van den Herik, "Parallel Monte-Carlo Tree Search" (2008), for the virtual
//! loss; Winands, Björnsson and Saito, "Monte-Carlo Tree Search Solver" (2008), for proofs.

use std::sync::atomic::{
    AtomicI64, AtomicU16, AtomicU32,
    Ordering::{Acquire, Relaxed, Release},
};

use zeitnot_rules::Packed;

/// Fixed-point representation of the value 1.
const ONE: i64 = 1 << 24;
/// Marks a node that a thread is expanding.
const CLAIMED: u32 = u32::MAX;

/// Node of the tree. Values are for the side that played the move leading to it.
#[derive(Debug, Default, bytemuck::Zeroable)]
#[repr(C)]
pub(super) struct Node {
    sum: AtomicI64,
    visits: AtomicU32,
    /// Index of the first child; 0 for a leaf.
    first: AtomicU32,
    mv: AtomicU16,
    prior: AtomicU16,
    count: AtomicU16,
    proof: AtomicU16,
}

/// Proved result for the side that moved to the node, with the plies to the end.
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

    /// Value of a proved result.
    pub(crate) fn value(self) -> Option<f32> {
        match self {
            Proof::Open => None,
            Proof::Drawn => Some(0.0),
            Proof::Won(_) => Some(1.0),
            Proof::Lost(_) => Some(-1.0),
        }
    }

    /// Rank for move choice: quick wins first, slow losses last.
    pub(crate) fn rank(self) -> i32 {
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
    pub(crate) fn reset(&self, mv: Packed, prior: f32) {
        self.sum.store(0, Relaxed);
        self.visits.store(0, Relaxed);
        self.first.store(0, Relaxed);
        self.mv.store(mv.0, Relaxed);
        self.prior.store((prior * f32::from(u16::MAX)) as u16, Relaxed);
        self.count.store(0, Relaxed);
        self.proof.store(0, Relaxed);
    }

    pub(crate) fn mv(&self) -> Packed {
        Packed(self.mv.load(Relaxed))
    }

    pub(crate) fn prior(&self) -> f32 {
        f32::from(self.prior.load(Relaxed)) / f32::from(u16::MAX)
    }

    /// Number of visits, including those in progress.
    pub(crate) fn visits(&self) -> u32 {
        self.visits.load(Relaxed)
    }

    /// Mean value from -1 to 1; `None` if not visited.
    pub(crate) fn mean(&self) -> Option<f32> {
        let visits = self.visits();
        // Another thread may have updated only one of the two counters.
        (visits > 0).then(|| (self.sum.load(Relaxed) as f32 / (visits as f32 * ONE as f32)).clamp(-1.0, 1.0))
    }

    /// Begins a visit with a virtual loss, so that other threads go elsewhere.
    pub(crate) fn add_virtual_loss(&self) {
        self.sum.fetch_sub(ONE, Relaxed);
        self.visits.fetch_add(1, Relaxed);
    }

    /// Ends a visit: replaces the virtual loss by the value.
    pub(crate) fn add_result(&self, value: f32) {
        self.sum.fetch_add(ONE + (value * ONE as f32) as i64, Relaxed);
    }

    pub(crate) fn proof(&self) -> Proof {
        Proof::from_bits(self.proof.load(Relaxed))
    }

    pub(crate) fn prove(&self, proof: Proof) {
        self.proof.store(proof.to_bits(), Relaxed);
    }

    /// Index of the first child and number of children.
    pub(crate) fn children(&self) -> Option<(u32, u16)> {
        match self.first.load(Acquire) {
            0 | CLAIMED => None,
            first => Some((first, self.count.load(Relaxed))),
        }
    }

    /// Claims the expansion of the node for this thread, which must then call [`Node::set_children`].
    pub(crate) fn claim_expansion(&self) -> bool {
        self.first.compare_exchange(0, CLAIMED, Relaxed, Relaxed).is_ok()
    }

    /// Publishes the children; `None` leaves the node a leaf.
    pub(crate) fn set_children(&self, children: Option<(u32, u16)>) {
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
        node.add_virtual_loss();
        assert_eq!(node.mean(), Some(-1.0));
        node.add_result(0.5);
        assert_eq!((node.visits(), node.mean()), (1, Some(0.5)));
    }
}
