//! Wide integers: weights of a matching whose digits are criteria, from the most important to the least.

use std::{
    cmp::Ordering,
    ops::{Add, Sub},
};

/// Signed integer of `N` words in two's complement, the lowest first.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct Wide<const N: usize>([u64; N]);

impl<const N: usize> Wide<N> {
    pub(super) const ZERO: Self = Wide([0; N]);

    /// Appends a digit of that many bits, fewer than 64: everything before it counts for more.
    pub(super) fn push(&mut self, bits: u32, digit: u64) {
        debug_assert!(bits < 64 && digit >> bits == 0, "a digit of {bits} bits: {digit}");
        let mut carry = digit;
        for word in &mut self.0 {
            let out = if bits == 0 { 0 } else { *word >> (64 - bits) };
            *word = *word << bits | carry;
            carry = out;
        }
    }

    /// Appends a word of zeros.
    pub(super) fn push_word(&mut self) {
        self.0.rotate_right(1);
        self.0[0] = 0;
    }

    /// Half of an even number.
    pub(super) fn half(self) -> Self {
        let mut words = self.0;
        let mut carry = if self.is_negative() { 1 << 63 } else { 0 };
        for word in words.iter_mut().rev() {
            let out = *word << 63;
            *word = *word >> 1 | carry;
            carry = out;
        }
        Wide(words)
    }

    fn is_negative(self) -> bool {
        self.0[N - 1] >> 63 == 1
    }
}

impl<const N: usize> From<i64> for Wide<N> {
    fn from(number: i64) -> Self {
        let mut words = [if number < 0 { u64::MAX } else { 0 }; N];
        words[0] = number as u64;
        Wide(words)
    }
}

impl<const N: usize> Add for Wide<N> {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        let (mut words, mut carry) = (self.0, false);
        for (word, other) in words.iter_mut().zip(other.0) {
            let (sum, first) = word.overflowing_add(other);
            let (sum, second) = sum.overflowing_add(u64::from(carry));
            (*word, carry) = (sum, first || second);
        }
        Wide(words)
    }
}

impl<const N: usize> Sub for Wide<N> {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        let (mut words, mut borrow) = (self.0, false);
        for (word, other) in words.iter_mut().zip(other.0) {
            let (rest, first) = word.overflowing_sub(other);
            let (rest, second) = rest.overflowing_sub(u64::from(borrow));
            (*word, borrow) = (rest, first || second);
        }
        Wide(words)
    }
}

impl<const N: usize> Ord for Wide<N> {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_sign = other.is_negative().cmp(&self.is_negative());
        by_sign.then_with(|| self.0.iter().rev().cmp(other.0.iter().rev()))
    }
}

impl<const N: usize> PartialOrd for Wide<N> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn wide(number: i128) -> Wide<2> {
        Wide([number as u64, (number >> 64) as u64])
    }

    proptest! {
        #[test]
        fn wide_integers_calculate_as_integers_do(a in -(1_i128 << 120)..1 << 120, b in -(1_i128 << 120)..1 << 120) {
            prop_assert_eq!(wide(a) + wide(b), wide(a + b));
            prop_assert_eq!(wide(a) - wide(b), wide(a - b));
            prop_assert_eq!(wide(a).cmp(&wide(b)), a.cmp(&b));
            prop_assert_eq!(wide(a * 2).half(), wide(a));
        }

        #[test]
        fn digits_are_appended(a in 0..1_i128 << 60, bits in 0..63_u32, digit: u64) {
            let digit = digit & ((1 << bits) - 1);
            let mut number = wide(a);
            number.push(bits, digit);
            prop_assert_eq!(number, wide(a << bits | i128::from(digit)));
            number.push_word();
            prop_assert_eq!(number.0[0], 0);
        }
    }
}
