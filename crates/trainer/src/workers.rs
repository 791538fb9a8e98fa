//! Threads of the trainer: each computes the gradient of a part of a batch, and then moves a part of the parameters.

use crate::{
    feed::Batch,
    gradient::Objective,
    layers::parameter_count,
    optimizer::{Moments, Slice, Step},
    parameters::Parameters,
    position::TrainingPosition,
    simd,
    threads::{in_parallel, shares},
};

/// Positions that are gathered from a block before they are looked at: they lie far apart, and loading one waits for
/// memory unless others are loaded at the same time.
const GATHERED: usize = 256;

/// Memory of one thread.
struct Worker {
    gathered: Vec<TrainingPosition>,
    accumulators: Vec<f32>,
    gradient: Vec<f32>,
}

/// The threads' memory; the threads live for a part of a step.
pub(crate) struct Workers {
    objective: Objective,
    workers: Vec<Worker>,
}

impl Workers {
    pub(crate) fn new(objective: Objective, threads: usize) -> Workers {
        let worker = || Worker {
            gathered: Vec::with_capacity(GATHERED),
            accumulators: vec![0.0; 2 * objective.shape.hidden()],
            gradient: vec![0.0; parameter_count(objective.shape)],
        };
        Workers { objective, workers: (0..threads.max(1)).map(|_| worker()).collect() }
    }

    /// Moves the parameters by a batch, and returns the sum of its squared errors before.
    pub(crate) fn step(
        &mut self,
        parameters: &mut Parameters,
        moments: &mut Moments,
        batch: &Batch<'_>,
        step: Step,
    ) -> f64 {
        let sum = self.gradient(parameters, batch);
        self.apply(parameters, moments, step);
        sum
    }

    fn gradient(&mut self, parameters: &Parameters, batch: &Batch<'_>) -> f64 {
        let objective = &self.objective;
        let orders = shares(batch.order, self.workers.len());
        let part = 1.0 / batch.order.len().max(1) as f32;
        let work = self.workers.iter_mut().zip(orders);
        let sums = in_parallel(work.map(|(worker, order)| {
            move || {
                let mut sum = 0.0;
                for places in order.chunks(GATHERED) {
                    worker.gathered.clear();
                    worker.gathered.extend(places.iter().map(|&place| batch.block[place as usize]));
                    let Worker { gathered, accumulators, gradient } = &mut *worker;
                    sum += simd::learn(objective, &parameters.values, gathered, part, accumulators, gradient);
                }
                sum
            }
        }));
        sums.into_iter().sum()
    }

    fn apply(&mut self, parameters: &mut Parameters, moments: &mut Moments, step: Step) {
        let share = parameters.values.len().div_ceil(self.workers.len()).max(1);
        let mut gradients: Vec<_> =
            self.workers.iter_mut().map(|worker| worker.gradient.chunks_mut(share)).collect();
        let moments = moments.mean.chunks_mut(share).zip(moments.square.chunks_mut(share));
        let slices = parameters.values.chunks_mut(share).zip(moments).map(|(values, (mean, square))| {
            let gradients = gradients.iter_mut().filter_map(Iterator::next).collect();
            Slice { values, mean, square, gradients }
        });
        let slices: Vec<_> = slices.collect();
        in_parallel(slices.into_iter().map(|mut slice| move || simd::apply(step, &mut slice)));
    }
}

/// The outputs of a net for positions, in units of its scale.
pub(crate) fn outputs_of(
    parameters: &Parameters,
    positions: &[TrainingPosition],
    threads: usize,
) -> Vec<f32> {
    let hidden = parameters.shape.hidden();
    let parts = in_parallel(shares(positions, threads).map(|part| {
        move || {
            let (mut accumulators, mut told) = (vec![0.0; 2 * hidden], Vec::new());
            simd::outputs(hidden, &parameters.values, part, &mut accumulators, &mut told);
            told
        }
    }));
    parts.concat()
}
