//! SPSA: simultaneous perturbation stochastic approximation, which tunes many parameters of an engine at once by games.
//!
//! Each step moves all parameters up or down at random, lets both settings (this way, and the opposite way) play each
//! other, and follows the one that scored more. Steps and perturbations shrink by Spall's schedules. They are scaled as
//! in fishtest and OpenBench: by their size at the end. Time is counted in pairs of games.
//!
//! Sources: J. Spall, "Implementation of the Simultaneous Perturbation Algorithm for Stochastic Optimization"; Chess
//! Programming Wiki, "SPSA"; fishtest.

mod state;

use std::iter;

pub use state::{resume, save};

/// Exponent by which the steps shrink …
const ALPHA: f64 = 0.602;
/// … and that of the perturbations.
const GAMMA: f64 = 0.101;
/// Part of all pairs by which the first steps are held back.
const STABILITY: f64 = 0.1;

/// Parameter that is tuned: a whole number within a range.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Parameter {
    /// Name of the engine's option.
    pub name: String,
    /// Initial value.
    pub start: i32,
    pub min: i32,
    pub max: i32,
    /// Perturbation at the end; larger before.
    pub step: u32,
}

/// Length and speed of the tuning.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Schedule {
    /// Number of pairs of games.
    pub pairs: u32,
    /// Step at the end, in squares of the perturbation for each game won more than lost.
    pub rate: f64,
    /// Seed of the directions.
    pub seed: u64,
}

/// State between two steps: all that must be kept to go on.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// Pairs played.
    pub pairs: u32,
    /// Values of the parameters in their order.
    pub values: Vec<f64>,
}

/// Tuning of parameters.
#[derive(Clone, Debug)]
pub struct Spsa {
    parameters: Vec<Parameter>,
    schedule: Schedule,
    progress: Progress,
}

/// Two settings that are compared.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial {
    /// Values in the chosen direction, and in the opposite one.
    pub values: [Vec<i32>; 2],
    /// Step of each parameter for each game that the first setting wins more than it loses.
    steps: Vec<f64>,
}

impl Spsa {
    /// Begins with the initial values.
    pub fn new(parameters: Vec<Parameter>, schedule: Schedule) -> Spsa {
        let values = parameters.iter().map(|parameter| f64::from(parameter.start)).collect();
        Spsa { parameters, schedule, progress: Progress { pairs: 0, values } }
    }

    /// Goes on from here. Returns `None` if this is no progress of these parameters.
    pub fn resume(self, progress: Progress) -> Option<Spsa> {
        let is_whole = progress.values.len() == self.parameters.len();
        let in_range = |(parameter, value): (&Parameter, &f64)| {
            (f64::from(parameter.min)..=f64::from(parameter.max)).contains(value)
        };
        let fits = is_whole && self.parameters.iter().zip(&progress.values).all(in_range);
        fits.then_some(Spsa { progress, ..self })
    }

    /// Returns the state to keep.
    pub fn progress(&self) -> &Progress {
        &self.progress
    }

    /// Returns the number of pairs that are still to be played.
    pub fn pairs_left(&self) -> u32 {
        self.schedule.pairs.saturating_sub(self.progress.pairs)
    }

    /// Returns each parameter with its present value, rounded.
    pub fn values(&self) -> impl Iterator<Item = (&Parameter, i32)> {
        let rounded = self.progress.values.iter().map(|value| value.round() as i32);
        self.parameters.iter().zip(rounded)
    }

    /// Returns the next two settings; the same ones for the same progress.
    pub fn trial(&self) -> Trial {
        let Schedule { pairs, rate, seed } = self.schedule;
        let (now, end) = (f64::from(self.progress.pairs) + 1.0, f64::from(pairs.max(1)));
        let held = STABILITY * end;
        let widening = (end / now).powf(GAMMA);
        let gain = ((held + end) / (held + now)).powf(ALPHA);
        let mut random = fastrand::Rng::with_seed(seed ^ u64::from(self.progress.pairs).rotate_left(32));
        let mut trial = Trial { values: [Vec::new(), Vec::new()], steps: Vec::new() };
        for (parameter, value) in iter::zip(&self.parameters, &self.progress.values) {
            let direction = if random.bool() { 1.0 } else { -1.0 };
            let step = f64::from(parameter.step);
            let width = step * widening;
            // Rounded down or up by chance: on average the value itself.
            let rounding = random.f64();
            let setting =
                |value: f64| ((value + rounding).floor() as i32).clamp(parameter.min, parameter.max);
            let [up, down] = [value + width * direction, value - width * direction].map(setting);
            trial.values[0].push(up);
            trial.values[1].push(down);
            // Gain over width, as the difference of both settings grows with the width.
            trial.steps.push(rate * step * step * gain / width * direction);
        }
        trial
    }

