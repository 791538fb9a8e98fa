//! Statistics on pairs of games: Elo, normalized Elo, likelihood of superiority.
//!
//! Two games from one opening are not independent, since it may favour a side; pairs are. So pairs are counted: each
//! scores 0, ½, 1, 1½ or 2, and the variance is that of pairs. Sources: Chess Programming Wiki, "Match
//! Statistics"; M. Van den Bergh, "Normalized Elo Practical" and "Comments on Normalized Elo".

use std::{array, f64::consts::LN_10, fmt, iter::Sum};

/// Standard deviations within which 95 % of a normal distribution lie.
const Z_95: f64 = 1.959_963_984_540_054;
/// Elo difference that stands for odds of ten to one.
const SCALE: f64 = 400.0;

/// Numbers of pairs that scored 0, ½, 1, 1½ and 2 for the first player.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Pentanomial(pub [u32; 5]);

/// Estimate with its 95 % confidence interval.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Estimate {
    pub value: f64,
    /// Half the width of the interval.
    pub error: f64,
}

impl fmt::Display for Estimate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let places = f.precision().unwrap_or(1);
        write!(f, "{:+.places$} ± {:.places$}", self.value, self.error)
    }
}

impl Pentanomial {
    /// Counts a pair by its half points, 0 to 4.
    pub fn count(&mut self, halves: u8) {
        self.0[usize::from(halves.min(4))] += 1;
    }

    /// Returns the same pairs as the second player sees them.
    pub fn reversed(mut self) -> Pentanomial {
        self.0.reverse();
        self
    }

    pub fn pairs(&self) -> u32 {
        self.0.iter().sum()
    }

    /// Returns the first player's share of the points.
    pub(crate) fn mean(&self) -> f64 {
        Distribution::of(*self).mean()
    }

    /// Returns the Elo difference; `None` where it has no bounds, as nothing or everything was won, or fewer than two
    /// pairs were played.
    pub fn elo(&self) -> Option<Estimate> {
        let (mean, error) = (self.mean(), Z_95 * self.standard_error()?);
        let value = elo(mean)?;
        let error = match (elo(mean - error), elo(mean + error)) {
            (Some(least), Some(most)) => (most - least) / 2.0,
            // The interval of the mean reaches beyond where Elo is defined: use its slope.
            _ => error * SCALE / LN_10 / (mean * (1.0 - mean)),
        };
        Some(Estimate { value, error })
    }

    /// Returns the normalized Elo difference: relative to the spread of games, so independent of openings and draws.
    pub fn normalized_elo(&self) -> Option<Estimate> {
        let error = self.standard_error()?;
        // Spread of games, if they were independent: a pair is the mean of two.
        let spread = (2.0 * f64::from(self.pairs())).sqrt() * error;
        let in_elo = 2.0 * SCALE / LN_10 / spread;
        (spread > 0.0).then(|| Estimate { value: (self.mean() - 0.5) * in_elo, error: Z_95 * error * in_elo })
    }

    /// Returns the likelihood that the first player is the better one.
    pub fn superiority(&self) -> Option<f64> {
        let error = self.standard_error()?;
        (error > 0.0).then(|| normal((self.mean() - 0.5) / error))
    }

    /// Standard error of the mean.
    fn standard_error(&self) -> Option<f64> {
        let pairs = self.pairs();
        (pairs > 1).then(|| (Distribution::of(*self).variance() / f64::from(pairs)).sqrt())
    }
}

impl Sum for Pentanomial {
    fn sum<I: Iterator<Item = Pentanomial>>(pairs: I) -> Pentanomial {
        pairs.fold(Pentanomial::default(), |sum, one| Pentanomial(array::from_fn(|at| sum.0[at] + one.0[at])))
    }
}

impl fmt::Display for Pentanomial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [ll, ld, dd, wd, ww] = self.0;
        write!(f, "[{ll}, {ld}, {dd}, {wd}, {ww}]")
    }
}

