//! The storage of an object: a list for few entries, a hash map for many.

use foldhash::fast::RandomState;
use indexmap::IndexMap;
use indexmap::map::Entry;

use crate::Value;

pub(super) type Map = IndexMap<String, Value, RandomState>;

/// The most entries of a list. Up to here a linear search is faster than hashing, and a list takes one allocation where
/// a map takes three. Nearly every object is this small.
const MAX_LIST: usize = 16;

pub(super) enum Entries {
    List(Vec<(String, Value)>),
    // Boxed because a map of 64 bytes would make every `Value` larger.
    Map(Box<Map>),
}

impl Default for Entries {
    fn default() -> Self {
        Self::List(Vec::new())
    }
}

impl Clone for Entries {
    // By hand, because the derived code takes twice the stack for each level of nesting.
    fn clone(&self) -> Self {
        match self {
            Self::List(list) => {
                let mut copy = Vec::with_capacity(list.len());
                for (key, value) in list {
                    copy.push((key.clone(), value.clone()));
                }
                Self::List(copy)
            }
            Self::Map(map) => {
                let mut copy = Map::with_capacity_and_hasher(map.len(), RandomState::default());
                for (key, value) in map.iter() {
                    copy.insert(key.clone(), value.clone());
                }
                Self::Map(Box::new(copy))
            }
        }
    }
}

impl Entries {
    pub(super) fn with_capacity(capacity: usize) -> Self {
        if capacity <= MAX_LIST {
            return Self::List(Vec::with_capacity(capacity));
        }
        Self::Map(Box::new(Map::with_capacity_and_hasher(capacity, RandomState::default())))
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Self::List(list) => list.len(),
            Self::Map(map) => map.len(),
        }
    }

    pub(super) fn get(&self, key: &str) -> Option<&Value> {
        match self {
            Self::List(list) => list.iter().find(|(known, _)| known == key).map(|(_, value)| value),
            Self::Map(map) => map.get(key),
        }
    }

    pub(super) fn get_mut(&mut self, key: &str) -> Option<&mut Value> {
        match self {
            Self::List(list) => list.iter_mut().find(|(known, _)| known == key).map(|(_, value)| value),
            Self::Map(map) => map.get_mut(key),
        }
    }

    /// Inserts a key with the value null; returns the key as the error if it exists.
    pub(super) fn insert_null(&mut self, key: String) -> Result<&mut Value, String> {
        if let Self::List(list) = self {
            if list.iter().any(|(known, _)| *known == key) {
                return Err(key);
            }
            if list.len() >= MAX_LIST {
                *self = Self::Map(Box::new(std::mem::take(list).into_iter().collect()));
            }
        }
        match self {
            Self::List(list) => Ok(&mut list.push_mut((key, Value::Null)).1),
            Self::Map(map) => match map.entry(key) {
                Entry::Vacant(entry) => Ok(entry.insert(Value::Null)),
                Entry::Occupied(entry) => Err(entry.key().clone()),
            },
        }
    }

    pub(super) fn remove(&mut self, key: &str) -> Option<Value> {
        match self {
            Self::List(list) => {
                let index = list.iter().position(|(known, _)| known == key)?;
                Some(list.remove(index).1)
            }
            Self::Map(map) => map.shift_remove(key),
        }
    }

    pub(super) fn rename(&mut self, old: &str, new: String) -> bool {
        match self {
            Self::List(list) => {
                let is_taken = new != old && list.iter().any(|(known, _)| *known == new);
                match list.iter_mut().find(|(known, _)| known == old) {
                    Some((key, _)) if !is_taken => *key = new,
                    _ => return false,
                }
                true
            }
            Self::Map(map) => {
                let Some(index) = map.get_index_of(old) else { return false };
                map.replace_index(index, new).is_ok()
            }
        }
    }
}