    /// Learns from this many pairs between both settings, of which the first one won so many games more than it lost.
    pub fn learn(&mut self, trial: &Trial, pairs: u32, surplus: f64) {
        let values = self.progress.values.iter_mut().zip(&self.parameters).zip(&trial.steps);
        for ((value, parameter), step) in values {
            *value = (*value + step * surplus).clamp(parameter.min.into(), parameter.max.into());
        }
        self.progress.pairs = self.progress.pairs.saturating_add(pairs);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Best values of a made-up engine.
    const BEST: [f64; 3] = [120.0, 3.0, -40.0];
    const STEPS: [u32; 3] = [10, 1, 8];

    fn parameters() -> Vec<Parameter> {
        let parameter =
            |name: &str, start, min, max, step| Parameter { name: name.into(), start, min, max, step };
        vec![
            parameter("Margin", 60, 0, 200, STEPS[0]),
            parameter("Depth", 8, 1, 12, STEPS[1]),
            parameter("Offset", 0, -100, 100, STEPS[2]),
        ]
    }

    /// Elo of a setting: none is lost at the best one.
    fn elo(values: &[i32]) -> f64 {
        let lost = |((value, best), step): ((&i32, f64), u32)| {
            ((f64::from(*value) - best) / f64::from(step)).powi(2)
        };
        -values.iter().zip(BEST).zip(STEPS).map(lost).sum::<f64>()
    }

    /// Wins minus losses of the first setting in games by chance, half of them drawn.
    fn play(trial: &Trial, pairs: u32, random: &mut fastrand::Rng) -> f64 {
        let [first, second] = trial.values.each_ref().map(|values| elo(values));
        let expected = 1.0 / (1.0 + 10_f64.powf((second - first) / 400.0));
        let game = |_| {
            if random.bool() {
                0.0
            } else if random.f64() < expected {
                1.0
            } else {
                -1.0
            }
        };
        (0..2 * pairs).map(game).sum()
    }

    fn tuned(batch: u32) -> Spsa {
        let mut random = fastrand::Rng::with_seed(7);
        let mut spsa = Spsa::new(parameters(), Schedule { pairs: 20_000, rate: 0.01, seed: 3 });
        while spsa.pairs_left() > 0 {
            let (trial, pairs) = (spsa.trial(), batch.min(spsa.pairs_left()));
            let surplus = play(&trial, pairs, &mut random);
            spsa.learn(&trial, pairs, surplus);
        }
        spsa
    }

    #[test]
    fn the_best_values_are_found_among_results_by_chance() {
        for batch in [1, 16] {
            let spsa = tuned(batch);
            assert_eq!(spsa.progress().pairs, 20_000);
            let values: Vec<_> = spsa.values().map(|(_, value)| value).collect();
            assert!(elo(&[60, 8, 0]) < -80.0 && elo(&values) > -6.0, "{values:?}: {} Elo", elo(&values));
        }
    }

    #[test]
    fn settings_lie_on_both_sides_within_the_range_and_come_nearer() {
        let schedule = Schedule { pairs: 1000, rate: 0.01, seed: 1 };
        let mut spsa = Spsa::new(parameters(), schedule);
        assert_eq!(spsa.trial(), spsa.trial(), "by the seed");
        let width = |spsa: &Spsa| {
            let Trial { values: [first, second], .. } = spsa.trial();
            (first[0] - second[0]).abs()
        };
        let first = width(&spsa);
        let directions = |spsa: &Spsa| spsa.trial().steps.iter().map(|step| *step > 0.0).collect::<Vec<_>>();
        let before = directions(&spsa);
        let mut changed = false;
        for _ in 0..999 {
            let trial = spsa.trial();
            for (first, second) in iter::zip(&trial.values, trial.values.iter().rev()) {
                for ((value, other), parameter) in first.iter().zip(second).zip(parameters()) {
                    assert!((parameter.min..=parameter.max).contains(value) && value != other);
                }
            }
            changed |= directions(&spsa) != before;
            spsa.learn(&trial, 1, 0.0);
        }
        // At the end a perturbation is as large as asked.
        assert!(first > 30 && changed && (20..=21).contains(&width(&spsa)), "{first} {}", width(&spsa));
        let at_start = |(parameter, value): (&Parameter, i32)| value == parameter.start;
        assert!(spsa.values().all(at_start), "nothing was learned");
    }

    #[test]
    fn tuning_goes_on_where_it_was() {
        let schedule = Schedule { pairs: 100, rate: 0.5, seed: 1 };
        let mut spsa = Spsa::new(parameters(), schedule);
        let trial = spsa.trial();
        spsa.learn(&trial, 8, 3.0);
        let resumed = Spsa::new(parameters(), schedule).resume(spsa.progress().clone()).unwrap();
        assert_eq!((resumed.trial(), resumed.pairs_left()), (spsa.trial(), 92));
        for values in [vec![1.0], vec![60.0, 8.0, 101.0], vec![60.0, 8.0, f64::NAN]] {
            let progress = Progress { pairs: 8, values };
            assert!(Spsa::new(parameters(), schedule).resume(progress).is_none());
        }
    }
}