fn elo(mean: f64) -> Option<f64> {
    (mean > 0.0 && mean < 1.0).then(|| SCALE * (mean / (1.0 - mean)).log10())
}

/// Mean score for an Elo difference.
pub(crate) fn expected(elo: f64) -> f64 {
    1.0 / (1.0 + 10_f64.powf(-elo / SCALE))
}

fn normal(x: f64) -> f64 {
    libm::erfc(-x / std::f64::consts::SQRT_2) / 2.0
}

/// Distribution of a pair's score.
#[derive(Copy, Clone, Debug, PartialEq)]
pub(crate) struct Distribution(pub [(f64, f64); 5]);

impl Distribution {
    /// Distribution of counted pairs.
    pub(crate) fn of(counted: Pentanomial) -> Distribution {
        Distribution::weighed(counted.0.map(f64::from))
    }

    pub(crate) fn weighed(weights: [f64; 5]) -> Distribution {
        let all: f64 = weights.iter().sum();
        let mut scores = [(0.0, 0.0); 5];
        for (at, (place, weight)) in scores.iter_mut().zip(weights).enumerate() {
            *place = (at as f64 / 4.0, weight / all);
        }
        Distribution(scores)
    }

    pub(crate) fn mean(&self) -> f64 {
        self.0.iter().map(|(score, part)| score * part).sum()
    }

    pub(crate) fn variance(&self) -> f64 {
        let mean = self.mean();
        self.0.iter().map(|(score, part)| part * (score - mean).powi(2)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: f64, expected: f64) {
        assert!((found - expected).abs() < 5e-4 * expected.abs().max(1.0), "{found} is not {expected}");
    }

    /// Computed independently by tests/data/match_statistics.py.
    #[test]
    fn figures_of_another_program() {
        for (counts, mean, elo, normalized, superiority) in [
            ([10, 40, 120, 70, 20], 0.548077, (33.5108, 19.6435), (51.3159, 29.8621), 0.999621),
            ([1, 4, 30, 12, 3], 0.560000, (41.8941, 37.4340), (77.2609, 68.0961), 0.986917),
            ([0, 3, 5, 10, 32], 0.855000, (308.2392, 92.1962), (389.1595, 68.0961), 1.000000),
            ([250, 2100, 5100, 2200, 280], 0.504028, (2.7991, 2.7470), (4.9241, 4.8321), 0.977103),
        ] {
            let counted = Pentanomial(counts);
            near(counted.mean(), mean);
            for (found, (value, error)) in [(counted.elo(), elo), (counted.normalized_elo(), normalized)] {
                let Estimate { value: found, error: found_error } = found.unwrap();
                near(found, value);
                near(found_error, error);
            }
            near(counted.superiority().unwrap(), superiority);
        }
    }

    #[test]
    fn known_differences() {
        near(elo(0.75).unwrap(), 190.8485);
        near(elo(0.64).unwrap(), 99.9512);
        near(expected(100.0), 0.640_065);
        near(normal(0.0), 0.5);
        near(normal(1.644_854), 0.95);
        near(normal(-3.0), 0.001_349_9);
    }

    #[test]
    fn a_score_near_all_has_an_error_all_the_same() {
        let Estimate { value, error } = Pentanomial([0, 0, 2, 0, 23]).elo().unwrap();
        near(value, 552.0845);
        near(error, Z_95 * 0.027_129_3 * SCALE / LN_10 / (0.96 * 0.04));
    }

    #[test]
    fn a_perfect_score_has_no_elo() {
        for counts in [[0, 0, 0, 0, 9], [9, 0, 0, 0, 0], [0, 0, 0, 1, 0], [0; 5]] {
            assert_eq!(Pentanomial(counts).elo(), None, "{counts:?}");
        }
        assert_eq!(Pentanomial([0, 0, 9, 0, 0]).elo(), Some(Estimate { value: 0.0, error: 0.0 }));
        assert_eq!(Pentanomial([0, 0, 9, 0, 0]).superiority(), None);
    }
}
