//! JSON objects that keep the order of their keys.

mod iterate;

use std::hash::{BuildHasher, Hash, Hasher};

pub use iterate::{IntoIter, Iter, IterMut};

use foldhash::fast::{FixedState, RandomState};
use indexmap::IndexMap;
use indexmap::map::Entry;

use crate::Value;

type Map = IndexMap<String, Value, RandomState>;

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
#[derive(Default)]
pub struct Object {
    // Boxed because the map alone is 64 bytes and would make every `Value` in an array that large.
    map: Box<Map>,
}

impl Object {
    /// An object without keys.
    pub fn new() -> Self {
        Self::default()
    }

    /// An object without keys that has room for `capacity` of them.
    pub fn with_capacity(capacity: usize) -> Self {
        Self { map: Box::new(Map::with_capacity_and_hasher(capacity, RandomState::default())) }
    }

    /// Sets a key and returns the value it had. A new key goes to the end; a known key keeps its place.
    pub fn insert(&mut self, key: impl Into<String>, value: impl Into<Value>) -> Option<Value> {
        self.map.insert(key.into(), value.into())
    }

    /// Adds a key with the value null and returns the place of that value; gives the key back if it is present.
    pub(crate) fn add(&mut self, key: String) -> Result<&mut Value, String> {
        match self.map.entry(key) {
            Entry::Vacant(entry) => Ok(entry.insert(Value::Null)),
            Entry::Occupied(entry) => Err(entry.key().clone()),
        }
    }

    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.map.get(key)
    }

    /// The value of a key, to change in place.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Value> {
        self.map.get_mut(key)
    }

    /// Whether the key is present, be its value null or not.
    pub fn contains_key(&self, key: &str) -> bool {
        self.map.contains_key(key)
    }

    /// Takes a key out and returns its value; the others keep their order.
    pub fn remove(&mut self, key: &str) -> Option<Value> {
        self.map.shift_remove(key)
    }

    /// Gives a key another name, keeping its value and its place.
    ///
    /// Returns false and changes nothing if `old` is absent or `new` is the name of another key.
    pub fn rename(&mut self, old: &str, new: impl Into<String>) -> bool {
        let Some(index) = self.map.get_index_of(old) else { return false };
        self.map.replace_index(index, new.into()).is_ok()
    }

    /// How many keys there are.
    pub fn len(&self) -> usize {
        self.map.len()
    }

    /// Whether there is no key.
    pub fn is_empty(&self) -> bool {
        self.map.is_empty()
    }
}

impl Clone for Object {
    // By hand, because the map's own way takes twice the stack for each level of nesting.
    fn clone(&self) -> Self {
        let mut copy = Self::with_capacity(self.len());
        for (key, value) in self {
            copy.insert(key, value.clone());
        }
        copy
    }
}

impl PartialEq for Object {
    fn eq(&self, other: &Self) -> bool {
        self.map == other.map
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
