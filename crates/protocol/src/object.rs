//! JSON objects that keep the order of their keys.

mod entries;
mod iterate;

use std::hash::{BuildHasher, Hash, Hasher};

pub use iterate::{IntoIter, Iter, IterMut};

use foldhash::fast::FixedState;

use crate::Value;
use entries::Entries;

/// A JSON object: keys keep the order they came in; equality ignores it.
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
    /// An object without keys.
    pub fn new() -> Self {
        Self::default()
    }

    /// An object without keys that has room for `capacity` of them.
    pub fn with_capacity(capacity: usize) -> Self {
        Self { entries: Entries::with_capacity(capacity) }
    }

    /// Sets a key and returns the value it had. A new key goes to the end; a known key keeps its place.
    pub fn insert(&mut self, key: impl Into<String>, value: impl Into<Value>) -> Option<Value> {
        let (key, value) = (key.into(), value.into());
        match self.entries.add(key) {
            Ok(slot) => {
                *slot = value;
                None
            }
            Err(key) => self.entries.get_mut(&key).map(|slot| std::mem::replace(slot, value)),
        }
    }

    /// Adds a key with the value null and returns the place of that value; gives the key back if it is present.
    #[inline]
    pub fn add(&mut self, key: String) -> Result<&mut Value, String> {
        self.entries.add(key)
    }

    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.entries.get(key)
    }

    /// The value of a key, to change in place.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Value> {
        self.entries.get_mut(key)
    }

    /// Whether the key is present, be its value null or not.
    pub fn contains_key(&self, key: &str) -> bool {
        self.entries.get(key).is_some()
    }

    /// Takes a key out and returns its value; the others keep their order.
    pub fn remove(&mut self, key: &str) -> Option<Value> {
        self.entries.remove(key)
    }

    /// Gives a key another name, keeping its value and its place.
    ///
    /// Returns false and changes nothing if `old` is absent or `new` is the name of another key.
    pub fn rename(&mut self, old: &str, new: impl Into<String>) -> bool {
        self.entries.rename(old, new.into())
    }

    /// How many keys there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is no key.
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
        // A sum does not depend on the order of its terms, as equality does not depend on the order of keys.
        let hasher = FixedState::default();
        let sum = self.iter().fold(0_u64, |sum, entry| sum.wrapping_add(hasher.hash_one(entry)));
        state.write_usize(self.len());
        state.write_u64(sum);
    }
}
