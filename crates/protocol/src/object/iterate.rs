//! Walking over an object, in the order of its keys.

use std::{fmt, slice, vec};

use indexmap::map;

use super::Object;
use super::entries::Entries;
use crate::Value;

impl Object {
    /// The keys and values, in order.
    pub fn iter(&self) -> Iter<'_> {
        match &self.entries {
            Entries::Few(list) => Iter(Either::Few(list.iter())),
            Entries::Many(map) => Iter(Either::Many(map.iter())),
        }
    }

    /// The keys and values, in order, the values to change in place.
    pub fn iter_mut(&mut self) -> IterMut<'_> {
        match &mut self.entries {
            Entries::Few(list) => IterMut(Either::Few(list.iter_mut())),
            Entries::Many(map) => IterMut(Either::Many(map.iter_mut())),
        }
    }

    /// The keys, in order.
    pub fn keys(&self) -> impl DoubleEndedIterator<Item = &str> + ExactSizeIterator {
        self.iter().map(|(key, _)| key)
    }

    /// The values, in order.
    pub fn values(&self) -> impl DoubleEndedIterator<Item = &Value> + ExactSizeIterator {
        self.iter().map(|(_, value)| value)
    }
}

/// Over a list or over a map, as the entries are kept.
enum Either<F, M> {
    Few(F),
    Many(M),
}

/// See [`Object::iter`].
pub struct Iter<'a>(Either<slice::Iter<'a, (String, Value)>, map::Iter<'a, String, Value>>);

/// See [`Object::iter_mut`].
pub struct IterMut<'a>(Either<slice::IterMut<'a, (String, Value)>, map::IterMut<'a, String, Value>>);

/// The keys and values of an object that is used up.
pub struct IntoIter(Either<vec::IntoIter<(String, Value)>, map::IntoIter<String, Value>>);

impl<F: ExactSizeIterator, M: ExactSizeIterator> Either<F, M> {
    fn size_hint(&self) -> (usize, Option<usize>) {
        match self {
            Self::Few(list) => list.size_hint(),
            Self::Many(map) => map.size_hint(),
        }
    }
}

impl<'a> Iterator for Iter<'a> {
    type Item = (&'a str, &'a Value);

    fn next(&mut self) -> Option<Self::Item> {
        match &mut self.0 {
            Either::Few(list) => list.next().map(|(key, value)| (key.as_str(), value)),
            Either::Many(map) => map.next().map(|(key, value)| (key.as_str(), value)),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl<'a> Iterator for IterMut<'a> {
    type Item = (&'a str, &'a mut Value);

    fn next(&mut self) -> Option<Self::Item> {
        match &mut self.0 {
            Either::Few(list) => list.next().map(|(key, value)| (key.as_str(), value)),
            Either::Many(map) => map.next().map(|(key, value)| (key.as_str(), value)),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl Iterator for IntoIter {
    type Item = (String, Value);

    fn next(&mut self) -> Option<Self::Item> {
        match &mut self.0 {
            Either::Few(list) => list.next(),
            Either::Many(map) => map.next(),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl DoubleEndedIterator for Iter<'_> {
    fn next_back(&mut self) -> Option<Self::Item> {
        match &mut self.0 {
            Either::Few(list) => list.next_back().map(|(key, value)| (key.as_str(), value)),
            Either::Many(map) => map.next_back().map(|(key, value)| (key.as_str(), value)),
        }
    }
}

impl ExactSizeIterator for Iter<'_> {}
impl ExactSizeIterator for IterMut<'_> {}
impl ExactSizeIterator for IntoIter {}

impl<'a> IntoIterator for &'a Object {
    type Item = (&'a str, &'a Value);
    type IntoIter = Iter<'a>;

    fn into_iter(self) -> Iter<'a> {
        self.iter()
    }
}

impl<'a> IntoIterator for &'a mut Object {
    type Item = (&'a str, &'a mut Value);
    type IntoIter = IterMut<'a>;

    fn into_iter(self) -> IterMut<'a> {
        self.iter_mut()
    }
}

impl IntoIterator for Object {
    type Item = (String, Value);
    type IntoIter = IntoIter;

    fn into_iter(self) -> IntoIter {
        match self.entries {
            Entries::Few(list) => IntoIter(Either::Few(list.into_iter())),
            Entries::Many(map) => IntoIter(Either::Many(map.into_iter())),
        }
    }
}

impl FromIterator<(String, Value)> for Object {
    /// A key that comes twice keeps its first place and its last value.
    fn from_iter<I: IntoIterator<Item = (String, Value)>>(entries: I) -> Self {
        let entries = entries.into_iter();
        let mut object = Self::with_capacity(entries.size_hint().0);
        object.extend(entries);
        object
    }
}

impl<const N: usize> From<[(&str, Value); N]> for Object {
    fn from(entries: [(&str, Value); N]) -> Self {
        entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
    }
}

impl Extend<(String, Value)> for Object {
    fn extend<I: IntoIterator<Item = (String, Value)>>(&mut self, entries: I) {
        for (key, value) in entries {
            self.insert(key, value);
        }
    }
}

impl fmt::Debug for Iter<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Either::Few(list) => list.as_slice().fmt(out),
            Either::Many(map) => map.fmt(out),
        }
    }
}

impl fmt::Debug for IterMut<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Either::Few(list) => list.as_slice().fmt(out),
            Either::Many(map) => map.fmt(out),
        }
    }
}

impl fmt::Debug for IntoIter {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Either::Few(list) => list.as_slice().fmt(out),
            Either::Many(map) => map.fmt(out),
        }
    }
}
