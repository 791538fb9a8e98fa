//! Wrong tokens, keys and passwords, counted for each address to bound guessing.
//!
//! The right secret passes whatever others have tried from the same address, such as that of a school's router. A
//! password, which people choose and programs can guess, passes only where the address has shown the right one before:
//! otherwise guessing would go on behind the refusals.

use std::{
    collections::VecDeque,
    fmt,
    hash::{BuildHasher, RandomState},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use zeitnot_net::{Rate, Ration};

use crate::keyed::{Idle, Keyed};

/// Different wrong secrets of one address.
const WRONG: Rate = Rate { burst: 10, interval: Duration::from_secs(6) };
/// Wrong secrets that are remembered of one address: a program that tries the same again is counted once.
const REMEMBERED: usize = WRONG.burst as usize;
/// Addresses that are counted.
const MAX_COUNTED: usize = 4096;

/// Secret that does not fit.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum WrongSecret {
    /// It is another one.
    Wrong,
    /// Its address has tried too many; a password is not even compared.
    TooMany,
}

/// Wrong secrets of each key: an address, or an address and an account.
#[derive(Clone)]
pub struct Guesses<K> {
    guessers: Arc<Mutex<Keyed<K, Guesser>>>,
    hashes: RandomState,
}

impl<K> fmt::Debug for Guesses<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Guesses")
    }
}

/// Address that has shown secrets.
#[derive(Debug)]
struct Guesser {
    ration: Ration,
    /// Hashes of wrong secrets, the latest last.
    wrong: VecDeque<u64>,
    /// It has shown the right password.
    has_shown_right: bool,
}

impl Guesser {
    fn new() -> Guesser {
        Guesser { ration: Ration::new(WRONG), wrong: VecDeque::new(), has_shown_right: false }
    }

    fn judge(&mut self, hash: u64, is_right: bool, is_password: bool) -> Result<(), WrongSecret> {
        let is_limited = self.ration.due().is_some();
        if is_limited && is_password && !self.has_shown_right {
            return Err(WrongSecret::TooMany);
        }
        if is_right {
            self.has_shown_right |= is_password;
            return Ok(());
        }
        if self.wrong.contains(&hash) {
            return Err(WrongSecret::Wrong);
        }
        if is_limited {
            return Err(WrongSecret::TooMany);
        }
        self.ration.spend();
        if self.wrong.len() >= REMEMBERED {
            self.wrong.pop_front();
        }
        self.wrong.push_back(hash);
        Err(WrongSecret::Wrong)
    }
}

impl Idle for Guesser {
    fn is_idle(&self) -> bool {
        self.ration.is_full()
    }
}

impl<K: Ord> Default for Guesses<K> {
    fn default() -> Self {
        Guesses { guessers: Arc::new(Mutex::new(Keyed::new(MAX_COUNTED))), hashes: RandomState::new() }
    }
}

impl<K: Ord> Guesses<K> {
    /// Judges a token or a key that `from` has shown, and that has been compared already.
    ///
    /// # Errors
    /// [`WrongSecret`].
    pub fn judge(&self, from: K, shown: &str, is_right: bool) -> Result<(), WrongSecret> {
        self.find(from, |guesser| guesser.judge(self.hashes.hash_one(shown), is_right, false))
    }

    /// Judges a password in the same way.
    ///
    /// # Errors
    /// [`WrongSecret`].
    pub fn judge_password(&self, from: K, shown: &str, is_right: bool) -> Result<(), WrongSecret> {
        self.find(from, |guesser| guesser.judge(self.hashes.hash_one(shown), is_right, true))
    }

    fn find<T>(&self, from: K, look: impl FnOnce(&mut Guesser) -> T) -> T {
        let mut guessers = self.guessers.lock().unwrap_or_else(PoisonError::into_inner);
        look(guessers.get(from, |_| Guesser::new()))
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::advance;

    use super::*;

    #[test(start_paused = true)]
    async fn ten_different_wrong_ones_and_then_one_in_six_seconds() {
        let guesses = Guesses::default();
        let mut number = 0;
        let mut judged = |tries: usize| {
            let wrong = (0..tries).filter(|_| {
                number += 1;
                guesses.judge(1, &number.to_string(), false) == Err(WrongSecret::Wrong)
            });
            wrong.count()
        };
        assert_eq!(judged(1000), 10);
        advance(WRONG.interval).await;
        assert_eq!(judged(1000), 1);
        assert_eq!(guesses.judge(1, "right", true), Ok(()));
        assert_eq!(guesses.judge(2, "0", false), Err(WrongSecret::Wrong), "another address");
    }

    #[test(start_paused = true)]
    async fn the_same_wrong_one_again_and_again_counts_once() {
        let guesses = Guesses::default();
        for _ in 0..100 {
            assert_eq!(guesses.judge_password(1, "old", false), Err(WrongSecret::Wrong));
        }
        assert_eq!(guesses.judge_password(1, "right", true), Ok(()));
    }

    #[test(start_paused = true)]
    async fn a_password_passes_where_it_was_known_before() {
        let guesses = Guesses::default();
        let right = |from| guesses.judge_password(from, "right", true);
        assert_eq!(right(1), Ok(()));
        for guesser in [1, 2] {
            for guess in 0..100 {
                let _ = guesses.judge_password(guesser, &guess.to_string(), false);
            }
        }
        assert_eq!((right(1), right(2)), (Ok(()), Err(WrongSecret::TooMany)));
        advance(WRONG.interval).await;
        assert_eq!(right(2), Ok(()));
    }
}
