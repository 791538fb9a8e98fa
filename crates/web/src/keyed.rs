//! Values by key, of which a bounded number is kept: rations of addresses, callers of an API.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use zeitnot_host::origin::Origin;
use zeitnot_net::{Rate, Ration};

/// Addresses whose rations are kept.
const MAX_COUNTED: usize = 4096;

/// Value of a key that need not be kept for ever.
pub trait Idle {
    /// Returns whether a new one would do as well.
    fn is_idle(&self) -> bool;
}

impl Idle for Ration {
    fn is_idle(&self) -> bool {
        self.is_full()
    }
}

impl<T> Idle for Arc<T> {
    /// Nobody else has it.
    fn is_idle(&self) -> bool {
        Arc::strong_count(self) == 1
    }
}

/// Values by key, at most so many: those that are idle are forgotten, and all if more than half are not.
#[derive(Debug)]
pub struct Keyed<K, V> {
    max: usize,
    values: BTreeMap<K, V>,
}

impl<K: Ord, V: Idle> Keyed<K, V> {
    /// Keeps at most `max` values.
    pub fn new(max: usize) -> Self {
        Keyed { max, values: BTreeMap::new() }
    }

    /// Returns the value of that key, or a new one.
    pub fn get(&mut self, key: K, new: impl FnOnce(&K) -> V) -> &mut V {
        // After a look through all of them there is none before half of them have come anew.
        if self.values.len() >= self.max && !self.values.contains_key(&key) {
            self.values.retain(|_, value| !value.is_idle());
            if self.values.len() > self.max / 2 {
                self.values.clear();
            }
        }
        self.values.entry(key).or_insert_with_key(new)
    }
}

/// Rations of addresses.
#[derive(Debug)]
pub struct Rations {
    rate: Rate,
    by_origin: Mutex<Keyed<Origin, Ration>>,
}

impl Rations {
    /// Gives each address this rate.
    pub fn new(rate: Rate) -> Rations {
        Rations { rate, by_origin: Mutex::new(Keyed::new(MAX_COUNTED)) }
    }

    /// Takes one from the ration of an address, if there is one left.
    pub fn take(&self, from: Origin) -> bool {
        self.look_at(from, Ration::take)
    }

    /// Lets `look` have the ration of an address.
    pub fn look_at<T>(&self, from: Origin, look: impl FnOnce(&mut Ration) -> T) -> T {
        let mut rations = self.by_origin.lock().unwrap_or_else(PoisonError::into_inner);
        look(rations.get(from, |_| Ration::new(self.rate)))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::advance;

    use super::*;

    const RATE: Rate = Rate { burst: 3, interval: Duration::from_secs(1) };

    #[test(start_paused = true)]
    async fn keys_have_rations_of_their_own_and_are_forgotten_in_time() {
        let mut rations = Keyed::new(100);
        let mut take = |key| rations.get(key, |_| Ration::new(RATE)).take();
        assert_eq!((0..10).filter(|_| take(0)).count(), 3);
        // Others have theirs, and do not make it forgotten.
        assert!((1..60).all(&mut take) && !take(0));
        advance(RATE.interval).await;
        assert!((60..140).all(&mut take) && take(0) && !take(0));
        assert_eq!((0..10_000).filter(|key| take(*key)).count(), 10_000 - 1);
        assert!(rations.values.len() <= 100);
    }
}
