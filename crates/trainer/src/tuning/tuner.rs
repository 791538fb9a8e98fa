//! Fits the weights to a dataset with Adam.
//!
//! Source: Kingma and Ba, "Adam: A Method for Stochastic Optimization" (2015).

use std::ops::ControlFlow;

use super::dataset::{Dataset, Objective, Weights};

#[derive(Copy, Clone, Debug, PartialEq)]
pub struct TunerSettings {
    /// Number of passes over the positions.
    pub epochs: u32,
    /// Learning rate at the start, in centipawns; decays to a hundredth.
    pub step: f64,
    /// Batch size in positions.
    pub batch: usize,
    /// Share of the positions held out for validation.
    pub holdout: f64,
    pub threads: usize,
}

/// Progress of the tuner.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Epoch {
    /// Number of the epoch, from 1.
    pub number: u32,
    /// Mean squared error of the training positions.
    pub loss: f64,
    /// Mean squared error of the held-out positions.
    pub holdout_loss: f64,
}

/// Parameters of Adam, with the defaults of the paper for the first two.
const BETA1: f64 = 0.9;
const BETA2: f64 = 0.999;
const EPSILON: f64 = 1e-12;
/// Decay of a weight towards its start, for terms that occur in few positions.
const WEIGHT_DECAY: f64 = 2e-9;

/// Tunes from these weights on; `tell` is called after each epoch, and says whether to go on.
pub fn tune(
    dataset: &Dataset,
    goal: Objective,
    start: &Weights,
    settings: &TunerSettings,
    mut tell: impl FnMut(Epoch) -> ControlFlow<()>,
) -> Weights {
    let mut weights = start.clone();
    let mut adam = Adam::new(start.len());
    let mut random = fastrand::Rng::with_seed(1);
    // Positions of one game are consecutive, so the last games are held out as a whole.
    let learned = dataset.len() - (dataset.len() as f64 * settings.holdout) as usize;
    let mut learned: Vec<u32> = (0..learned as u32).collect();
    let apart: Vec<u32> = (learned.len() as u32..dataset.len() as u32).collect();
    let steps = settings.epochs * learned.len().div_ceil(settings.batch.max(1)) as u32;
    let mut taken = 0;
    for number in 1..=settings.epochs {
        random.shuffle(&mut learned);
        let mut loss = 0.0;
        for batch in learned.chunks(settings.batch.max(1)) {
            let (mut gradient, error) = dataset.gradient(batch, goal, &weights, settings.threads);
            loss += error * batch.len() as f64 / learned.len() as f64;
            for (gradient, (now, start)) in gradient.iter_mut().zip(weights.iter().zip(start)) {
                *gradient = [0, 1].map(|part| gradient[part] + WEIGHT_DECAY * (now[part] - start[part]));
            }
            let length = settings.step * 0.01_f64.powf(f64::from(taken) / f64::from(steps.max(1)));
            adam.step(&mut weights, &gradient, length);
            taken += 1;
        }
        let holdout_loss = dataset.loss(&apart, goal, &weights, settings.threads);
        if tell(Epoch { number, loss, holdout_loss }).is_break() {
            break;
        }
    }
    weights
}

struct Adam {
    mean: Weights,
    squares: Weights,
    steps: i32,
}

impl Adam {
    fn new(count: usize) -> Self {
        Adam { mean: vec![[0.0; 2]; count], squares: vec![[0.0; 2]; count], steps: 0 }
    }

    fn step(&mut self, weights: &mut Weights, gradient: &Weights, length: f64) {
        self.steps += 1;
        let warm = 1.0 - BETA1.powi(self.steps);
        let warm_squares = 1.0 - BETA2.powi(self.steps);
        for (term, weight) in weights.iter_mut().enumerate() {
            for part in 0..2 {
                let gradient = gradient[term][part];
                let mean = &mut self.mean[term][part];
                *mean = BETA1 * *mean + (1.0 - BETA1) * gradient;
                let square = &mut self.squares[term][part];
                *square = BETA2 * *square + (1.0 - BETA2) * gradient * gradient;
                weight[part] -= length * (*mean / warm) / ((*square / warm_squares).sqrt() + EPSILON);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use shakmaty::{ByColor, Color};
    use zeitnot_engine::eval::chess::{Counts, Example, penalty, terms};

    use super::*;
    use crate::tuning::initial_weights;

    const GOAL: Objective = Objective { steepness: 0.006, score_weight: 0.0 };

    /// An evaluation of a few terms, as its positions would show it.
    fn points(example: &Example, weights: &Weights) -> f64 {
        let sum = |counts: &[i16]| {
            counts.iter().zip(weights).fold([0.0; 2], |sum, (&times, worth)| {
                [0, 1].map(|part| sum[part] + worth[part] * f64::from(times))
            })
        };
        let plain = sum(&example.counts.terms[..]);
        let pays = |color| penalty(sum(&example.counts.dangers.get(color)[..])).0;
        let (white, black) = (pays(Color::White), pays(Color::Black));
        let total = [0, 1].map(|part| plain[part] - white[part] + black[part]);
        let phase = f64::from(example.phase);
        GOAL.points(total[0] * phase + total[1] * (1.0 - phase))
    }

    #[test]
    fn known_weights_are_found_again() {
        let mut random = fastrand::Rng::with_seed(3);
        let known = [terms::MATERIAL.at(1), terms::BISHOP_PAIR.at(0), terms::PASSED.at(4)];
        let danger = [terms::DANGER_RING_ATTACKS.at(0), terms::DANGER_SAFE_CHECKS.at(3)];
        let mut truth = initial_weights();
        for (term, worth) in known.into_iter().zip([[310.0, 280.0], [25.0, 40.0], [-5.0, 60.0]]) {
            truth[term] = worth;
        }
        for (term, worth) in danger.into_iter().zip([[35.0, 20.0], [60.0, 30.0]]) {
            truth[term] = worth;
        }
        let mut dataset = Dataset::default();
        for _ in 0..4_000 {
            let mut counts = Counts::new();
            for term in known {
                counts.terms[term] = random.i16(-2..=2);
            }
            for term in danger {
                counts.dangers.white[term] = random.i16(0..6);
                counts.dangers.black[term] = random.i16(0..6);
            }
            let example = Example { counts, phase: random.f32(), scale: ByColor { black: 1.0, white: 1.0 } };
            dataset.push(&example, points(&example, &truth));
        }
        let settings = TunerSettings { epochs: 60, step: 4.0, batch: 200, holdout: 0.1, threads: 2 };
        let mut epochs = Vec::new();
        let found = tune(&dataset, GOAL, &initial_weights(), &settings, |epoch| {
            epochs.push(epoch);
            ControlFlow::Continue(())
        });
        assert_eq!(epochs.len(), 60);
        assert!(epochs[59].loss < epochs[0].loss / 100.0, "{:?} {:?}", epochs[0], epochs[59]);
        for term in known.into_iter().chain(danger) {
            for part in 0..2 {
                let (found, truth) = (found[term][part], truth[term][part]);
                // In the endgame, eight of danger are half a centipawn.
                let near = if danger.contains(&term) && part == 1 { 8.0 } else { 2.0 };
                assert!((found - truth).abs() < near, "{term}: {found} for {truth}");
            }
        }
        // What never stood in a position is as it was.
        assert_eq!(found[terms::TEMPO.at(0)], [0.0; 2]);
    }
}
