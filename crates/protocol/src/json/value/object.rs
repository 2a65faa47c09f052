//! JSON objects that keep the order of their keys.

mod entries;
mod iterators;

use std::hash::{BuildHasher, Hash, Hasher};

pub use iterators::{IntoIter, Iter, IterMut};

use foldhash::fast::FixedState;

use crate::Value;
use entries::Entries;

/// A JSON object whose keys keep their order. Equality ignores the order.
///
/// ```
/// use reknit_protocol::{Object, Value};
///
/// let mut object = Object::new();
/// object.insert("b", 1);
/// object.insert("a", 2);
/// assert_eq!(Value::Object(object).to_string(), r#"{"b":1,"a":2}"#);
/// ```
#[derive(Clone, Default)]
pub struct Object {
    entries: Entries,
}

impl Object {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn with_capacity(capacity: usize) -> Self {
        Self { entries: Entries::with_capacity(capacity) }
    }

    /// Sets a key and returns its previous value. A new key goes to the end; an existing key keeps its position.
    pub fn insert(&mut self, key: impl Into<String>, value: impl Into<Value>) -> Option<Value> {
        let (key, value) = (key.into(), value.into());
        match self.entries.insert_null(key) {
            Ok(slot) => {
                *slot = value;
                None
            }
            Err(key) => self.entries.get_mut(&key).map(|slot| std::mem::replace(slot, value)),
        }
    }

    /// Inserts a new key with the value null and returns that value to be set. If the key exists, the error holds it.
    #[inline]
    pub fn insert_null(&mut self, key: String) -> Result<&mut Value, String> {
        self.entries.insert_null(key)
    }

    pub fn get(&self, key: &str) -> Option<&Value> {
        self.entries.get(key)
    }

    pub fn get_mut(&mut self, key: &str) -> Option<&mut Value> {
        self.entries.get_mut(key)
    }

    /// Whether the key exists, even with the value null.
    pub fn contains_key(&self, key: &str) -> bool {
        self.entries.get(key).is_some()
    }

    /// Removes a key and returns its value. The other keys keep their order.
    pub fn remove(&mut self, key: &str) -> Option<Value> {
        self.entries.remove(key)
    }

    /// Renames a key, which keeps its value and its position.
    ///
    /// Returns false and changes nothing if `old` does not exist or `new` is another existing key.
    pub fn rename(&mut self, old: &str, new: impl Into<String>) -> bool {
        self.entries.rename(old, new.into())
    }

    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn is_empty(&self) -> bool {
        self.entries.len() == 0
    }
}

impl PartialEq for Object {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().all(|(key, value)| other.get(key) == Some(value))
    }
}

impl Eq for Object {}

impl Hash for Object {
    fn hash<H: Hasher>(&self, state: &mut H) {
        // A sum does not depend on the order of the keys, and neither does equality.
        let hasher = FixedState::default();
        let sum = self.iter().fold(0_u64, |sum, entry| sum.wrapping_add(hasher.hash_one(entry)));
        state.write_usize(self.len());
        state.write_u64(sum);
    }
}
