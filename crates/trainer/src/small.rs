//! The trainer of small nets: the same objective and optimiser as those of the net for chess, for any inputs.

use zeitnot_engine::{
    eval::small_net::{BUCKETS, HIDDEN},
    net::{MAX_OUTPUT_WEIGHT, QA, QB},
};

use crate::{
    optimizer::{Moments, Schedule, Slice, Step, apply},
    position::sigmoid,
    small_examples::{SmallExample, SmallExamples},
    threads::{in_parallel, shares},
};

/// Settings of a run.
#[derive(Copy, Clone, Debug)]
pub struct SmallSettings {
    /// Positions of a batch.
    pub batch: usize,
    /// Passes over the positions.
    pub epochs: u32,
    /// Highest learning rate.
    pub rate: f32,
    /// Weight of the search's score in the target, from 0 to 1; the rest is the result's.
    pub score_weight: f32,
    /// Centipawns for which a score promises odds of e to one; `None` fits them to the results.
    pub scale: Option<f32>,
    /// Seed of the first weights and of the order of positions.
    pub seed: u64,
    /// Number of threads.
    pub threads: usize,
}

/// Losses after a pass.
#[derive(Copy, Clone, Debug)]
pub struct SmallReport {
    /// Number of the pass, from 1.
    pub epoch: u32,
    /// Mean squared error of the positions learned from, each before it was.
    pub loss: f64,
    /// Mean squared error of the held-out positions now.
    pub held_out: f64,
}

/// One position of so many is held out; games lie together, so the last ones are.
const HELD_OUT: usize = 20;
/// Inputs that are active at a time, about: for the first weights.
const ACTIVE: f32 = 24.0;
/// Bound of every parameter: the weights of the output layers fit their rounded range.
const BOUND: f32 = 1.98;
const _: () = assert!(BOUND * QB as f32 <= MAX_OUTPUT_WEIGHT as f32);
/// Magnitude of the first weights of the output layers.
const OUTPUT: f32 = 0.1;

type Column = [f32; HIDDEN];

/// Parameters, or their gradient: the columns of the inputs, the bias, for each bucket two columns of the output, and a
/// last column with the biases of the buckets.
type Columns = Vec<Column>;

const AFTER_INPUTS: usize = 1 + 2 * BUCKETS + 1;

/// A small net that learns.
pub struct SmallRun<'e> {
    examples: &'e SmallExamples,
    settings: SmallSettings,
    parameters: Columns,
    moments: Moments,
    order: Vec<u32>,
    random: fastrand::Rng,
    /// Centipawns of an output of one.
    scale: f32,
    batches: u64,
    epochs: u32,
}

