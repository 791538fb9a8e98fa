//! Sequential probability ratio test between two Elo differences.
//!
//! The generalized test on pairs, as in fishtest and OpenBench: it compares the maximum-likelihood distributions under
//! either difference.
//! Sources: M. Van den Bergh, "The Generalized Sequential Probability Ratio Test for Expected Values" and "Normalized
//! Elo"; Chess Programming Wiki, "Sequential Probability Ratio Test".

use std::{f64::consts::LN_10, fmt, ops::RangeInclusive};

use crate::pentanomial::{Distribution, Pentanomial, expected};

/// Count of a result that was never seen, so that its logarithm is finite.
const UNSEEN: f64 = 1e-3;
/// Bisection steps.
const HALVINGS: usize = 60;
/// Steps towards a normalized difference …
const STEPS: usize = 20;
/// … and iterations on each, and on the last one.
const ROUNDS: usize = 4;
const LAST_ROUNDS: usize = 12;

/// Meaning of an Elo difference.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum Model {
    /// By the mean score.
    #[default]
    Logistic,
    /// By the mean score over the spread of games.
    Normalized,
}

/// Test of two hypotheses.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Sprt {
    /// Elo difference of the null hypothesis.
    pub elo0: f64,
    /// Elo difference of the alternative.
    pub elo1: f64,
    /// Error rate, of either kind.
    pub error: f64,
    /// Meaning of both differences.
    pub model: Model,
}

#[derive(Copy, Clone, Debug, PartialEq)]
pub struct State {
    /// Logarithm of the likelihood ratio.
    pub llr: f64,
    /// Bounds at which the test ends.
    pub bounds: [f64; 2],
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// More games are needed.
    Open,
    /// The null hypothesis is accepted.
    Rejected,
    Accepted,
}

impl Sprt {
    /// Range of meaningful differences.
    pub const RANGE: RangeInclusive<f64> = -1000.0..=1000.0;

    /// Returns the state after these pairs.
    pub fn state(&self, counted: Pentanomial) -> State {
        let most = ((1.0 - self.error) / self.error).ln();
        State { llr: self.llr(counted), bounds: [-most, most] }
    }

    fn llr(&self, counted: Pentanomial) -> f64 {
        if counted.pairs() == 0 {
            return 0.0;
        }
        let weights = counted.0.map(|count| f64::from(count).max(UNSEEN));
        let seen = Distribution::weighed(weights);
        let [first, second] = [self.elo0, self.elo1].map(|elo| match self.model {
            // Every mean between 0 and 1 is possible.
            Model::Logistic => likeliest(&seen, |score| score - expected(elo)).unwrap_or(seen),
            Model::Normalized => with_ratio(&seen, elo),
        });
        let parts = first.0.iter().zip(second.0);
        weights.iter().zip(parts).map(|(weight, ((_, p0), (_, p1)))| weight * (p1 / p0).ln()).sum()
    }
}

impl State {
    pub fn verdict(&self) -> Verdict {
        let [least, most] = self.bounds;
        if self.llr >= most {
            Verdict::Accepted
        } else if self.llr <= least {
            Verdict::Rejected
        } else {
            Verdict::Open
        }
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [least, most] = self.bounds;
        write!(f, "LLR {:.2} [{least:.2}, {most:.2}]", self.llr)
    }
}

/// Maximum-likelihood distribution with this normalized difference.
///
/// The spread depends on the distribution itself, so both are approached together: the last distribution says how the
/// spread changes with each part.
fn with_ratio(seen: &Distribution, elo: f64) -> Distribution {
    // In standard deviations of pairs; the scale is that of games.
    let ratio = elo * LN_10 / 800.0 * std::f64::consts::SQRT_2;
    let mut found = Distribution::weighed([1.0; 5]);
    for step in 1..=STEPS {
        let ratio = ratio * step as f64 / STEPS as f64;
        for _ in 0..if step == STEPS { LAST_ROUNDS } else { ROUNDS } {
            let (mean, spread) = (found.mean(), found.variance().sqrt());
            let offset =
                |score: f64| score - 0.5 - ratio * spread * (1.0 + ((score - mean) / spread).powi(2)) / 2.0;
            found = likeliest(seen, offset).unwrap_or(found);
        }
    }
    found
}

