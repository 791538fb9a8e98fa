//! Tree node: 24 bytes, updated by all threads without locks.
//!
//! Sources: Chaslot, Winands and van den Herik, "Parallel Monte-Carlo Tree Search" (2008), for the virtual
//! loss; Winands, Björnsson and Saito, "Monte-Carlo Tree Search Solver" (2008), for proofs.

use std::sync::atomic::{
    AtomicI64, AtomicU16, AtomicU32,
    Ordering::{Acquire, Relaxed, Release},
};

use zeitnot_rules::Packed;

use crate::Score;

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

/// Proved result for the side that moved to the node, as a score counted from the node; `None` if nothing is proved.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct Proof(Option<Score>);

impl Proof {
    pub(crate) const OPEN: Proof = Proof(None);
    /// Bits of [`Proof::OPEN`]: those of a proof are the score's, with the zero of a draw above all of them.
    const OPEN_BITS: u16 = 0;
    const DRAWN_BITS: u16 = i16::MAX as u16;

    /// A result: a draw or a decisive score.
    pub(crate) fn of(score: Score) -> Proof {
        Proof(Some(score))
    }

    pub(crate) fn score(self) -> Option<Score> {
        self.0
    }

    pub(crate) fn is_win(self) -> bool {
        self.0.is_some_and(|score| score > Score::ZERO)
    }

    pub(crate) fn is_loss(self) -> bool {
        self.0.is_some_and(|score| score < Score::ZERO)
    }

    /// Value of a proved result.
    pub(crate) fn value(self) -> Option<f32> {
        self.0.map(|score| score.get().signum() as f32)
    }

    /// Rank for move choice: quick and large wins first, slow and small losses before others.
    pub(crate) fn rank(self) -> Score {
        self.0.unwrap_or(Score::ZERO)
    }

    fn to_bits(self) -> u16 {
        match self.0 {
            None => Proof::OPEN_BITS,
            Some(Score::ZERO) => Proof::DRAWN_BITS,
            Some(score) => score.to_bits() as u16,
        }
    }

    fn from_bits(bits: u16) -> Proof {
        match bits {
            Proof::OPEN_BITS => Proof::OPEN,
            Proof::DRAWN_BITS => Proof::of(Score::ZERO),
            _ => Proof::of(Score::from_bits(bits as i16)),
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
    use zeitnot_rules::Margin;

    #[test]
    fn a_node_is_small_and_proofs_fit_into_it() {
        assert_eq!(size_of::<Node>(), 24);
        let count = Score::count_win(Margin(4));
        let scores = [Score::mated_in(2), Score::mated_in(8), -count, Score::ZERO, count, Score::mate_in(1)];
        assert!(scores.map(|score| Proof::of(score).rank()).is_sorted());
        for proof in scores.map(Proof::of).into_iter().chain([Proof::OPEN]) {
            assert_eq!(Proof::from_bits(proof.to_bits()), proof);
        }
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
