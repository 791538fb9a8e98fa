//! High histogram of recent durations, by a histogram whose weights decay.

use std::time::Duration;

/// Ratio of the upper ends of two buckets, and so the accuracy of a quantile.
const RATIO: f64 = 1.1;
/// End of the first bucket, in seconds.
const FIRST: f64 = 10e-6;
/// Number of buckets; the last one ends beyond a minute.
const BUCKETS: usize = 165;
/// Smaller weights are set to zero.
const MIN_WEIGHT: f32 = 1e-3;

#[derive(Clone, Debug)]
pub(super) struct DecayingHistogram {
    weights: [f32; BUCKETS],
}

impl Default for DecayingHistogram {
    fn default() -> Self {
        DecayingHistogram { weights: [0.0; BUCKETS] }
    }
}

impl DecayingHistogram {
    /// Longer durations count as about this long.
    pub(super) const MAX: Duration = Duration::from_secs(60);

    pub(super) fn add(&mut self, sample: Duration) {
        self.weights[bucket(sample)] += 1.0;
    }

    pub(super) fn decay(&mut self, factor: f32) {
        for weight in &mut self.weights {
            *weight *= factor;
            if *weight < MIN_WEIGHT {
                *weight = 0.0;
            }
        }
    }

    /// Returns a duration above which is at most the share `above` of all weight; with few samples their maximum. Up
    /// to a tenth too high.
    pub(super) fn upper(&self, above: f32) -> Duration {
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

    /// Returns the buckets that are not empty, with their weights.
    pub(super) fn parts(&self) -> impl Iterator<Item = (u8, f32)> {
        let filled = self.weights.iter().enumerate().filter(|(_, weight)| **weight > 0.0);
        filled.map(|(at, weight)| (at as u8, *weight))
    }

    /// Adds the weight of a bucket. Ignores impossible ones.
    pub(super) fn restore(&mut self, at: u8, weight: f32) {
        if let Some(old) = self.weights.get_mut(usize::from(at))
            && (MIN_WEIGHT..1e6).contains(&weight)
        {
            *old += weight;
        }
    }
}

fn bucket(sample: Duration) -> usize {
    let at = (sample.as_secs_f64() / FIRST).max(1.0).log(RATIO).ceil();
    (at as usize).min(BUCKETS - 1)
}

/// Returns the longest duration in a bucket.
fn end(at: usize) -> Duration {
    Duration::from_secs_f64(FIRST * RATIO.powi(at as i32))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(samples: &[u64]) -> DecayingHistogram {
        let mut histogram = DecayingHistogram::default();
        samples.iter().for_each(|&micros| histogram.add(Duration::from_micros(micros)));
        histogram
    }

    proptest! {
        #[test]
        fn the_upper_quantile_of_few_samples_is_their_maximum(
            samples in prop::collection::vec(10u64..60_000_000, 1..50),
        ) {
            let max = Duration::from_micros(*samples.iter().max().unwrap());
            let upper = of(&samples).upper(0.01);
            prop_assert!(upper >= max.mul_f64(0.999) && upper <= max.mul_f64(RATIO * 1.001), "{upper:?} {max:?}");
        }

        #[test]
        fn a_higher_quantile_is_never_lower(
            samples in prop::collection::vec(0u64..100_000_000, 0..300), low in 0.0f32..1.0, more in 0.0f32..0.5,
        ) {
            let histogram = of(&samples);
            prop_assert!(histogram.upper(low) >= histogram.upper(low + more));
        }

        #[test]
        fn a_sample_is_in_its_bucket(micros in 10u64..60_000_000) {
            let sample = Duration::from_micros(micros);
            prop_assert!(end(bucket(sample)) >= sample.mul_f64(0.999));
            prop_assert!(end(bucket(sample)) <= sample.mul_f64(RATIO * 1.001));
        }
    }

    #[test]
    fn one_outlier_among_many_is_ignored_and_several_are_forgotten() {
        let mut histogram = of(&[1_000; 300]);
        histogram.add(Duration::from_secs(1));
        assert!(histogram.upper(0.01) < Duration::from_micros(1_200));
        histogram.add(Duration::from_secs(1));
        histogram.add(Duration::from_secs(1));
        histogram.add(Duration::from_secs(1));
        assert!(histogram.upper(0.01) >= Duration::from_secs(1));
        for _ in 0..40 {
            histogram.decay(0.7);
            (0..100).for_each(|_| histogram.add(Duration::from_micros(1_000)));
        }
        assert!(histogram.upper(0.0) < Duration::from_micros(1_200));
    }

    #[test]
    fn extreme_durations_and_weights_are_bounded() {
        let mut histogram = DecayingHistogram::default();
        assert_eq!(histogram.upper(0.01), Duration::ZERO);
        histogram.add(Duration::ZERO);
        histogram.add(Duration::MAX);
        assert!(histogram.upper(0.0) > Duration::from_secs(60));
        histogram.restore(255, 1.0);
        histogram.restore(3, f32::NAN);
        histogram.restore(3, -1.0);
        histogram.restore(3, f32::INFINITY);
        assert_eq!(histogram.parts().count(), 2);
    }
}