/// Maximum-likelihood distribution in which the mean of `offset` is zero; `None` if there is none.
///
/// By Lagrange, its parts are those seen over 1 + x·offset, with the x that gives this mean.
fn likeliest(seen: &Distribution, offset: impl Fn(f64) -> f64) -> Option<Distribution> {
    let offsets = seen.0.map(|(score, _)| offset(score));
    let (least, most) = offsets.iter().fold((f64::MAX, f64::MIN), |(a, b), &x| (a.min(x), b.max(x)));
    if least >= 0.0 || most <= 0.0 {
        return None;
    }
    // Between these, all parts are positive, and the mean falls.
    let (mut low, mut high) = (-1.0 / most, -1.0 / least);
    let mean = |x: f64| -> f64 {
        seen.0.iter().zip(offsets).map(|((_, part), offset)| part * offset / (1.0 + x * offset)).sum()
    };
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(low, high);
        if mean(middle) > 0.0 { low = middle } else { high = middle }
    }
    let x = f64::midpoint(low, high);
    let mut found = *seen;
    found.0.iter_mut().zip(offsets).for_each(|((_, part), offset)| *part /= 1.0 + x * offset);
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn test(elo0: f64, elo1: f64, model: Model) -> Sprt {
        Sprt { elo0, elo1, error: 0.05, model }
    }

    /// Computed independently by tests/data/match_statistics.py, without Lagrange.
    #[test]
    fn figures_of_another_program() {
        for (counts, [elo0, elo1], logistic, normalized) in [
            ([10, 40, 120, 70, 20], [0.0, 5.0], 1.4874, 1.0191),
            ([1, 4, 30, 12, 3], [0.0, 10.0], 0.9042, 0.5460),
            ([250, 2100, 5100, 2200, 280], [0.0, 2.0], 1.8317, 1.2910),
            ([250, 2100, 5100, 2200, 280], [-3.0, 1.0], 7.7305, 3.8980),
            ([0, 3, 5, 10, 32], [0.0, 100.0], 12.3472, 13.2532),
            ([40, 200, 300, 150, 20], [-5.0, 0.0], -2.7797, -1.8663),
        ] {
            for (model, expected) in [(Model::Logistic, logistic), (Model::Normalized, normalized)] {
                let llr = test(elo0, elo1, model).state(Pentanomial(counts)).llr;
                let tolerance = 2e-3 * expected_size(expected);
                assert!((llr - expected).abs() < tolerance, "{counts:?} {model:?}: {llr}, not {expected}");
            }
        }
    }

    fn expected_size(llr: f64) -> f64 {
        llr.abs().max(1.0)
    }

    #[test]
    fn the_bounds_are_walds() {
        let [least, most] = test(0.0, 5.0, Model::Logistic).state(Pentanomial::default()).bounds;
        assert!((most - 2.944_439).abs() < 1e-6 && least == -most);
    }

    #[test]
    fn distributions_have_the_requested_mean() {
        for counts in
            [[10, 40, 120, 70, 20], [0, 3, 5, 10, 32], [0, 0, 0, 0, 500], [1, 0, 0, 0, 1], [0, 0, 90, 0, 0]]
        {
            let seen = Distribution::weighed(counts.map(|count| f64::from(count).max(UNSEEN)));
            for elo in [-1000.0, -300.0, -5.0, 0.0, 5.0, 300.0, 1000.0] {
                let found = likeliest(&seen, |score| score - expected(elo)).unwrap();
                assert!((found.mean() - expected(elo)).abs() < 1e-6, "{elo}");
                assert!((found.0.iter().map(|(_, part)| part).sum::<f64>() - 1.0).abs() < 1e-6);
                let found = with_ratio(&seen, elo);
                let games = found.variance().sqrt() * std::f64::consts::SQRT_2;
                let ratio = (found.mean() - 0.5) / games * 800.0 / LN_10;
                assert!((ratio - elo).abs() < 0.01, "{counts:?}, {elo}: {ratio}");
            }
        }
    }

    #[test]
    fn a_test_ends_on_the_side_that_the_games_speak_for() {
        let ends = |counts| test(0.0, 10.0, Model::Logistic).state(Pentanomial(counts)).verdict();
        assert_eq!(ends([0; 5]), Verdict::Open);
        assert_eq!(ends([10, 20, 40, 20, 10]), Verdict::Open);
        assert_eq!(ends([100, 300, 900, 500, 200]), Verdict::Accepted);
        assert_eq!(ends([200, 500, 900, 300, 100]), Verdict::Rejected);
        assert_eq!(ends([0, 0, 0, 0, 500]), Verdict::Accepted, "also where the rest was never seen");
    }
}
