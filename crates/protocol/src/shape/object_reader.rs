//! Reading a JSON object field by field, and writing it in the layout in which it was read.

use super::extra::Slot;
use super::{ExtraFields, ShapeError};
use crate::{Object, Path, Value};

/// Takes the fields of an object one by one; the remaining fields become [`ExtraFields`].
///
/// A `null` field reads as absent unless a method says otherwise, because many tools write `null` for "none".
pub(crate) struct ObjectReader<'a> {
    path: &'a Path,
    slots: Vec<(String, Slot)>,
}

impl<'a> ObjectReader<'a> {
    pub(crate) fn new(value: Value, path: &'a Path) -> Result<Self, ShapeError> {
        let object = object(value, path)?;
        let slots = object.into_iter().map(|(key, value)| (key, Slot::Unknown(value))).collect();
        Ok(Self { path, slots })
    }

    /// Takes a field; `None` if it is absent or null.
    pub(crate) fn take(&mut self, key: &str) -> Option<Value> {
        self.take_nullable(key).filter(|value| !value.is_null())
    }

    /// Takes a field in which null is a value; `None` if it is absent.
    pub(crate) fn take_nullable(&mut self, key: &str) -> Option<Value> {
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

    /// Takes a field and converts it with `read`, which also gets the path of the field.
    pub(crate) fn read<T>(
        &mut self,
        key: &str,
        read: impl FnOnce(Value, &Path) -> Result<T, ShapeError>,
    ) -> Result<Option<T>, ShapeError> {
        self.take(key).map(|value| read(value, &self.path.key(key))).transpose()
    }

    /// Like [`ObjectReader::read`], for a required field.
    pub(crate) fn require<T>(
        &mut self,
        key: &str,
        expected: &'static str,
        read: impl FnOnce(Value, &Path) -> Result<T, ShapeError>,
    ) -> Result<T, ShapeError> {
        let path = self.path.key(key);
        match self.take_nullable(key) {
            None => Err(ShapeError::absent(path, expected)),
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

    /// Fails if the field is present and not null.
    pub(crate) fn require_absent(&mut self, key: &str, expected: &'static str) -> Result<(), ShapeError> {
        match self.take(key) {
            Some(value) => Err(ShapeError::kind(self.path.key(key), expected, &value)),
            None => Ok(()),
        }
    }

    /// Takes a list; an absent list has no items.
    pub(crate) fn list<T>(
        &mut self,
        key: &str,
        item: impl Fn(Value, &Path) -> Result<T, ShapeError>,
    ) -> Result<Vec<T>, ShapeError> {
        Ok(self.read(key, |value, path| list(value, path, item))?.unwrap_or_default())
    }

    pub(crate) fn finish(self) -> ExtraFields {
        ExtraFields::from_slots(self.slots)
    }
}

pub(crate) fn text(value: Value, path: &Path) -> Result<String, ShapeError> {
    match value {
        Value::String(text) => Ok(text),
        other => Err(ShapeError::kind(path.clone(), "a string", &other)),
    }
}

pub(crate) fn flag(value: Value, path: &Path) -> Result<bool, ShapeError> {
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

impl TryFrom<Value> for Object {
    type Error = ShapeError;

    /// Fails unless the value is an object.
    fn try_from(value: Value) -> Result<Self, ShapeError> {
        object(value, &Path::root())
    }
}

pub(crate) fn list<T>(
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

/// Collects the fields that a type defines, then merges them with its extra fields in the original order.
pub(crate) struct ObjectWriter<'a> {
    extra: &'a ExtraFields,
    fields: Vec<(&'static str, Field)>,
}

enum Field {
    Present(Value),
    /// Equal to what an absent field means: written only where the original had it.
    Default(Value),
    /// Not written, or as `null` where the original had `null`.
    Absent,
}

impl<'a> ObjectWriter<'a> {
    pub(crate) fn new(extra: &'a ExtraFields) -> Self {
        Self { extra, fields: Vec::new() }
    }

    #[must_use]
    pub(crate) fn with(mut self, key: &'static str, value: impl Into<Value>) -> Self {
        self.fields.push((key, Field::Present(value.into())));
        self
    }

    /// Adds a field that is written if it is `Some`.
    #[must_use]
    pub(crate) fn with_some(mut self, key: &'static str, value: Option<impl Into<Value>>) -> Self {
        self.fields.push((key, value.map_or(Field::Absent, |value| Field::Present(value.into()))));
        self
    }

    /// Adds a field that means `default` when absent. With that value it is written only if the original had it.
    #[must_use]
    pub(crate) fn with_default(
        mut self,
        key: &'static str,
        default: impl Into<Value>,
        value: impl Into<Value>,
    ) -> Self {
        let value = value.into();
        let field = if value == default.into() { Field::Default(value) } else { Field::Present(value) };
        self.fields.push((key, field));
        self
    }

    /// Adds a list of strings that is empty when absent.
    #[must_use]
    pub(crate) fn with_texts<'t>(self, key: &'static str, texts: impl IntoIterator<Item = &'t str>) -> Self {
        let texts: Vec<Value> = texts.into_iter().map(Value::from).collect();
        self.with_default(key, Vec::new(), texts)
    }

    /// The object: fields of the original in their order, then the others.
    pub(crate) fn finish(mut self) -> Value {
        let mut object = Object::with_capacity(self.fields.len() + self.extra.slots().len());
        for (key, slot) in self.extra.slots() {
            if let Some(value) = self.take_field(key, slot) {
                object.insert(key.as_str(), value);
            }
        }
        for (key, field) in self.fields {
            if let Field::Present(value) = field {
                object.insert(key, value);
            }
        }
        Value::Object(object)
    }

    fn take_field(&mut self, key: &str, slot: &Slot) -> Option<Value> {
        let Some((_, field)) = self.fields.iter_mut().find(|(name, _)| *name == key) else {
            return match slot {
                Slot::Unknown(value) => Some(value.clone()),
                Slot::Known | Slot::KnownNull => None,
            };
        };
        match (std::mem::replace(field, Field::Absent), slot) {
            (Field::Present(value), _) | (Field::Default(value), Slot::Known) => Some(value),
            (Field::Default(_) | Field::Absent, Slot::KnownNull) => Some(Value::Null),
            (Field::Default(_) | Field::Absent, _) => None,
        }
    }
}
