//! A position as a net learns from it, whatever its game: the active inputs and the target.

/// Inputs that may be active in a view.
const MAX_ACTIVE: usize = 64;

/// A position, as the side to move sees it.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Example {
    own: [u16; MAX_ACTIVE],
    other: [u16; MAX_ACTIVE],
    count: usize,
    /// Output layer.
    pub(crate) bucket: usize,
    /// Expected points, from 0 to 1.
    pub(crate) target: f32,
}

/// Positions by their places.
pub(crate) trait Examples: Sync {
    /// Appends the positions at these places.
    fn gather(&self, places: &[u32], found: &mut Vec<Example>);
}

impl Example {
    /// A position without inputs yet.
    #[inline(always)]
    pub(crate) fn new(bucket: usize, target: f32) -> Example {
        Example { own: [0; MAX_ACTIVE], other: [0; MAX_ACTIVE], count: 0, bucket, target }
    }

    /// Adds an input of both views.
    #[inline(always)]
    pub(crate) fn push(&mut self, own: u16, other: u16) {
        if self.count < MAX_ACTIVE {
            (self.own[self.count], self.other[self.count]) = (own, other);
            self.count += 1;
        }
    }

    /// Error of an output, in points.
    #[inline(always)]
    pub(crate) fn error(&self, output: f32) -> f64 {
        f64::from(sigmoid(output) - self.target)
    }

    /// The side to move's view.
    #[inline(always)]
    pub(crate) fn own(&self) -> &[u16] {
        &self.own[..self.count]
    }

    /// The other side's view.
    #[inline(always)]
    pub(crate) fn other(&self) -> &[u16] {
        &self.other[..self.count]
    }
}

/// Expected points for an output of a net.
#[inline(always)]
pub(crate) fn sigmoid(output: f32) -> f32 {
    1.0 / (1.0 + (-output).exp())
}

/// The expected points that a net should tell: a blend of what the score, in units of the net's scale, and the result, in
/// half points, say.
#[inline(always)]
pub(crate) fn target(score: f32, result: u8, score_weight: f32) -> f32 {
    score_weight * sigmoid(score) + (1.0 - score_weight) * f32::from(result) / 2.0
}

/// Finds the scale with which the scores of so many positions foretell their results best: the centipawns that promise
/// odds of e to one.
pub(crate) fn fitted_scale(count: usize, label: impl Fn(usize) -> Option<(i16, u8)>) -> f64 {
    const RANGE: (f64, f64) = (20.0, 2_000.0);
    const SAMPLE: usize = 200_000;
    const STEPS: u32 = 40;
    let sample: Vec<_> = (0..count)
        .step_by(count.div_ceil(SAMPLE).max(1))
        .filter_map(label)
        .map(|(score, result)| (f64::from(score), f64::from(result) / 2.0))
        .collect();
    let loss = |scale: f64| -> f64 {
        sample.iter().map(|(score, result)| (1.0 / (1.0 + (-score / scale).exp()) - result).powi(2)).sum()
    };
    // Ternary search: the loss is unimodal.
    let (mut low, mut high) = RANGE;
    for _ in 0..STEPS {
        let (left, right) = (low + (high - low) / 3.0, high - (high - low) / 3.0);
        if loss(left) < loss(right) { high = right } else { low = left }
    }
    (low + high) / 2.0
}
