//! The JSON fields that a type does not define, and the error for JSON of the wrong shape.

use std::collections::HashMap;
use std::fmt;

use crate::{Path, Value, ValueKind};

/// The fields of a JSON object that its type does not define, and the original order of all fields.
///
/// This makes reading and writing lossless: extra fields keep their position, and a known field that was `null` or an
/// empty list is written the same way again. Two values are equal if they hold the same extra fields in any order.
#[derive(Debug, Clone, Default)]
pub struct ExtraFields {
    // Boxed to be one pointer in size: every protocol type has it, mostly empty, and error types must stay small.
    layout: Option<Box<Layout>>,
}

#[derive(Debug, Clone, Default)]
struct Layout {
    slots: Vec<(String, Slot)>,
}

/// One field of the original object.
#[derive(Debug, Clone)]
pub(super) enum Slot {
    Known,
    /// The type defines it, and it was `null`.
    KnownNull,
    Unknown(Value),
}

impl ExtraFields {
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.iter().find(|(name, _)| *name == key).map(|(_, value)| value)
    }

    /// Sets an extra field and returns its previous value. Has no effect on a field that the type defines.
    pub fn insert(&mut self, key: impl Into<String>, value: impl Into<Value>) -> Option<Value> {
        let (key, value) = (key.into(), value.into());
        let slots = &mut self.layout.get_or_insert_default().slots;
        match slots.iter_mut().find(|(name, _)| *name == key) {
            Some((_, Slot::Unknown(known))) => Some(std::mem::replace(known, value)),
            Some(_) => None,
            None => {
                slots.push((key, Slot::Unknown(value)));
                None
            }
        }
    }

    /// The extra fields, in their original order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.slots().iter().filter_map(|(key, slot)| match slot {
            Slot::Unknown(value) => Some((key.as_str(), value)),
            Slot::Known | Slot::KnownNull => None,
        })
    }

    pub fn is_empty(&self) -> bool {
        self.iter().next().is_none()
    }

    pub(super) fn from_slots(slots: Vec<(String, Slot)>) -> Self {
        Self { layout: Some(Box::new(Layout { slots })) }
    }

    pub(super) fn slots(&self) -> &[(String, Slot)] {
        self.layout.as_ref().map_or(&[], |layout| &layout.slots)
    }
}

impl PartialEq for ExtraFields {
    fn eq(&self, other: &Self) -> bool {
        self.iter().collect::<HashMap<_, _>>() == other.iter().collect::<HashMap<_, _>>()
    }
}

impl Eq for ExtraFields {}

/// A JSON value does not have the shape that a type requires.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{path}`: expected {expected}, found {found}")]
pub struct ShapeError {
    pub path: Path,
    pub expected: &'static str,
    pub found: ActualShape,
}

/// What a JSON value has at the place of a [`ShapeError`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ActualShape {
    Absent,
    Kind(ValueKind),
    /// A string that is not one of the allowed words.
    UnknownWord(String),
}

impl ShapeError {
    pub(crate) fn kind(path: Path, expected: &'static str, found: &Value) -> Self {
        Self { path, expected, found: ActualShape::Kind(found.kind()) }
    }

    pub(crate) fn absent(path: Path, expected: &'static str) -> Self {
        Self { path, expected, found: ActualShape::Absent }
    }
}

impl fmt::Display for ActualShape {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absent => out.write_str("nothing"),
            Self::Kind(kind) => out.write_str(kind.with_article()),
            Self::UnknownWord(word) => write!(out, "`{word}`"),
        }
    }
}
