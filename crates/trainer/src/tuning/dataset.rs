//! Traced positions with their targets, and the loss of weights on them.

use std::ops::Range;

use shakmaty::ByColor;
use zeitnot_engine::eval::chess::{
    Example, example, penalty,
    terms::{COUNT, DANGER},
};
use zeitnot_rules::chess::NotAPosition;

use crate::{
    example::fitted_scale,
    games::Record,
    threads::{in_parallel, shares},
};

/// Middlegame and endgame value of each term, in centipawns.
pub type Weights = Vec<[f64; 2]>;

/// Count of a term in a position.
#[derive(Copy, Clone, Debug)]
struct Count {
    term: u16,
    times: i16,
}

#[derive(Clone, Debug)]
struct Sample {
    /// Ranges in the list of counts: plain terms, danger of White's king, danger of Black's.
    counts: [Range<u32>; 3],
    phase: f32,
    scale: ByColor<f32>,
    target: f32,
}

/// Tuning objective: the sigmoid from centipawns to points, and the blend of score and result.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Objective {
    pub steepness: f64,
    /// Weight of the search score in the target; the rest is the result of the game.
    pub score_weight: f64,
}

impl Objective {
    /// Expected points, from 0 to 1.
    pub fn points(&self, score: f64) -> f64 {
        1.0 / (1.0 + (-self.steepness * score).exp())
    }

    fn target(&self, score: i16, result: u8) -> f64 {
        self.score_weight * self.points(score.into()) + (1.0 - self.score_weight) * f64::from(result) / 2.0
    }
}

/// Positions to fit the weights to.
#[derive(Clone, Debug, Default)]
pub struct Dataset {
    samples: Vec<Sample>,
    counts: Vec<Count>,
}

impl Dataset {
    /// Traces records on this many threads, skipping special endings.
    ///
    /// # Errors
    /// [`NotAPosition`] for bytes that are not positions.
    pub fn read(records: &[Record], goal: Objective, threads: usize) -> Result<Dataset, NotAPosition> {
        let parts = in_parallel(shares(records, threads).map(|part| || Dataset::read_part(part, goal)));
        let mut whole = Dataset::default();
        for part in parts {
            whole.append(part?);
        }
        Ok(whole)
    }

    fn read_part(records: &[Record], goal: Objective) -> Result<Dataset, NotAPosition> {
        let mut dataset = Dataset::default();
        for record in records {
            let (position, label) = record.unpack()?;
            if let Some(example) = example(&position) {
                dataset.push(&example, goal.target(label.score, label.result));
            }
        }
        Ok(dataset)
    }

    /// Adds a position with its target from White's point of view.
    pub(crate) fn push(&mut self, example: &Example, target: f64) {
        let lists = [&example.counts.terms, &example.counts.dangers.white, &example.counts.dangers.black];
        let counts = lists.map(|list| {
            let first = self.counts.len() as u32;
            let present = list.iter().enumerate().filter(|&(_, &times)| times != 0);
            self.counts.extend(present.map(|(term, &times)| Count { term: term as u16, times }));
            first..self.counts.len() as u32
        });
        let (phase, scale) = (example.phase, example.scale);
        self.samples.push(Sample { counts, phase, scale, target: target as f32 });
    }

    fn append(&mut self, other: Dataset) {
        let by = self.counts.len() as u32;
        self.counts.extend(other.counts);
        self.samples.extend(other.samples.into_iter().map(|sample| Sample {
            counts: sample.counts.map(|range| range.start + by..range.end + by),
            ..sample
        }));
    }

    pub fn len(&self) -> usize {
        self.samples.len()
    }

    pub fn is_empty(&self) -> bool {
        self.samples.is_empty()
    }

    fn counts(&self, range: &Range<u32>) -> &[Count] {
        &self.counts[range.start as usize..range.end as usize]
    }

    fn sum(&self, range: &Range<u32>, weights: &[[f64; 2]]) -> [f64; 2] {
        self.counts(range).iter().fold([0.0; 2], |sum, count| {
            let (worth, times) = (weights[usize::from(count.term)], f64::from(count.times));
            [sum[0] + worth[0] * times, sum[1] + worth[1] * times]
        })
    }

    /// Squared error of one position; adds its gradient if requested.
    fn error(
        &self,
        sample: &Sample,
        goal: Objective,
        weights: &[[f64; 2]],
        gradient: Option<&mut [[f64; 2]]>,
    ) -> f64 {
        let [plain, white, black] = &sample.counts;
        let sum = self.sum(plain, weights);
        let (white_pays, white_gradient) = penalty(self.sum(white, weights));
        let (black_pays, black_gradient) = penalty(self.sum(black, weights));
        let [middlegame, endgame] = [0, 1].map(|part| sum[part] - white_pays[part] + black_pays[part]);
        let phase = f64::from(sample.phase);
        let scale = f64::from(if endgame > 0.0 { sample.scale.white } else { sample.scale.black });
        // Weights of the middlegame and the endgame score in this position.
        let share = [phase, scale * (1.0 - phase)];
        let points = goal.points(middlegame * share[0] + endgame * share[1]);
        let error = points - f64::from(sample.target);
        if let Some(gradient) = gradient {
            let outer = 2.0 * error * points * (1.0 - points) * goal.steepness;
            for (range, inner) in [
                (plain, [1.0; 2]),
                (white, white_gradient.map(|gradient| -gradient)),
                (black, black_gradient),
            ] {
                for count in self.counts(range) {
                    let times = f64::from(count.times) * outer;
                    let gradient = &mut gradient[usize::from(count.term)];
                    gradient[0] += times * share[0] * inner[0];
                    gradient[1] += times * share[1] * inner[1];
                }
            }
        }
        error * error
    }

