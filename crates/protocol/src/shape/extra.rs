//! The fields a type does not know, kept for whoever does.

use std::collections::HashMap;

use crate::Value;

/// The fields of a JSON object that its type does not know, and the order in which all fields were written.
///
/// Reading and writing a thing is lossless because of this: unknown fields come back where they stood, and a known
/// field that was written as `null` or as an empty list is written so again. Two of them are equal if they hold the
/// same unknown fields; order does not count, as in JSON.
#[derive(Debug, Clone, Default)]
pub struct Extra {
    // One pointer: every type of the protocol carries this, most have nothing in it, and errors must stay small.
    written: Option<Box<Written>>,
}

#[derive(Debug, Clone, Default)]
struct Written {
    slots: Vec<(String, Slot)>,
}

/// One written field.
#[derive(Debug, Clone)]
pub(super) enum Slot {
    /// The type keeps it under its own name.
    Known,
    /// The type knows it, and it was written as `null`.
    KnownNull,
    /// The type does not know it.
    Unknown(Value),
}

impl Extra {
    /// The value of an unknown field.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.iter().find(|(name, _)| *name == key).map(|(_, value)| value)
    }

    /// Sets an unknown field and returns the value it had. A field that the type knows cannot be set this way: what the
    /// type says about it is what is written.
    pub fn insert(&mut self, key: impl Into<String>, value: impl Into<Value>) -> Option<Value> {
        let (key, slot) = (key.into(), Slot::Unknown(value.into()));
        let slots = &mut self.written.get_or_insert_default().slots;
        match slots.iter_mut().find(|(name, _)| *name == key) {
            Some((_, place @ Slot::Unknown(_))) => std::mem::replace(place, slot).into_value(),
            Some(_) => None,
            None => {
                slots.push((key, slot));
                None
            }
        }
    }

    /// The unknown fields, in the order they were written.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.slots().iter().filter_map(|(key, slot)| match slot {
            Slot::Unknown(value) => Some((key.as_str(), value)),
            Slot::Known | Slot::KnownNull => None,
        })
    }

    /// Whether there is no unknown field.
    pub fn is_empty(&self) -> bool {
        self.iter().next().is_none()
    }

    pub(super) fn from_slots(slots: Vec<(String, Slot)>) -> Self {
        Self { written: Some(Box::new(Written { slots })) }
    }

    pub(super) fn slots(&self) -> &[(String, Slot)] {
        self.written.as_ref().map_or(&[], |written| &written.slots)
    }
}

impl Slot {
    fn into_value(self) -> Option<Value> {
        match self {
            Self::Unknown(value) => Some(value),
            Self::Known | Self::KnownNull => None,
        }
    }
}

impl PartialEq for Extra {
    fn eq(&self, other: &Self) -> bool {
        self.iter().collect::<HashMap<_, _>>() == other.iter().collect::<HashMap<_, _>>()
    }
}

impl Eq for Extra {}
