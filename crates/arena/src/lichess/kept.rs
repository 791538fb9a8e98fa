//! A map that remembers what was changed in it, so that only that has to be written to the disk.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Deref,
};

/// A map to be read as any other; whatever is given out for changing counts as changed.
#[derive(Debug)]
pub(super) struct Kept<K, V> {
    map: BTreeMap<K, V>,
    changed: BTreeSet<K>,
}

impl<K, V> Default for Kept<K, V> {
    fn default() -> Kept<K, V> {
        Kept { map: BTreeMap::new(), changed: BTreeSet::new() }
    }
}

impl<K, V> Deref for Kept<K, V> {
    type Target = BTreeMap<K, V>;

    fn deref(&self) -> &BTreeMap<K, V> {
        &self.map
    }
}

impl<K: Ord + Clone, V> Kept<K, V> {
    pub(super) fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        let found = self.map.get_mut(key);
        if found.is_some() {
            self.changed.insert(key.clone());
        }
        found
    }

    pub(super) fn insert(&mut self, key: K, value: V) {
        self.changed.insert(key.clone());
        self.map.insert(key, value);
    }

    pub(super) fn remove(&mut self, key: &K) -> Option<V> {
        self.changed.insert(key.clone());
        self.map.remove(key)
    }

    /// All of them, for a change that need not be kept.
    pub(super) fn passing(&mut self) -> impl Iterator<Item = &mut V> {
        self.map.values_mut()
    }

    /// What was changed since the last call; `None` is no longer there.
    pub(super) fn take_changes(&mut self) -> impl Iterator<Item = (K, Option<&V>)> {
        let map = &self.map;
        std::mem::take(&mut self.changed).into_iter().map(move |key| {
            let value = map.get(&key);
            (key, value)
        })
    }

    /// What was changed so far needs not be kept.
    pub(super) fn forget_changes(&mut self) {
        self.changed.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_given_out_counts_as_changed() {
        let mut kept = Kept::default();
        ["a", "b", "c"].into_iter().for_each(|key| kept.insert(key, 0));
        assert_eq!(kept.take_changes().count(), 3);
        kept.passing().for_each(|value| *value = 1);
        assert_eq!(kept.get_mut(&"x"), None);
        assert_eq!(kept.get(&"a"), Some(&1));
        assert_eq!(kept.take_changes().count(), 0);
        *kept.get_mut(&"b").unwrap() = 2;
        kept.remove(&"c");
        assert_eq!(kept.take_changes().collect::<Vec<_>>(), [("b", Some(&2)), ("c", None)]);
    }
}
