//! What a server's clock takes beyond the time that we had.

use std::time::Duration;

use super::quantile::Quantiles;

/// What was learned from a move counts half after so many more.
const HALF_LIFE: f32 = 100.0;
/// The part of moves that may cost more than what is kept in hand.
const ABOVE: f32 = 0.01;
/// So many moves tell enough to rely on.
const ENOUGH: u32 = 8;
/// One charge is believed up to so many times what was to be expected: one absurd charge, as of a server that
/// was restarted, costs little, and where it comes again it soon is believed wholly.
const LEAP: u32 = 8;
/// What was learned in another run counts for this part: today's network may be another one.
const RECALLED: f32 = 0.5;
/// The form of what is kept between runs.
const VERSION: u8 = 1;

/// A move as the two clocks saw it.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Charge {
    /// What the server's clock took for the move.
    pub charged: Duration,
    /// From the arrival of the request to the departure of the answer.
    pub own: Duration,
    /// The server tells its clock in steps of this.
    pub resolution: Duration,
}

/// What one server's clock was seen to take.
///
/// A clock that is told in steps makes each single charge wrong by up to a step, but not their sum. So
/// the mean of all is believed as it is, and of a single one only what a step cannot explain.
#[derive(Clone, Debug, Default)]
pub(super) struct Theirs {
    moves: u32,
    /// In seconds; may be negative, by the steps.
    mean: f32,
    certain: Quantiles,
}

impl Theirs {
    /// A move was charged. Where nothing is known `initial` is to be expected; nothing beyond `ceiling` is
    /// believed.
    pub fn charge(&mut self, charge: Charge, initial: Duration, ceiling: Duration) {
        let Charge { charged, own, resolution } = charge;
        // What a step explains needs no belief.
        let leap = self.lag().max(initial).saturating_mul(LEAP).saturating_add(resolution);
        let most = leap.min(ceiling);
        let signed =
            (charged.as_secs_f32() - own.as_secs_f32()).clamp(-most.as_secs_f32(), most.as_secs_f32());
        self.moves = self.moves.saturating_add(1);
        self.mean += (signed - self.mean) / (self.moves as f32).min(HALF_LIFE);
        self.certain.decay(0.5_f32.powf(1.0 / HALF_LIFE));
        self.certain.add(charged.saturating_sub(own).saturating_sub(resolution).min(most));
    }

    /// What the next move will cost beyond our own time, most probably at most.
    pub fn lag(&self) -> Duration {
        let mean = Duration::try_from_secs_f32(self.mean).unwrap_or_default();
        self.certain.upper(ABOVE).max(mean)
    }

    /// Is that more than a guess?
    pub fn is_measured(&self) -> bool {
        self.moves >= ENOUGH
    }

    /// For keeping between runs.
    pub fn summary(&self) -> Vec<u8> {
        let mut bytes = vec![VERSION];
        bytes.extend(self.moves.to_le_bytes());
        bytes.extend(self.mean.to_le_bytes());
        for (at, weight) in self.certain.parts() {
            bytes.push(at);
            bytes.extend(weight.to_le_bytes());
        }
        bytes
    }

    /// From a [`Theirs::summary`]; `None` if it is none.
    pub fn recall(summary: &[u8]) -> Option<Theirs> {
        let (&[VERSION, a, b, c, d, e, f, g, h], parts) = summary.split_first_chunk()? else { return None };
        let mean = f32::from_le_bytes([e, f, g, h]);
        let (parts, rest) = parts.as_chunks();
        // No charge counts for more than the longest time that is told apart.
        if mean.is_nan() || mean.abs() > Quantiles::LONGEST.as_secs_f32() || !rest.is_empty() {
            return None;
        }
        let mut certain = Quantiles::default();
        for &[at, a, b, c, d] in parts {
            certain.restore(at, RECALLED * f32::from_le_bytes([a, b, c, d]));
        }
        // A few moves of today shall weigh as much as all that was.
        let moves = u32::from_le_bytes([a, b, c, d]).min(ENOUGH);
        Some(Theirs { moves, mean, certain })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MS: Duration = Duration::from_millis(1);
    const INITIAL: Duration = Duration::from_millis(50);
    const MOST: Duration = Duration::from_secs(2);

    fn charge(charged: Duration, own: Duration) -> Charge {
        Charge { charged, own, resolution: 10 * MS }
    }

    /// A server that has this lag and tells its clock in steps of 10 ms.
    fn after(lags: impl Iterator<Item = u64>) -> Theirs {
        let (mut theirs, mut left) = (Theirs::default(), 600_000);
        let told = |left: u64| Duration::from_millis(left / 10 * 10);
        for (i, lag) in lags.enumerate() {
            let (before, own) = (told(left), 3 + i as u64 * 7 % 40);
            left -= own + lag;
            theirs.charge(charge(before - told(left), Duration::from_millis(own)), INITIAL, MOST);
        }
        theirs
    }

    #[test]
    fn steps_of_the_clock_are_no_lag() {
        let lag = after((0..300).map(|_| 0)).lag();
        assert!(lag <= MS, "{lag:?}");
    }

    #[test]
    fn a_steady_lag_is_found_below_the_steps_and_jitter_above_them() {
        let steady = after((0..300).map(|_| 6)).lag();
        assert!((5 * MS..8 * MS).contains(&steady), "{steady:?}");
        let jitter = after((0..300).map(|i| i * 37 % 81)).lag();
        assert!((65 * MS..90 * MS).contains(&jitter), "{jitter:?}");
    }

    #[test]
    fn a_guess_becomes_a_measurement_and_an_absurd_charge_is_cut() {
        let mut theirs = after((0..7).map(|_| 0));
        assert!(!theirs.is_measured());
        let absurd = charge(Duration::from_secs(3600), MS);
        theirs.charge(absurd, INITIAL, MOST);
        assert!(theirs.is_measured());
        let once = (LEAP * INITIAL + absurd.resolution).mul_f64(1.1);
        assert!(theirs.lag() <= once, "{:?}", theirs.lag());
        let mut forgiven = theirs.clone();
        for _ in 0..300 {
            forgiven.charge(charge(5 * MS, 5 * MS), INITIAL, MOST);
        }
        assert!(forgiven.lag() < 10 * MS, "{:?}", forgiven.lag());
        theirs.charge(absurd, INITIAL, MOST);
        assert!((MOST..MOST.mul_f64(1.1)).contains(&theirs.lag()), "{:?}", theirs.lag());
    }

    proptest! {
        #[test]
        fn what_is_kept_comes_back_and_garbage_does_not(
            charges in prop::collection::vec((0u64..100_000, 0u64..100_000), 0..40),
            garbage in prop::collection::vec(any::<u8>(), 0..40),
        ) {
            let mut theirs = Theirs::default();
            for (charged, own) in charges {
                theirs.charge(charge(Duration::from_micros(charged), Duration::from_micros(own)), INITIAL, MOST);
            }
            let back = Theirs::recall(&theirs.summary()).unwrap();
            prop_assert_eq!(back.is_measured(), theirs.is_measured());
            prop_assert!(back.lag() <= theirs.lag());
            let _ = Theirs::recall(&garbage).map(|theirs| theirs.lag());
        }
    }
}