impl<'e> SmallRun<'e> {
    /// Begins a run.
    pub fn begin(examples: &'e SmallExamples, settings: SmallSettings) -> SmallRun<'e> {
        let mut random = fastrand::Rng::with_seed(settings.seed);
        let columns = examples.inputs + AFTER_INPUTS;
        let parameters: Columns = (0..columns)
            .map(|column| {
                let bound = match column {
                    column if column < examples.inputs => 1.0 / ACTIVE.sqrt(),
                    column if column == examples.inputs || column == columns - 1 => 0.0,
                    _ => OUTPUT,
                };
                std::array::from_fn(|_| (2.0 * random.f32() - 1.0) * bound)
            })
            .collect();
        let learned = examples.len() - examples.len() / HELD_OUT;
        SmallRun {
            examples,
            settings,
            moments: Moments::new(parameters.len() * HIDDEN),
            parameters,
            order: (0..learned as u32).collect(),
            random,
            scale: settings.scale.unwrap_or_else(|| fitted_scale(examples)),
            batches: 0,
            epochs: 0,
        }
    }

    /// Centipawns for which the results show odds of e to one.
    pub fn scale(&self) -> f32 {
        self.scale
    }

    /// Passes over all positions once; `None` when all passes are done.
    pub fn epoch(&mut self) -> Option<SmallReport> {
        if self.epochs >= self.settings.epochs {
            return None;
        }
        self.epochs += 1;
        self.random.shuffle(&mut self.order);
        let order = std::mem::take(&mut self.order);
        let batches = order.chunks(self.settings.batch.max(1));
        let all = batches.len() as u64 * u64::from(self.settings.epochs);
        let schedule = Schedule { highest: self.settings.rate, batches: all };
        let mut sum = 0.0;
        for batch in batches {
            sum += self.learn(batch, schedule);
        }
        let loss = sum / order.len().max(1) as f64;
        self.order = order;
        Some(SmallReport { epoch: self.epochs, loss, held_out: self.held_out() })
    }

    fn learn(&mut self, batch: &[u32], schedule: Schedule) -> f64 {
        let (seed, part) = (self.random.u64(..), 1.0 / batch.len() as f32);
        let this = &*self;
        let parts = in_parallel(shares(batch, self.settings.threads).map(|share| {
            move || {
                let mut gradient = vec![[0.0; HIDDEN]; this.parameters.len()];
                let mut random = fastrand::Rng::with_seed(seed ^ u64::from(share[0]));
                let mut sum = 0.0;
                for &index in share {
                    let example = this.examples.get(index as usize);
                    let mirror = random.bool().then_some(&this.examples.mirrored[..]);
                    sum += this.example(&example, mirror, Some((&mut gradient, part)));
                }
                (gradient, sum)
            }
        }));
        let (mut gradients, sums): (Vec<_>, Vec<f64>) = parts.into_iter().unzip();
        let gradients = gradients.iter_mut().map(|gradient| gradient.as_flattened_mut()).collect();
        let Moments { mean, square } = &mut self.moments;
        let values = self.parameters.as_flattened_mut();
        apply(
            Step::new(schedule.rate(self.batches), self.batches, BOUND),
            &mut Slice { values, mean, square, gradients },
        );
        self.batches += 1;
        sums.iter().sum()
    }

    fn held_out(&self) -> f64 {
        let apart: Vec<u32> = (self.order.len() as u32..self.examples.len() as u32).collect();
        let sums = in_parallel(shares(&apart, self.settings.threads).map(|share| {
            move || {
                share.iter().map(|&at| self.example(&self.examples.get(at as usize), None, None)).sum::<f64>()
            }
        }));
        sums.iter().sum::<f64>() / apart.len().max(1) as f64
    }

    /// The squared error of a position; adds its gradient, times a part.
    fn example(
        &self,
        example: &SmallExample<'_>,
        mirror: Option<&[u16]>,
        gradient: Option<(&mut Columns, f32)>,
    ) -> f64 {
        let inputs = self.examples.inputs;
        let index = |input: u16| usize::from(mirror.map_or(input, |mirrored| mirrored[usize::from(input)]));
        let mut layers = [self.parameters[inputs]; 2];
        for active in example.active {
            for view in 0..2 {
                add(&mut layers[view], &self.parameters[index(active[view])], 1.0);
            }
        }
        let output = inputs + 1 + 2 * example.bucket;
        let last = self.parameters.len() - 1;
        let sum: f32 = (0..2).map(|view| squares(&layers[view], &self.parameters[output + view])).sum();
        let logit = sum + self.parameters[last][example.bucket];
        let points = sigmoid(logit);
        let by_score = sigmoid(f32::from(example.score) / self.scale);
        let weight = self.settings.score_weight;
        let target = weight * by_score + (1.0 - weight) * f32::from(example.result) / 2.0;
        let error = points - target;
        if let Some((gradient, part)) = gradient {
            let slope = 2.0 * error * points * (1.0 - points) * part;
            gradient[last][example.bucket] += slope;
            for view in 0..2 {
                let mut inner = [0.0; HIDDEN];
                let weights = &self.parameters[output + view];
                let weight_slopes = &mut gradient[output + view];
                for at in 0..HIDDEN {
                    let value = layers[view][at].clamp(0.0, 1.0);
                    weight_slopes[at] += slope * value * value;
                    inner[at] = if layers[view][at] < 1.0 { 2.0 * slope * weights[at] * value } else { 0.0 };
                }
                add(&mut gradient[inputs], &inner, 1.0);
                for active in example.active {
                    add(&mut gradient[index(active[view])], &inner, 1.0);
                }
            }
        }
        f64::from(error * error)
    }

    /// The net as the engine reads it.
    pub fn to_bytes(&self) -> Vec<u8> {
        let inputs = self.examples.inputs;
        let mut bytes = Vec::new();
        for (index, column) in self.parameters[..self.parameters.len() - 1].iter().enumerate() {
            let (unit, most) =
                if index <= inputs { (QA, i16::MAX) } else { (i32::from(QB), MAX_OUTPUT_WEIGHT) };
            for weight in column {
                let rounded = (weight * unit as f32).round().clamp(-f32::from(most), f32::from(most)) as i16;
                bytes.extend(rounded.to_le_bytes());
            }
        }
        for bias in &self.parameters[self.parameters.len() - 1][..BUCKETS] {
            bytes.extend(((bias * (QA * i32::from(QB)) as f32).round() as i32).to_le_bytes());
        }
        bytes.extend((self.scale.round() as i32).to_le_bytes());
        bytes
    }
}

#[inline(always)]
fn add(sum: &mut Column, column: &Column, times: f32) {
    for (value, weight) in sum.iter_mut().zip(column) {
        *value += weight * times;
    }
}

#[inline(always)]
fn squares(layer: &Column, weights: &Column) -> f32 {
    const LANES: usize = 8;
    let mut lanes = [0.0; LANES];
    for at in 0..HIDDEN {
        let value = layer[at].clamp(0.0, 1.0);
        lanes[at % LANES] += value * value * weights[at];
    }
    lanes.iter().sum()
}

/// Finds the scale with which the scores foretell the results best.
fn fitted_scale(examples: &SmallExamples) -> f32 {
    const RANGE: (f64, f64) = (50.0, 2_000.0);
    const SAMPLE: usize = 100_000;
    const STEPS: u32 = 30;
    let step = examples.len().div_ceil(SAMPLE).max(1);
    let sample: Vec<_> = (0..examples.len())
        .step_by(step)
        .map(|index| examples.get(index))
        .map(|example| (f64::from(example.score), f64::from(example.result) / 2.0))
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
    ((low + high) / 2.0) as f32
}

#[cfg(test)]
mod tests {
    use super::*;
    use zeitnot_engine::{
        StopFlag,
        eval::small_net::{Column as Weights, NetInputs, SmallNet},
        net::EvalFile,
    };
    use zeitnot_rules::{GameKind, minichess::MiniChess};

