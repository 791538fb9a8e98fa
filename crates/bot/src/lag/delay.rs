//! Delay of a server: what its clock charges beyond the time that we used.

use std::time::Duration;

use super::histogram::DecayingHistogram;

/// Number of moves after which a measurement counts half.
const HALF_LIFE: f32 = 100.0;
/// Share of moves that may cost more than the reserve.
const ABOVE: f32 = 0.01;
/// Moves that are enough to rely on.
const MIN_MOVES: u32 = 8;
/// Factor of the expected delay up to which one charge counts: one absurd charge, as of a server that was restarted,
/// costs little, and a repeated one soon counts wholly.
const MAX_GROWTH: u32 = 8;
/// Weight of what another run has measured: the network may have changed.
const RESTORED_WEIGHT: f32 = 0.5;
const VERSION: u8 = 1;

/// Cost of a move on both clocks.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Charge {
    /// On the server's clock.
    pub charged: Duration,
    /// From the arrival of the request to the departure of the answer.
    pub own: Duration,
    /// Step of the server's clock.
    pub resolution: Duration,
}

/// Measured delay of one server.
///
/// A clock in steps makes each single charge wrong by up to a step, but not their sum. So the mean of all counts as it
/// is, and a single charge only as far as a step cannot explain it.
#[derive(Clone, Debug, Default)]
pub(super) struct ServerDelay {
    moves: u32,
    /// In seconds; may be negative because of the steps.
    mean: f32,
    certain: DecayingHistogram,
}

impl ServerDelay {
    /// Records a charge. `initial` is the expected delay before anything is measured; nothing beyond `max` counts.
    pub(super) fn record(&mut self, charge: Charge, initial: Duration, max: Duration) {
        let Charge { charged, own, resolution } = charge;
        let growth = self.expected().max(initial).saturating_mul(MAX_GROWTH).saturating_add(resolution);
        let max = growth.min(max);
        let signed = (charged.as_secs_f32() - own.as_secs_f32()).clamp(-max.as_secs_f32(), max.as_secs_f32());
        self.moves = self.moves.saturating_add(1);
        self.mean += (signed - self.mean) / (self.moves as f32).min(HALF_LIFE);
        self.certain.decay(0.5_f32.powf(1.0 / HALF_LIFE));
        self.certain.add(charged.saturating_sub(own).saturating_sub(resolution).min(max));
    }

    /// Returns the upper bound that the delay of the next move will most probably keep.
    pub(super) fn expected(&self) -> Duration {
        let mean = Duration::try_from_secs_f32(self.mean).unwrap_or_default();
        self.certain.upper(ABOVE).max(mean)
    }

    pub(super) fn is_measured(&self) -> bool {
        self.moves >= MIN_MOVES
    }

    pub(super) fn summary(&self) -> Vec<u8> {
        let mut bytes = vec![VERSION];
        bytes.extend(self.moves.to_le_bytes());
        bytes.extend(self.mean.to_le_bytes());
        for (at, weight) in self.certain.parts() {
            bytes.push(at);
            bytes.extend(weight.to_le_bytes());
        }
        bytes
    }

    /// Reads a [`ServerDelay::summary`]; `None` if it is malformed.
    pub(super) fn restore(summary: &[u8]) -> Option<ServerDelay> {
        let (&[VERSION, a, b, c, d, e, f, g, h], parts) = summary.split_first_chunk()? else { return None };
        let mean = f32::from_le_bytes([e, f, g, h]);
        let (parts, rest) = parts.as_chunks();
        if mean.is_nan() || mean.abs() > DecayingHistogram::MAX.as_secs_f32() || !rest.is_empty() {
            return None;
        }
        let mut certain = DecayingHistogram::default();
        for &[at, a, b, c, d] in parts {
            certain.restore(at, RESTORED_WEIGHT * f32::from_le_bytes([a, b, c, d]));
        }
        // A few moves of this run weigh as much as all restored ones.
        let moves = u32::from_le_bytes([a, b, c, d]).min(MIN_MOVES);
        Some(ServerDelay { moves, mean, certain })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MS: Duration = Duration::from_millis(1);
    const INITIAL: Duration = Duration::from_millis(50);
    const MAX: Duration = Duration::from_secs(2);

    fn charge(charged: Duration, own: Duration) -> Charge {
        Charge { charged, own, resolution: 10 * MS }
    }

    /// A server with these delays, and a clock in steps of 10 ms.
    fn after(lags: impl Iterator<Item = u64>) -> ServerDelay {
        let mut delay = ServerDelay::default();
        let mut left = 600_000;
        let told = |left: u64| Duration::from_millis(left / 10 * 10);
        for (i, lag) in lags.enumerate() {
            let before = told(left);
            let own = 3 + i as u64 * 7 % 40;
            left -= own + lag;
            delay.record(charge(before - told(left), Duration::from_millis(own)), INITIAL, MAX);
        }
        delay
    }

    #[test]
    fn steps_of_the_clock_are_not_delay() {
        let lag = after((0..300).map(|_| 0)).expected();
        assert!(lag <= MS, "{lag:?}");
    }

    #[test]
    fn steady_delay_is_measured_below_the_steps_and_jitter_above_them() {
        let steady = after((0..300).map(|_| 6)).expected();
        assert!((5 * MS..8 * MS).contains(&steady), "{steady:?}");
        let jitter = after((0..300).map(|i| i * 37 % 81)).expected();
        assert!((65 * MS..90 * MS).contains(&jitter), "{jitter:?}");
    }

    #[test]
    fn an_absurd_charge_is_cut_until_it_is_repeated() {
        let mut delay = after((0..7).map(|_| 0));
        assert!(!delay.is_measured());
        let absurd = charge(Duration::from_secs(3600), MS);
        delay.record(absurd, INITIAL, MAX);
        assert!(delay.is_measured());
        let once = (MAX_GROWTH * INITIAL + absurd.resolution).mul_f64(1.1);
        assert!(delay.expected() <= once, "{:?}", delay.expected());
        let mut recovered = delay.clone();
        for _ in 0..300 {
            recovered.record(charge(5 * MS, 5 * MS), INITIAL, MAX);
        }
        assert!(recovered.expected() < 10 * MS, "{:?}", recovered.expected());
        delay.record(absurd, INITIAL, MAX);
        assert!((MAX..MAX.mul_f64(1.1)).contains(&delay.expected()), "{:?}", delay.expected());
    }

    proptest! {
        #[test]
        fn summaries_are_restored_and_garbage_is_refused(
            charges in prop::collection::vec((0u64..100_000, 0u64..100_000), 0..40),
            garbage in prop::collection::vec(any::<u8>(), 0..40),
        ) {
            let mut delay = ServerDelay::default();
            for (charged, own) in charges {
                delay.record(charge(Duration::from_micros(charged), Duration::from_micros(own)), INITIAL, MAX);
            }
            let back = ServerDelay::restore(&delay.summary()).unwrap();
            prop_assert_eq!(back.is_measured(), delay.is_measured());
            prop_assert!(back.expected() <= delay.expected());
            let _ = ServerDelay::restore(&garbage).map(|delay| delay.expected());
        }
    }
}
