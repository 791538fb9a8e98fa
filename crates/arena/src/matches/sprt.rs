//! The sequential probability ratio test: which of two differences in Elo do the games speak for, and have there been
//! enough of them?
//!
//! It is the generalized test on pairs, as fishtest and OpenBench run it: of all distributions of the five results
//! that have the one difference, and of all that have the other, the likeliest for what was counted are compared.
//! Sources: M. Van den Bergh, "The Generalized Sequential Probability Ratio Test for Expected Values" and "Normalized
//! Elo"; Chess Programming Wiki, "Sequential Probability Ratio Test".

use std::{f64::consts::LN_10, fmt, ops::RangeInclusive};

use super::pentanomial::{Distribution, Pentanomial, expected};

/// A result that was never seen counts as seen this often: what is impossible has no logarithm.
const UNSEEN: f64 = 1e-3;
/// Rounds in which the roots below are found; each halves what is left of the interval.
const HALVINGS: usize = 60;
/// A normalized difference is approached in so many steps …
const STEPS: usize = 20;
/// … and on each, and longer on the last one, the distribution settles in rounds.
const ROUNDS: usize = 4;
const LAST_ROUNDS: usize = 12;

/// What Elo means.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum Model {
    /// The usual one: by the mean score.
    #[default]
    Logistic,
    /// By the mean score over the spread of games: independent of how drawish they are.
    Normalized,
}

/// A test of two hypotheses.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Sprt {
    /// The difference that the games have to speak against …
    pub elo0: f64,
    /// … and the one that they may speak for.
    pub elo1: f64,
    /// How often either may be accepted where the other is true.
    pub error: f64,
    /// What both are measured in.
    pub model: Model,
}

/// How a test stands.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct State {
    /// The logarithm of the ratio of the two likelihoods.
    pub llr: f64,
    /// Beyond which it has ended.
    pub bounds: [f64; 2],
}

/// What a test says.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// More games are needed.
    Open,
    /// The first difference holds.
    Rejected,
    /// The second one does.
    Accepted,
}

impl Sprt {
    /// Differences that can be told apart by games.
    pub const RANGE: RangeInclusive<f64> = -1000.0..=1000.0;

    /// How it stands after these pairs.
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
            // Every mean between 0 and 1 can be had.
            Model::Logistic => likeliest(&seen, |score| score - expected(elo)).unwrap_or(seen),
            Model::Normalized => with_ratio(&seen, elo),
        });
        let parts = first.0.iter().zip(second.0);
        weights.iter().zip(parts).map(|(weight, ((_, p0), (_, p1)))| weight * (p1 / p0).ln()).sum()
    }
}

impl State {
    /// What it says.
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

/// The distribution with this normalized difference under which what was seen is likeliest: its mean is so many
/// standard deviations from even. The spread depends on the distribution itself, so both are approached together: a
/// distribution near at hand says how the spread changes with each part.
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

/// Of the distributions in which the mean of `offset` is zero, the one under which what was seen is likeliest; `None`
/// if there is none.
///
/// By Lagrange, its parts are those seen over 1 + x·offset, with that x for which they have the mean.
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

    /// Worked out apart from this code, by tests/data/match_statistics.py, which searches for the likeliest
    /// distribution without Lagrange.
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
    fn what_was_found_has_the_mean_that_was_asked_for() {
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
