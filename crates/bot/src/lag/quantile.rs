//! A high quantile of durations that forgets: a histogram whose weights decay.

use std::time::Duration;

/// Each bucket is wider than the one before by this factor: so exact is the quantile.
const WIDER: f64 = 1.1;
/// Where the first bucket ends.
const FIRST: f64 = 10e-6;
/// The last one ends beyond a minute.
const BUCKETS: usize = 165;
/// Weights below this are forgotten.
const FORGOTTEN: f32 = 1e-3;

/// Durations from ten microseconds to a minute, each with a weight that decays.
#[derive(Clone, Debug)]
pub(super) struct Quantiles {
    weights: [f32; BUCKETS],
}

impl Default for Quantiles {
    fn default() -> Self {
        Quantiles { weights: [0.0; BUCKETS] }
    }
}

impl Quantiles {
    /// Longer durations count as if they were this long, or a little longer.
    pub const LONGEST: Duration = Duration::from_secs(60);

    /// One more sample.
    pub fn add(&mut self, sample: Duration) {
        self.weights[bucket(sample)] += 1.0;
    }

    /// All that is known counts for this part of what it did.
    pub fn decay(&mut self, factor: f32) {
        for weight in &mut self.weights {
            *weight *= factor;
            if *weight < FORGOTTEN {
                *weight = 0.0;
            }
        }
    }

    /// Samples above the result have less than `above` of all weight; with few samples it is their
    /// maximum. Too high by at most a tenth.
    pub fn upper(&self, above: f32) -> Duration {
        let allowed = self.weights.iter().sum::<f32>() * above;
        let mut seen = 0.0;
        for (at, weight) in self.weights.iter().enumerate().rev() {
            seen += weight;
            if seen > allowed {
                return end(at);
            }
        }
        Duration::ZERO
    }

    /// Buckets with something in them, for keeping.
    pub fn parts(&self) -> impl Iterator<Item = (u8, f32)> {
        let filled = self.weights.iter().enumerate().filter(|(_, weight)| **weight > 0.0);
        filled.map(|(at, weight)| (at as u8, *weight))
    }

    /// Puts a part back. What makes no sense is left out.
    pub fn restore(&mut self, at: u8, weight: f32) {
        if let Some(kept) = self.weights.get_mut(usize::from(at))
            && (FORGOTTEN..1e6).contains(&weight)
        {
            *kept += weight;
        }
    }
}

fn bucket(sample: Duration) -> usize {
    let at = (sample.as_secs_f64() / FIRST).max(1.0).log(WIDER).ceil();
    (at as usize).min(BUCKETS - 1)
}

/// The longest duration in a bucket.
fn end(at: usize) -> Duration {
    Duration::from_secs_f64(FIRST * WIDER.powi(at as i32))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(samples: &[u64]) -> Quantiles {
        let mut quantiles = Quantiles::default();
        samples.iter().for_each(|&micros| quantiles.add(Duration::from_micros(micros)));
        quantiles
    }

    proptest! {
        #[test]
        fn nothing_above_the_maximum_and_few_samples_are_their_maximum(
            samples in prop::collection::vec(10u64..60_000_000, 1..50),
        ) {
            let max = Duration::from_micros(*samples.iter().max().unwrap());
            let upper = of(&samples).upper(0.01);
            prop_assert!(upper >= max.mul_f64(0.999) && upper <= max.mul_f64(WIDER * 1.001), "{upper:?} {max:?}");
        }

        #[test]
        fn a_higher_quantile_is_never_lower(
            samples in prop::collection::vec(0u64..100_000_000, 0..300), low in 0.0f32..1.0, more in 0.0f32..0.5,
        ) {
            let quantiles = of(&samples);
            prop_assert!(quantiles.upper(low) >= quantiles.upper(low + more));
        }

        #[test]
        fn a_sample_is_in_its_bucket(micros in 10u64..60_000_000) {
            let sample = Duration::from_micros(micros);
            prop_assert!(end(bucket(sample)) >= sample.mul_f64(0.999));
            prop_assert!(end(bucket(sample)) <= sample.mul_f64(WIDER * 1.001));
        }
    }

    #[test]
    fn one_outlier_among_many_is_forgiven_and_then_forgotten() {
        let mut quantiles = of(&[1_000; 300]);
        quantiles.add(Duration::from_secs(1));
        assert!(quantiles.upper(0.01) < Duration::from_micros(1_200));
        quantiles.add(Duration::from_secs(1));
        quantiles.add(Duration::from_secs(1));
        quantiles.add(Duration::from_secs(1));
        assert!(quantiles.upper(0.01) >= Duration::from_secs(1));
        for _ in 0..40 {
            quantiles.decay(0.7);
            (0..100).for_each(|_| quantiles.add(Duration::from_micros(1_000)));
        }
        assert!(quantiles.upper(0.0) < Duration::from_micros(1_200));
    }

    #[test]
    fn hostile_durations_do_no_harm() {
        let mut quantiles = Quantiles::default();
        assert_eq!(quantiles.upper(0.01), Duration::ZERO);
        quantiles.add(Duration::ZERO);
        quantiles.add(Duration::MAX);
        assert!(quantiles.upper(0.0) > Duration::from_secs(60));
        quantiles.restore(255, 1.0);
        quantiles.restore(3, f32::NAN);
        quantiles.restore(3, -1.0);
        quantiles.restore(3, f32::INFINITY);
        assert_eq!(quantiles.parts().count(), 2);
    }
}
