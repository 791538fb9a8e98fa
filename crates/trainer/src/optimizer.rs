//! AdamW, with warm-up and cosine decay of the learning rate.
//!
//! Sources: Kingma and Ba, "Adam: A Method for Stochastic Optimization" (2015); Loshchilov and Hutter, "Decoupled
//! Weight Decay Regularization" (2019) and "SGDR: Stochastic Gradient Descent with Warm Restarts" (2017).

/// Parameters of AdamW, with the defaults of the papers.
const BETA1: f32 = 0.9;
const BETA2: f32 = 0.999;
const EPSILON: f32 = 1e-8;
const WEIGHT_DECAY: f32 = 0.01;

/// Learning rate at the end, as a part of the highest.
const FINAL_PART: f64 = 0.01;
/// The rate rises over one batch of so many, but at most [`MAX_WARM_UP`].
const WARM_UP: u64 = 20;
const MAX_WARM_UP: u64 = 500;

/// Course of the learning rate.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Schedule {
    pub(crate) highest: f32,
    /// Batches of the whole run.
    pub(crate) batches: u64,
}

impl Schedule {
    /// The learning rate of a batch, counted from 0.
    pub(crate) fn rate(&self, batch: u64) -> f32 {
        let warm_up = (self.batches / WARM_UP).clamp(1, MAX_WARM_UP);
        let part = if batch < warm_up {
            (batch + 1) as f64 / warm_up as f64
        } else {
            let way = (batch - warm_up) as f64 / (self.batches.saturating_sub(warm_up)).max(1) as f64;
            FINAL_PART + (1.0 - FINAL_PART) * 0.5 * (1.0 + (way.min(1.0) * std::f64::consts::PI).cos())
        };
        (f64::from(self.highest) * part) as f32
    }
}

/// Averages of the gradient and of its square, for each parameter.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Moments {
    pub(crate) mean: Vec<f32>,
    pub(crate) square: Vec<f32>,
}

impl Moments {
    pub(crate) fn new(count: usize) -> Moments {
        Moments { mean: vec![0.0; count], square: vec![0.0; count] }
    }
}

/// One step: its rate, the corrections for averages that began at zero, and the bound of every parameter.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Step {
    rate: f32,
    mean_part: f32,
    square_part: f32,
    bound: f32,
}

impl Step {
    /// The step of a batch, counted from 0.
    pub(crate) fn new(rate: f32, batch: u64, bound: f32) -> Step {
        let part = |beta: f32| {
            let power = f64::from(beta).powf(batch as f64 + 1.0);
            (1.0 / (1.0 - power)) as f32
        };
        Step { rate, mean_part: part(BETA1), square_part: part(BETA2), bound }
    }
}

/// A range of the parameters with all that belongs to it.
pub(crate) struct Slice<'p> {
    pub(crate) values: &'p mut [f32],
    pub(crate) mean: &'p mut [f32],
    pub(crate) square: &'p mut [f32],
    /// The gradients that the threads have found.
    pub(crate) gradients: Vec<&'p mut [f32]>,
}

/// Moves parameters along the sum of the gradients, and sets these to zero.
#[inline(always)]
pub(crate) fn apply(step: Step, slice: &mut Slice<'_>) {
    let Slice { values, mean, square, gradients } = slice;
    let Some((sum, others)) = gradients.split_first_mut() else { return };
    for other in others {
        for (sum, gradient) in sum.iter_mut().zip(other.iter_mut()) {
            *sum += *gradient;
            *gradient = 0.0;
        }
    }
    let moments = mean.iter_mut().zip(square.iter_mut());
    for ((value, gradient), (mean, square)) in values.iter_mut().zip(sum.iter_mut()).zip(moments) {
        *mean = BETA1 * *mean + (1.0 - BETA1) * *gradient;
        *square = BETA2 * *square + (1.0 - BETA2) * *gradient * *gradient;
        *gradient = 0.0;
        let change = *mean * step.mean_part / ((*square * step.square_part).sqrt() + EPSILON);
        *value = (*value - step.rate * (change + WEIGHT_DECAY * *value)).clamp(-step.bound, step.bound);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_rises_and_falls_to_a_hundredth() {
        let schedule = Schedule { highest: 0.001, batches: 20_000 };
        let rates: Vec<f32> = [0, 499, 10_250, 19_999].map(|batch| schedule.rate(batch)).to_vec();
        for (rate, expected) in rates.iter().zip([0.000_002, 0.001, 0.000_505, 0.000_01]) {
            assert!((rate / expected - 1.0).abs() < 0.01, "{rates:?}");
        }
        assert!(Schedule { highest: 0.001, batches: 1 }.rate(0) <= 0.001);
    }

    #[test]
    fn the_first_step_is_as_long_as_the_rate_whatever_the_gradient() {
        let (mut values, mut first, mut second) =
            ([0.5, -0.5, 0.75], [3.0, -0.001, -1.0], [1.0, -0.001, 0.0]);
        let mut moments = Moments::new(3);
        let gradients = vec![&mut first[..], &mut second[..]];
        let (mean, square) = (&mut moments.mean[..], &mut moments.square[..]);
        apply(Step::new(0.01, 0, 0.75), &mut Slice { values: &mut values, mean, square, gradients });
        for (value, expected) in values.iter().zip([0.49 - 0.000_05, -0.49 + 0.000_05, 0.75]) {
            assert!((value - expected).abs() < 1e-6, "{values:?}");
        }
        assert_eq!((first, second), ([0.0; 3], [0.0; 3]));
    }
}
