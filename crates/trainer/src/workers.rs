//! Threads of the trainer: each computes the gradient of a part of a batch, and then moves a part of the parameters.

use crate::{
    example::{Example, Examples},
    layers::Shape,
    optimizer::{Moments, Slice, Step},
    simd,
    threads::{in_parallel, shares},
};

/// Positions that are gathered before they are looked at: they lie far apart, and loading one waits for memory unless
/// others are loaded at the same time.
const GATHERED: usize = 256;

/// Memory of one thread.
struct Worker {
    gathered: Vec<Example>,
    accumulators: Vec<f32>,
    gradient: Vec<f32>,
}

/// The threads' memory; the threads live for a part of a step.
pub(crate) struct Workers {
    shape: Shape,
    workers: Vec<Worker>,
}

impl Workers {
    pub(crate) fn new(shape: Shape, threads: usize) -> Workers {
        let worker = || Worker {
            gathered: Vec::with_capacity(GATHERED),
            accumulators: vec![0.0; 2 * shape.hidden],
            gradient: vec![0.0; shape.parameters()],
        };
        Workers { shape, workers: (0..threads.max(1)).map(|_| worker()).collect() }
    }

    /// Moves the parameters by a batch, and returns the sum of its squared errors before.
    pub(crate) fn step(
        &mut self,
        values: &mut [f32],
        moments: &mut Moments,
        examples: &impl Examples,
        batch: &[u32],
        step: Step,
    ) -> f64 {
        let sum = self.gradient(values, examples, batch);
        self.apply(values, moments, step);
        sum
    }

    fn gradient(&mut self, values: &[f32], examples: &impl Examples, batch: &[u32]) -> f64 {
        let shape = self.shape;
        let orders = shares(batch, self.workers.len());
        let part = 1.0 / batch.len().max(1) as f32;
        let work = self.workers.iter_mut().zip(orders);
        let sums = in_parallel(work.map(|(worker, order)| {
            move || {
                let mut sum = 0.0;
                for places in order.chunks(GATHERED) {
                    worker.gathered.clear();
                    examples.gather(places, &mut worker.gathered);
                    let Worker { gathered, accumulators, gradient } = &mut *worker;
                    sum += simd::learn(shape, values, gathered, part, accumulators, gradient);
                }
                sum
            }
        }));
        sums.into_iter().sum()
    }

    fn apply(&mut self, values: &mut [f32], moments: &mut Moments, step: Step) {
        let share = values.len().div_ceil(self.workers.len()).max(1);
        let mut gradients: Vec<_> =
            self.workers.iter_mut().map(|worker| worker.gradient.chunks_mut(share)).collect();
        let moments = moments.mean.chunks_mut(share).zip(moments.square.chunks_mut(share));
        let slices = values.chunks_mut(share).zip(moments).map(|(values, (mean, square))| {
            let gradients = gradients.iter_mut().filter_map(Iterator::next).collect();
            Slice { values, mean, square, gradients }
        });
        let slices: Vec<_> = slices.collect();
        in_parallel(slices.into_iter().map(|mut slice| move || simd::apply(step, &mut slice)));
    }
}

/// The outputs of a net for the positions at these places, in units of its scale, and the sum of the squared errors.
pub(crate) fn outputs_of(
    shape: Shape,
    values: &[f32],
    examples: &impl Examples,
    places: &[u32],
    threads: usize,
) -> (Vec<f32>, f64) {
    let parts = in_parallel(shares(places, threads).map(|part| {
        move || {
            let (mut accumulators, mut told, mut sum) = (vec![0.0; 2 * shape.hidden], Vec::new(), 0.0);
            let mut gathered = Vec::with_capacity(GATHERED);
            for places in part.chunks(GATHERED) {
                gathered.clear();
                examples.gather(places, &mut gathered);
                let before = told.len();
                simd::outputs(shape, values, &gathered, &mut accumulators, &mut told);
                let errors = gathered
                    .iter()
                    .zip(&told[before..])
                    .map(|(example, output)| example.error(*output).powi(2));
                sum += errors.sum::<f64>();
            }
            (told, sum)
        }
    }));
    let (told, sums): (Vec<_>, Vec<f64>) = parts.into_iter().unzip();
    (told.concat(), sums.iter().sum())
}
