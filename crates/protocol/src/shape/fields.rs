//! Reading an object field by field.

use super::extra::Slot;
use super::{Extra, ShapeError};
use crate::{Object, Path, Value};

/// The fields of an object, taken out one by one; what nobody takes becomes [`Extra`].
///
/// A field that is `null` reads as if it were absent: writers of the protocol print `null` for "none".
pub(crate) struct Fields<'a> {
    path: &'a Path,
    slots: Vec<(String, Slot)>,
}

impl<'a> Fields<'a> {
    pub(crate) fn open(value: Value, path: &'a Path) -> Result<Self, ShapeError> {
        let object = object(value, path)?;
        let slots = object.into_iter().map(|(key, value)| (key, Slot::Unknown(value))).collect();
        Ok(Self { path, slots })
    }

    /// Takes a field; `None` if it is absent or null.
    pub(crate) fn take(&mut self, key: &str) -> Option<Value> {
        self.take_even_null(key).filter(|value| !value.is_null())
    }

    /// Takes a field for which null is a value like any other; `None` if it is absent.
    pub(crate) fn take_even_null(&mut self, key: &str) -> Option<Value> {
        let (_, slot) = self.slots.iter_mut().find(|(name, _)| name == key)?;
        match std::mem::replace(slot, Slot::Known) {
            Slot::Unknown(Value::Null) => {
                *slot = Slot::KnownNull;
                Some(Value::Null)
            }
            Slot::Unknown(value) => Some(value),
            Slot::Known | Slot::KnownNull => None,
        }
    }

    /// Takes a field and reads it with `read`, which is told where it stands.
    pub(crate) fn read<T>(
        &mut self,
        key: &str,
        read: impl FnOnce(Value, &Path) -> Result<T, ShapeError>,
    ) -> Result<Option<T>, ShapeError> {
        self.take(key).map(|value| read(value, &self.path.key(key))).transpose()
    }

    /// Like [`Fields::read`], for a field that must be there.
    pub(crate) fn require<T>(
        &mut self,
        key: &str,
        expected: &'static str,
        read: impl FnOnce(Value, &Path) -> Result<T, ShapeError>,
    ) -> Result<T, ShapeError> {
        let path = self.path.key(key);
        match self.take_even_null(key) {
            None => Err(ShapeError::nothing(path, expected)),
            Some(Value::Null) => Err(ShapeError::kind(path, expected, &Value::Null)),
            Some(value) => read(value, &path),
        }
    }

    pub(crate) fn text(&mut self, key: &str) -> Result<Option<String>, ShapeError> {
        self.read(key, text)
    }

    pub(crate) fn require_text(&mut self, key: &str) -> Result<String, ShapeError> {
        self.require(key, "a string", text)
    }

    pub(crate) fn require_flag(&mut self, key: &str) -> Result<bool, ShapeError> {
        self.require(key, "a boolean", flag)
    }

    /// Fails if the field is there and not null.
    pub(crate) fn refuse(&mut self, key: &str, expected: &'static str) -> Result<(), ShapeError> {
        match self.take(key) {
            Some(value) => Err(ShapeError::kind(self.path.key(key), expected, &value)),
            None => Ok(()),
        }
    }

    pub(crate) fn flag(&mut self, key: &str) -> Result<Option<bool>, ShapeError> {
        self.read(key, flag)
    }

    pub(crate) fn object(&mut self, key: &str) -> Result<Option<Object>, ShapeError> {
        self.read(key, object)
    }

    /// Takes a list; one that is absent has no items.
    pub(crate) fn list<T>(
        &mut self,
        key: &str,
        item: impl Fn(Value, &Path) -> Result<T, ShapeError>,
    ) -> Result<Vec<T>, ShapeError> {
        Ok(self.read(key, |value, path| list(value, path, item))?.unwrap_or_default())
    }

    /// Takes a list that must be there.
    pub(crate) fn require_list<T>(
        &mut self,
        key: &str,
        item: impl Fn(Value, &Path) -> Result<T, ShapeError>,
    ) -> Result<Vec<T>, ShapeError> {
        self.require(key, "an array", |value, path| list(value, path, item))
    }

    /// What nobody has taken.
    pub(crate) fn finish(self) -> Extra {
        Extra::from_slots(self.slots)
    }
}

pub(crate) fn text(value: Value, path: &Path) -> Result<String, ShapeError> {
    match value {
        Value::String(text) => Ok(text),
        other => Err(ShapeError::kind(path.clone(), "a string", &other)),
    }
}

fn flag(value: Value, path: &Path) -> Result<bool, ShapeError> {
    match value {
        Value::Bool(flag) => Ok(flag),
        other => Err(ShapeError::kind(path.clone(), "a boolean", &other)),
    }
}

pub(crate) fn object(value: Value, path: &Path) -> Result<Object, ShapeError> {
    match value {
        Value::Object(object) => Ok(object),
        other => Err(ShapeError::kind(path.clone(), "an object", &other)),
    }
}

fn list<T>(
    value: Value,
    path: &Path,
    item: impl Fn(Value, &Path) -> Result<T, ShapeError>,
) -> Result<Vec<T>, ShapeError> {
    match value {
        Value::Array(items) => {
            items.into_iter().enumerate().map(|(index, value)| item(value, &path.index(index))).collect()
        }
        other => Err(ShapeError::kind(path.clone(), "an array", &other)),
    }
}
