//! Where the entries of an object are kept: in a list while they are few, in a map when they are many.

use foldhash::fast::RandomState;
use indexmap::IndexMap;
use indexmap::map::Entry;

use crate::Value;

pub(super) type Map = IndexMap<String, Value, RandomState>;

/// Up to here it takes less time to look through all keys than to hash one, and one piece of memory instead of three.
/// Nearly every object stays below.
const FEW: usize = 16;

pub(super) enum Entries {
    Few(Vec<(String, Value)>),
    // Boxed because a map is 64 bytes and would make every `Value` that large.
    Many(Box<Map>),
}

impl Default for Entries {
    fn default() -> Self {
        Self::Few(Vec::new())
    }
}

impl Clone for Entries {
    // By hand, because the containers' own way takes twice the stack for each level of nesting.
    fn clone(&self) -> Self {
        match self {
            Self::Few(list) => {
                let mut copy = Vec::with_capacity(list.len());
                for (key, value) in list {
                    copy.push((key.clone(), value.clone()));
                }
                Self::Few(copy)
            }
            Self::Many(map) => {
                let mut copy = Map::with_capacity_and_hasher(map.len(), RandomState::default());
                for (key, value) in map.iter() {
                    copy.insert(key.clone(), value.clone());
                }
                Self::Many(Box::new(copy))
            }
        }
    }
}

impl Entries {
    pub(super) fn with_capacity(capacity: usize) -> Self {
        if capacity <= FEW {
            return Self::Few(Vec::with_capacity(capacity));
        }
        Self::Many(Box::new(Map::with_capacity_and_hasher(capacity, RandomState::default())))
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Self::Few(list) => list.len(),
            Self::Many(map) => map.len(),
        }
    }

    pub(super) fn get(&self, key: &str) -> Option<&Value> {
        match self {
            Self::Few(list) => list.iter().find(|(known, _)| known == key).map(|(_, value)| value),
            Self::Many(map) => map.get(key),
        }
    }

    pub(super) fn get_mut(&mut self, key: &str) -> Option<&mut Value> {
        match self {
            Self::Few(list) => list.iter_mut().find(|(known, _)| known == key).map(|(_, value)| value),
            Self::Many(map) => map.get_mut(key),
        }
    }

    /// Adds a key with the value null; gives the key back if it is present.
    pub(super) fn add(&mut self, key: String) -> Result<&mut Value, String> {
        if let Self::Few(list) = self {
            if list.iter().any(|(known, _)| *known == key) {
                return Err(key);
            }
            if list.len() >= FEW {
                *self = Self::Many(Box::new(std::mem::take(list).into_iter().collect()));
            }
        }
        match self {
            Self::Few(list) => Ok(&mut list.push_mut((key, Value::Null)).1),
            Self::Many(map) => match map.entry(key) {
                Entry::Vacant(entry) => Ok(entry.insert(Value::Null)),
                Entry::Occupied(entry) => Err(entry.key().clone()),
            },
        }
    }

    pub(super) fn remove(&mut self, key: &str) -> Option<Value> {
        match self {
            Self::Few(list) => {
                let place = list.iter().position(|(known, _)| known == key)?;
                Some(list.remove(place).1)
            }
            Self::Many(map) => map.shift_remove(key),
        }
    }

    pub(super) fn rename(&mut self, old: &str, new: String) -> bool {
        match self {
            Self::Few(list) => {
                let is_taken = new != old && list.iter().any(|(known, _)| *known == new);
                match list.iter_mut().find(|(known, _)| known == old) {
                    Some((key, _)) if !is_taken => *key = new,
                    _ => return false,
                }
                true
            }
            Self::Many(map) => {
                let Some(index) = map.get_index_of(old) else { return false };
                map.replace_index(index, new).is_ok()
            }
        }
    }
}
