//! Settings of a run.

use zeitnot_engine::net::NetShape;

use crate::optimizer::Schedule;

/// Settings of a run. All but the number of threads must be the same when it is resumed.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Settings {
    pub shape: NetShape,
    /// Positions of a batch.
    pub batch: usize,
    /// Batches between two reports.
    pub superbatch: u64,
    /// Reports of the run.
    pub superbatches: u64,
    /// Highest learning rate.
    pub rate: f32,
    /// Weight of the search's score in the target, from 0 to 1; the rest is the result's.
    pub score_weight: f32,
    /// Seed of the first weights and of the order of positions.
    pub seed: u64,
    /// Moves whose positions are in memory at a time, 40 bytes each.
    pub buffer: usize,
    pub threads: usize,
}

impl Settings {
    pub(crate) fn batches(&self) -> u64 {
        self.superbatch.saturating_mul(self.superbatches)
    }

    pub(crate) fn schedule(&self) -> Schedule {
        Schedule { highest: self.rate, batches: self.batches() }
    }

    /// Settings that two runs must have in common, as options of the command and numbers that tell them apart.
    pub(crate) fn in_common(&self) -> [(&'static str, u64); 8] {
        [
            ("hidden", self.shape.hidden() as u64),
            ("batch", self.batch as u64),
            ("superbatch", self.superbatch),
            ("superbatches", self.superbatches),
            ("rate", self.rate.to_bits().into()),
            ("score-weight", self.score_weight.to_bits().into()),
            ("seed", self.seed),
            ("buffer", self.buffer as u64),
        ]
    }
}
