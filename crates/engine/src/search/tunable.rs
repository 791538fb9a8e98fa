//! Named constants of the search: constants as usual, but options of the engine with the feature `tuning`.
//!
//! A file declares those of its heuristic on top:
//!
//! ```text
//! tunables! {
//!     /// Margin above beta for each ply of depth, in centipawns.
//!     MARGIN = ReverseFutilityMargin: 75, 10..=250;
//! }
//! ```
//!
//! and reads them by `MARGIN.get()`. The name is that of the option; the range is what every value of it may be without
//! harm. `tuning.rs` lists all of them. The crate's unit tests are built with the options, too.

#[cfg(any(test, feature = "tuning"))]
use std::sync::atomic::{AtomicI32, Ordering::Relaxed};

/// Named constant of the search.
#[cfg(not(any(test, feature = "tuning")))]
#[derive(Copy, Clone)]
pub(crate) struct Tunable(pub(crate) i32);

#[cfg(not(any(test, feature = "tuning")))]
impl Tunable {
    #[inline]
    pub(crate) const fn get(self) -> i32 {
        self.0
    }
}

/// Named value of the search, which may change between searches.
#[cfg(any(test, feature = "tuning"))]
#[derive(Debug)]
pub(crate) struct Tunable {
    pub(crate) name: &'static str,
    pub(crate) min: i32,
    pub(crate) max: i32,
    pub(crate) value: AtomicI32,
}

#[cfg(any(test, feature = "tuning"))]
impl Tunable {
    #[inline]
    pub(crate) fn get(&self) -> i32 {
        self.value.load(Relaxed)
    }

    /// Sets the value. Returns `false`, and changes nothing, if it is out of range.
    pub(crate) fn set(&self, value: i32) -> bool {
        let is_in_range = (self.min..=self.max).contains(&value);
        if is_in_range {
            self.value.store(value, Relaxed);
        }
        is_in_range
    }
}

/// Declares the tunables of a file, as shown at the head of this one.
#[cfg(not(any(test, feature = "tuning")))]
macro_rules! tunables {
    ($($(#[$doc:meta])* $constant:ident = $name:ident: $default:literal, $min:literal..=$max:literal;)+) => { $(
        $(#[$doc])*
        const $constant: $crate::search::tunable::Tunable = {
            assert!($min <= $default && $default <= $max);
            $crate::search::tunable::Tunable($default)
        };
    )+ };
}

/// Declares the tunables of a file, and the list of them.
#[cfg(any(test, feature = "tuning"))]
macro_rules! tunables {
    ($($(#[$doc:meta])* $constant:ident = $name:ident: $default:literal, $min:literal..=$max:literal;)+) => { $(
        $(#[$doc])*
        static $constant: $crate::search::tunable::Tunable = $crate::search::tunable::Tunable {
            name: stringify!($name),
            min: $min,
            max: $max,
            value: ::std::sync::atomic::AtomicI32::new($default),
        };
    )+
        /// Tunables of this file.
        pub(crate) static TUNABLES: &[&$crate::search::tunable::Tunable] = &[$(&$constant),+];
    };
}

pub(crate) use tunables;

#[cfg(test)]
mod tests {
    tunables! {
        MARGIN = TestMargin: 75, -10..=250;
        DEPTH = TestDepth: 3, 1..=16;
    }

    #[test]
    fn values_stay_in_their_range() {
        assert_eq!((MARGIN.get(), DEPTH.get()), (75, 3));
        assert!(MARGIN.set(-10) && !MARGIN.set(-11) && !MARGIN.set(251));
        assert_eq!(MARGIN.get(), -10);
        let names: Vec<_> = TUNABLES.iter().map(|tunable| tunable.name).collect();
        assert_eq!(names, ["TestMargin", "TestDepth"]);
    }
}