    /// Mean squared error of these positions.
    pub fn loss(&self, which: &[u32], goal: Objective, weights: &[[f64; 2]], threads: usize) -> f64 {
        let sum: f64 = in_parallel(shares(which, threads).map(|part| {
            || part.iter().map(|&at| self.error(&self.samples[at as usize], goal, weights, None)).sum::<f64>()
        }))
        .into_iter()
        .sum();
        sum / which.len().max(1) as f64
    }

    /// Gradient of [`Dataset::loss`], and the loss.
    pub(crate) fn gradient(
        &self,
        which: &[u32],
        goal: Objective,
        weights: &[[f64; 2]],
        threads: usize,
    ) -> (Weights, f64) {
        let parts = in_parallel(shares(which, threads).map(|part| {
            || {
                let mut gradient = vec![[0.0; 2]; COUNT];
                let errors = part
                    .iter()
                    .map(|&at| self.error(&self.samples[at as usize], goal, weights, Some(&mut gradient)));
                let loss: f64 = errors.sum();
                (gradient, loss)
            }
        }));
        let count = which.len().max(1) as f64;
        let (mut gradient, mut loss) = (vec![[0.0; 2]; COUNT], 0.0);
        for (part, error) in parts {
            loss += error / count;
            for (sum, part) in gradient.iter_mut().zip(part) {
                *sum = [sum[0] + part[0] / count, sum[1] + part[1] / count];
            }
        }
        (gradient, loss)
    }
}

/// Fits the steepness of the sigmoid to the scores and results of these records.
pub fn steepness(records: &[Record]) -> f64 {
    let label = |at: usize| records[at].unpack().ok().map(|(_, label)| (label.score, label.result));
    1.0 / fitted_scale(records.len(), label)
}

/// Initial weights: piece values only.
pub fn initial_weights() -> Weights {
    const PIECES: [f64; 5] = [100.0, 300.0, 320.0, 500.0, 950.0];
    /// Non-zero start of the danger terms, whose gradient vanishes at zero.
    const INITIAL_DANGER: [f64; 2] = [20.0, 10.0];
    let weight = |term: usize| match PIECES.get(term) {
        Some(&worth) => [worth; 2],
        None if DANGER.holds(term) => INITIAL_DANGER,
        None => [0.0; 2],
    };
    (0..COUNT).map(weight).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::games::Label;
    use zeitnot_rules::{Game, chess::Chess};

    const GOAL: Objective = Objective { steepness: 0.006, score_weight: 0.5 };

    /// Positions of random games with random targets.
    fn dataset() -> Dataset {
        let mut random = fastrand::Rng::with_seed(5);
        let mut dataset = Dataset::default();
        for _ in 0..8 {
            let mut position = Chess::start();
            for _ in 0..80 {
                let Some(mv) = random.choice(position.moves()) else { break };
                position.play(mv);
                if let Some(example) = example(&position) {
                    dataset.push(&example, random.f64());
                }
            }
        }
        dataset
    }

    #[test]
    fn the_slope_is_the_slope() {
        let dataset = dataset();
        let which: Vec<u32> = (0..dataset.len() as u32).collect();
        let mut random = fastrand::Rng::with_seed(6);
        let weights: Weights =
            initial_weights().iter().map(|pair| pair.map(|worth| worth + 10.0 * random.f64())).collect();
        let (gradient, loss) = dataset.gradient(&which, GOAL, &weights, 3);
        assert!((loss - dataset.loss(&which, GOAL, &weights, 1)).abs() < 1e-12);
        let (mut checked, step) = (0, 1e-3);
        for term in (0..COUNT).filter(|term| term % 7 == 0 || DANGER.holds(*term)) {
            for part in 0..2 {
                let at = |by: f64| {
                    let mut weights = weights.clone();
                    weights[term][part] += by;
                    dataset.loss(&which, GOAL, &weights, 1)
                };
                let measured = (at(step) - at(-step)) / (2.0 * step);
                let told = gradient[term][part];
                assert!((measured - told).abs() < 1e-9 + 1e-3 * told.abs(), "{term}: {measured} {told}");
                checked += usize::from(told != 0.0);
            }
        }
        assert!(checked > 60, "too few terms stand in these positions: {checked}");
    }

    #[test]
    fn records_are_read_in_parts_as_in_one() {
        let records: Vec<_> = (0..10)
            .map(|at| Record::pack(&Chess::start(), Label { score: at, result: (at % 3) as u8 }))
            .collect();
        let (one, three) =
            (Dataset::read(&records, GOAL, 1).unwrap(), Dataset::read(&records, GOAL, 3).unwrap());
        let which: Vec<u32> = (0..10).collect();
        assert_eq!((one.len(), three.len()), (10, 10));
        for at in 0..10 {
            let loss = |dataset: &Dataset| dataset.loss(&which[at..=at], GOAL, &initial_weights(), 1);
            assert_eq!(loss(&one), loss(&three));
        }
        assert!(Dataset::read(&[Record([0xff; 32])], GOAL, 1).is_err());
    }

    #[test]
    fn the_steepness_is_found() {
        let truth = Objective { steepness: 0.004, score_weight: 0.0 };
        let mut random = fastrand::Rng::with_seed(8);
        let records: Vec<_> = (0..20_000)
            .map(|_| {
                let score = random.i16(-800..800);
                let won = random.f64() < truth.points(score.into());
                Record::pack(&Chess::start(), Label { score, result: 2 * u8::from(won) })
            })
            .collect();
        let found = steepness(&records);
        assert!((0.0036..0.0044).contains(&found), "{found}");
    }
}