    use crate::games::{NodeLimits, Shard, StoredGame, self_player};

    const GAME: GameKind = GameKind::Minichess2026;

    fn examples(games: usize) -> SmallExamples {
        let effort = NodeLimits { soft: 30, hard: 120 };
        let mut player = self_player(GAME, effort, Shard::WHOLE, 1, &EvalFile::HandMade).unwrap();
        let stop = StopFlag::default();
        let mut examples = SmallExamples::new(GAME).unwrap();
        let played = (0..games as u64).filter_map(|number| player.stored_game(number, &stop));
        played.for_each(|game: StoredGame| examples.extend(game.bytes()).unwrap());
        examples
    }

    fn settings() -> SmallSettings {
        SmallSettings {
            batch: 64,
            epochs: 4,
            rate: 0.005,
            score_weight: 0.6,
            scale: Some(150.0),
            seed: 1,
            threads: 2,
        }
    }

    #[test]
    fn the_loss_falls_and_the_net_is_read() {
        let examples = examples(20);
        let run = || {
            let mut run = SmallRun::begin(&examples, settings());
            let reports: Vec<_> = std::iter::from_fn(|| run.epoch()).collect();
            (reports, run.to_bytes())
        };
        let (reports, bytes) = run();
        assert_eq!((reports.len(), reports[3].epoch), (4, 4));
        assert!(reports[3].loss < 0.8 * reports[0].loss, "{reports:?}");
        assert!(reports.iter().all(|report| report.held_out > 0.0));
        assert_eq!(run().1, bytes, "the same seed gives the same net");
        assert_eq!(bytes.len(), SmallNet::<[Weights; MiniChess::INPUTS]>::BYTES);
        SmallNet::<[Weights; MiniChess::INPUTS]>::read(&bytes);
    }

    #[test]
    fn the_gradient_is_the_slope_of_the_loss() {
        let examples = examples(2);
        let mut run = SmallRun::begin(&examples, settings());
        let (index, step) = (examples.len() / 2, 1e-2);
        let example = examples.get(index);
        let mut gradient = vec![[0.0; HIDDEN]; run.parameters.len()];
        run.example(&example, None, Some((&mut gradient, 1.0)));
        let output = examples.inputs + 1 + 2 * example.bucket;
        let mut checked = 0;
        for column in [usize::from(example.active[0][0]), examples.inputs, output, output + 1] {
            for (at, expected) in gradient[column].iter().enumerate() {
                let mut moved = |by: f32| {
                    run.parameters[column][at] += by;
                    run.example(&example, None, None)
                };
                let (after, now, before) = (moved(step), moved(-step), moved(-step));
                moved(step);
                let slopes = [after - now, now - before].map(|change| change as f32 / step);
                // At a bend of the activation there is no slope.
                if (slopes[0] - slopes[1]).abs() < 4e-3 {
                    let slope = (slopes[0] + slopes[1]) / 2.0;
                    assert!((slope - expected).abs() < 2e-3, "{column} {at}: {slope} {expected}");
                    checked += 1;
                }
            }
        }
        assert!(checked > 2 * HIDDEN, "{checked}");
    }
}
