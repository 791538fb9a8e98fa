//! All that changes during a run.

use crate::{feed::Place, optimizer::Moments, parameters::Parameters};

/// All that changes during a run, and that a checkpoint holds.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct State {
    pub(crate) parameters: Parameters,
    pub(crate) moments: Moments,
    /// Batches so far.
    pub(crate) batches: u64,
    /// Place of the next batch.
    pub(crate) place: Place,
    /// Sum of squared errors since the last report, and the number of positions.
    pub(crate) errors: (f64, u64),
}
