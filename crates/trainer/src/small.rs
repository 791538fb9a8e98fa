//! The trainer of small nets: the same objective and optimiser as those of the net for chess, for any inputs.

use zeitnot_engine::{
    eval::small_net::HIDDEN,
    net::{MAX_OUTPUT_WEIGHT, QA, QB},
};

use crate::{
    example::{Example, Examples, fitted_scale, target},
    layers::Shape,
    optimizer::{Moments, Schedule, Step},
    small_examples::{SmallExample, SmallExamples},
    workers::{Workers, outputs_of},
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

/// A small net that learns.
pub struct SmallRun<'e> {
    examples: &'e SmallExamples,
    settings: SmallSettings,
    shape: Shape,
    /// Parameters of the net.
    values: Vec<f32>,
    moments: Moments,
    workers: Workers,
    order: Vec<u32>,
    random: fastrand::Rng,
    /// Centipawns of an output of one.
    scale: f32,
    batches: u64,
    epochs: u32,
}

/// Positions to learn from, each mirrored or not by this seed, or to measure the loss of.
struct SmallPositions<'r> {
    examples: &'r SmallExamples,
    score_weight: f32,
    scale: f32,
    mirror: Option<u64>,
}

impl Examples for SmallPositions<'_> {
    fn gather(&self, places: &[u32], found: &mut Vec<Example>) {
        found.extend(places.iter().map(|&place| {
            let SmallExample { active, bucket, result, score } = self.examples.get(place as usize);
            let seed = self.mirror.map(|seed| seed ^ u64::from(place));
            let is_mirrored = seed.is_some_and(|seed| fastrand::Rng::with_seed(seed).bool());
            let input = |input: u16| {
                if is_mirrored { self.examples.mirrored[usize::from(input)] } else { input }
            };
            let target = target(f32::from(score) / self.scale, result, self.score_weight);
            let mut example = Example::new(bucket, target);
            active.iter().for_each(|&[own, other]| example.push(input(own), input(other)));
            example
        }));
    }
}

impl<'e> SmallRun<'e> {
    /// Begins a run.
    pub fn begin(examples: &'e SmallExamples, settings: SmallSettings) -> SmallRun<'e> {
        let mut random = fastrand::Rng::with_seed(settings.seed);
        let shape = Shape { inputs: examples.inputs, hidden: HIDDEN };
        let values = shape.random(&mut random, [1.0 / ACTIVE.sqrt(), OUTPUT]);
        let learned = examples.len() - examples.len() / HELD_OUT;
        let label = |at: usize| {
            let SmallExample { score, result, .. } = examples.get(at);
            Some((score, result))
        };
        SmallRun {
            examples,
            settings,
            shape,
            moments: Moments::new(values.len()),
            values,
            workers: Workers::new(shape, settings.threads),
            order: (0..learned as u32).collect(),
            random,
            scale: settings.scale.unwrap_or_else(|| fitted_scale(examples.len(), label) as f32),
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
            let mirror = Some(self.random.u64(..));
            let examples = self.positions(mirror);
            let step = Step::new(schedule.rate(self.batches), self.batches, BOUND);
            sum += self.workers.step(&mut self.values, &mut self.moments, &examples, batch, step);
            self.batches += 1;
        }
        let loss = sum / order.len().max(1) as f64;
        self.order = order;
        Some(SmallReport { epoch: self.epochs, loss, held_out: self.held_out() })
    }

    fn positions(&self, mirror: Option<u64>) -> SmallPositions<'e> {
        let (examples, score_weight) = (self.examples, self.settings.score_weight);
        SmallPositions { examples, score_weight, scale: self.scale, mirror }
    }

    fn held_out(&self) -> f64 {
        let places: Vec<u32> = (self.order.len() as u32..self.examples.len() as u32).collect();
        let (_, error) =
            outputs_of(self.shape, &self.values, &self.positions(None), &places, self.settings.threads);
        error / places.len().max(1) as f64
    }

    /// The net as the engine reads it.
    pub fn to_bytes(&self) -> Vec<u8> {
        let layers = self.shape.split(&self.values);
        let mut bytes = Vec::new();
        for (weights, unit, most) in [
            (layers.columns, QA, i16::MAX),
            (layers.bias, QA, i16::MAX),
            (layers.output, QB.into(), MAX_OUTPUT_WEIGHT),
        ] {
            for weight in weights {
                let rounded = (weight * unit as f32).round().clamp(-f32::from(most), f32::from(most)) as i16;
                bytes.extend(rounded.to_le_bytes());
            }
        }
        for bias in layers.output_bias {
            bytes.extend(((bias * (QA * i32::from(QB)) as f32).round() as i32).to_le_bytes());
        }
        bytes.extend((self.scale.round() as i32).to_le_bytes());
        bytes
    }
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
}
