//! A map that tracks which entries changed, so that only those are written to disk.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Deref,
};

/// Reads go to the inner map; every mutable access marks its entry as dirty.
#[derive(Debug)]
pub(super) struct DirtyMap<K, V> {
    map: BTreeMap<K, V>,
    dirty: BTreeSet<K>,
}

impl<K, V> Default for DirtyMap<K, V> {
    fn default() -> Self {
        DirtyMap { map: BTreeMap::new(), dirty: BTreeSet::new() }
    }
}

impl<K, V> Deref for DirtyMap<K, V> {
    type Target = BTreeMap<K, V>;

    fn deref(&self) -> &BTreeMap<K, V> {
        &self.map
    }
}

impl<K: Ord + Clone, V> DirtyMap<K, V> {
    pub(super) fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        let found = self.map.get_mut(key)?;
        self.dirty.insert(key.clone());
        Some(found)
    }

    pub(super) fn insert(&mut self, key: K, value: V) {
        self.dirty.insert(key.clone());
        self.map.insert(key, value);
    }

    pub(super) fn remove(&mut self, key: &K) -> Option<V> {
        self.dirty.insert(key.clone());
        self.map.remove(key)
    }

    /// As [`DirtyMap::values_mut_clean`], to one value.
    pub(super) fn get_mut_clean(&mut self, key: &K) -> Option<&mut V> {
        self.map.get_mut(key)
    }

    /// Mutable access that marks nothing, for state that is not saved.
    pub(super) fn values_mut_clean(&mut self) -> impl Iterator<Item = &mut V> {
        self.map.values_mut()
    }

    /// Returns the dirty entries and marks them clean; `None` stands for a removed one.
    pub(super) fn take_dirty(&mut self) -> impl Iterator<Item = (K, Option<&V>)> {
        let map = &self.map;
        std::mem::take(&mut self.dirty).into_iter().map(move |key| {
            let value = map.get(&key);
            (key, value)
        })
    }

    pub(super) fn mark_clean(&mut self) {
        self.dirty.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mutable_access_marks_an_entry_dirty() {
        let mut map = DirtyMap::default();
        ["a", "b", "c"].into_iter().for_each(|key| map.insert(key, 0));
        assert_eq!(map.take_dirty().count(), 3);
        map.values_mut_clean().for_each(|value| *value = 1);
        assert_eq!(map.get_mut(&"x"), None);
        assert_eq!(map.get(&"a"), Some(&1));
        assert_eq!(map.take_dirty().count(), 0);
        *map.get_mut(&"b").unwrap() = 2;
        map.remove(&"c");
        assert_eq!(map.take_dirty().collect::<Vec<_>>(), [("b", Some(&2)), ("c", None)]);
    }
}
