//! Walking over an object, in the order of its keys.

use std::fmt;

use super::{Map, Object};
use crate::Value;

impl Object {
    /// The keys and values, in order.
    pub fn iter(&self) -> Iter<'_> {
        Iter(self.map.iter())
    }

    /// The keys and values, in order, the values to change in place.
    pub fn iter_mut(&mut self) -> IterMut<'_> {
        IterMut(self.map.iter_mut())
    }

    /// The keys, in order.
    pub fn keys(&self) -> impl DoubleEndedIterator<Item = &str> + ExactSizeIterator {
        self.map.keys().map(String::as_str)
    }

    /// The values, in order.
    pub fn values(&self) -> impl DoubleEndedIterator<Item = &Value> + ExactSizeIterator {
        self.map.values()
    }
}

/// See [`Object::iter`].
pub struct Iter<'a>(indexmap::map::Iter<'a, String, Value>);

/// See [`Object::iter_mut`].
pub struct IterMut<'a>(indexmap::map::IterMut<'a, String, Value>);

/// The keys and values of an object that is used up.
pub struct IntoIter(indexmap::map::IntoIter<String, Value>);

impl<'a> Iterator for Iter<'a> {
    type Item = (&'a str, &'a Value);

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next().map(|(key, value)| (key.as_str(), value))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl<'a> Iterator for IterMut<'a> {
    type Item = (&'a str, &'a mut Value);

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next().map(|(key, value)| (key.as_str(), value))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl Iterator for IntoIter {
    type Item = (String, Value);

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl DoubleEndedIterator for Iter<'_> {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.0.next_back().map(|(key, value)| (key.as_str(), value))
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
        IntoIter(self.map.into_iter())
    }
}

impl FromIterator<(String, Value)> for Object {
    /// A key that comes twice keeps its first place and its last value.
    fn from_iter<I: IntoIterator<Item = (String, Value)>>(entries: I) -> Self {
        Self { map: Box::new(entries.into_iter().collect::<Map>()) }
    }
}

impl<const N: usize> From<[(&str, Value); N]> for Object {
    fn from(entries: [(&str, Value); N]) -> Self {
        entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
    }
}

impl Extend<(String, Value)> for Object {
    fn extend<I: IntoIterator<Item = (String, Value)>>(&mut self, entries: I) {
        self.map.extend(entries);
    }
}

impl fmt::Debug for Iter<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}

impl fmt::Debug for IterMut<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}

impl fmt::Debug for IntoIter {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}
