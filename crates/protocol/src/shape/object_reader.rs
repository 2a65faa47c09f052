//! Reading a JSON object field by field, and writing it in the layout in which it was read.

use super::extra::Slot;
use super::{ExtraFields, ShapeError, Wire};
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
        let object = Object::read(value, path)?;
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

    pub(crate) fn required<T: Wire>(&mut self, key: &str, expected: &'static str) -> Result<T, ShapeError> {
        let path = self.path.key(key);
        match self.take_nullable(key) {
            None => Err(ShapeError::absent(path, expected)),
            Some(Value::Null) => Err(ShapeError::kind(path, expected, &Value::Null)),
            Some(value) => T::read(value, &path),
        }
    }

    pub(crate) fn optional<T: Wire>(&mut self, key: &str) -> Result<Option<T>, ShapeError> {
        self.read(key, T::read)
    }

    /// The field, or the default value if the field is absent or null.
    pub(crate) fn or_default<T: Wire + Default>(&mut self, key: &str) -> Result<T, ShapeError> {
        Ok(self.optional(key)?.unwrap_or_default())
    }

    /// Fails if the field is present and not null.
    pub(crate) fn require_absent(&mut self, key: &str, expected: &'static str) -> Result<(), ShapeError> {
        match self.take(key) {
            Some(value) => Err(ShapeError::kind(self.path.key(key), expected, &value)),
            None => Ok(()),
        }
    }

    pub(crate) fn finish(self) -> ExtraFields {
        ExtraFields::from_slots(self.slots)
    }
}

impl TryFrom<Value> for Object {
    type Error = ShapeError;

    /// Fails unless the value is an object.
    fn try_from(value: Value) -> Result<Self, ShapeError> {
        Self::read(value, &Path::root())
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

    #[must_use]
    pub(crate) fn required(self, key: &'static str, value: &impl Wire) -> Self {
        self.with(key, value.write())
    }

    #[must_use]
    #[expect(clippy::ref_option, reason = "`wire_object!` passes every field by reference")]
    pub(crate) fn optional<T: Wire>(self, key: &'static str, value: &Option<T>) -> Self {
        self.with_some(key, value.as_ref().map(T::write))
    }

    /// Adds a field whose absence means its default value. With that value it is written only if the original had it.
    #[must_use]
    pub(crate) fn or_default<T: Wire + Default>(self, key: &'static str, value: &T) -> Self {
        self.with_default(key, T::default().write(), value.write())
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
