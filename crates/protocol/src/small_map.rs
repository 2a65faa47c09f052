//! A map with few entries.

use std::borrow::Borrow;
use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A map that is a sorted vector. It takes little more memory than its entries; a tree has room for eleven from the first one on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SmallMap<K, V> {
    entries: Vec<(K, V)>,
}

impl<K, V> Default for SmallMap<K, V> {
    fn default() -> Self {
        Self { entries: Vec::new() }
    }
}

impl<K: Ord, V> SmallMap<K, V> {
    fn search<Q: Ord + ?Sized>(&self, key: &Q) -> Result<usize, usize>
    where
        K: Borrow<Q>,
    {
        self.entries.binary_search_by(|(own, _)| own.borrow().cmp(key))
    }

    pub fn get<Q: Ord + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        let index = self.search(key).ok()?;
        self.entries.get(index).map(|(_, value)| value)
    }

    pub fn contains_key<Q: Ord + ?Sized>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.search(key).is_ok()
    }

    /// Sets the value of a key. Returns the value that it replaces.
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        match self.search(&key) {
            Ok(index) => self.entries.get_mut(index).map(|(_, own)| std::mem::replace(own, value)),
            Err(index) => {
                if self.entries.is_empty() {
                    // Most maps never have more.
                    self.entries.reserve_exact(1);
                }
                self.entries.insert(index, (key, value));
                None
            }
        }
    }

    /// Removes a key. Returns its value.
    pub fn remove<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        self.search(key).ok().map(|index| self.entries.remove(index).1)
    }

    pub fn retain(&mut self, mut is_kept: impl FnMut(&K, &mut V) -> bool) {
        self.entries.retain_mut(|(key, value)| is_kept(key, value));
    }

    pub fn keys(&self) -> impl Iterator<Item = &K> {
        self.entries.iter().map(|(key, _)| key)
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

impl<K: Serialize, V: Serialize> Serialize for SmallMap<K, V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.entries.iter().map(|(key, value)| (key, value)))
    }
}

impl<'de, K: Deserialize<'de> + Ord, V: Deserialize<'de>> Deserialize<'de> for SmallMap<K, V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let tree = BTreeMap::deserialize(deserializer)?;
        Ok(Self { entries: tree.into_iter().collect() })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_has_the_entries_of_a_tree_and_the_same_json(changes in prop::collection::vec((0u8..20, any::<Option<u8>>()), 0..60)) {
            let (mut map, mut tree) = (SmallMap::default(), BTreeMap::new());
            for (key, value) in changes {
                let key = key.to_string();
                if let Some(value) = value {
                    prop_assert_eq!(map.insert(key.clone(), value), tree.insert(key, value));
                } else {
                    prop_assert_eq!(map.remove(&key), tree.remove(&key));
                }
            }
            prop_assert!(map.keys().eq(tree.keys()));
            prop_assert!(tree.iter().all(|(key, value)| map.get(key) == Some(value) && map.contains_key(key)));
            let json = serde_json::to_string(&map).unwrap();
            prop_assert_eq!(&json, &serde_json::to_string(&tree).unwrap());
            prop_assert_eq!(serde_json::from_str::<SmallMap<String, u8>>(&json).unwrap(), map);
        }
    }
}
