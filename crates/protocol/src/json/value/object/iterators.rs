//! Iteration over an object, in the order of its keys.

use std::{slice, vec};

use indexmap::map;

use super::Object;
use super::entries::Entries;
use crate::Value;

impl Object {
    /// The keys and values, in order.
    pub fn iter(&self) -> Iter<'_> {
        match &self.entries {
            Entries::List(list) => Iter(Either::List(list.iter())),
            Entries::Map(map) => Iter(Either::Map(map.iter())),
        }
    }

    pub fn iter_mut(&mut self) -> IterMut<'_> {
        match &mut self.entries {
            Entries::List(list) => IterMut(Either::List(list.iter_mut())),
            Entries::Map(map) => IterMut(Either::Map(map.iter_mut())),
        }
    }

    pub fn keys(&self) -> impl DoubleEndedIterator<Item = &str> + ExactSizeIterator {
        self.iter().map(|(key, _)| key)
    }

    pub fn values(&self) -> impl DoubleEndedIterator<Item = &Value> + ExactSizeIterator {
        self.iter().map(|(_, value)| value)
    }
}

#[derive(Debug)]
enum Either<F, M> {
    List(F),
    Map(M),
}

macro_rules! on_either {
    ($either:expr, $inner:ident => $result:expr) => {
        match $either {
            Either::List($inner) => $result,
            Either::Map($inner) => $result,
        }
    };
}

/// The iterator of [`Object::iter`].
#[derive(Debug)]
pub struct Iter<'a>(Either<slice::Iter<'a, (String, Value)>, map::Iter<'a, String, Value>>);

/// The iterator of [`Object::iter_mut`].
#[derive(Debug)]
pub struct IterMut<'a>(Either<slice::IterMut<'a, (String, Value)>, map::IterMut<'a, String, Value>>);

/// The iterator over the owned keys and values of an object.
#[derive(Debug)]
pub struct IntoIter(Either<vec::IntoIter<(String, Value)>, map::IntoIter<String, Value>>);

impl<'a> Iterator for Iter<'a> {
    type Item = (&'a str, &'a Value);

    fn next(&mut self) -> Option<Self::Item> {
        on_either!(&mut self.0, inner => inner.next().map(|(key, value)| (key.as_str(), value)))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        on_either!(&self.0, inner => inner.size_hint())
    }
}

impl<'a> Iterator for IterMut<'a> {
    type Item = (&'a str, &'a mut Value);

    fn next(&mut self) -> Option<Self::Item> {
        on_either!(&mut self.0, inner => inner.next().map(|(key, value)| (key.as_str(), value)))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        on_either!(&self.0, inner => inner.size_hint())
    }
}

impl Iterator for IntoIter {
    type Item = (String, Value);

    fn next(&mut self) -> Option<Self::Item> {
        on_either!(&mut self.0, inner => inner.next())
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        on_either!(&self.0, inner => inner.size_hint())
    }
}

impl DoubleEndedIterator for Iter<'_> {
    fn next_back(&mut self) -> Option<Self::Item> {
        on_either!(&mut self.0, inner => inner.next_back().map(|(key, value)| (key.as_str(), value)))
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
            Entries::List(list) => IntoIter(Either::List(list.into_iter())),
            Entries::Map(map) => IntoIter(Either::Map(map.into_iter())),
        }
    }
}

impl FromIterator<(String, Value)> for Object {
    /// A repeated key keeps its first position and its last value.
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
