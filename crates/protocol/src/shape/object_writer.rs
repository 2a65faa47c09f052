//! Writing a JSON object in the layout in which it was read.

use super::ExtraFields;
use super::extra::Slot;
use crate::{Object, Value};

/// Collects the fields that a type defines, then merges them with its extra fields in the original order.
pub(crate) struct ObjectWriter<'a> {
    extra: &'a ExtraFields,
    fields: Vec<(&'static str, Field)>,
}

enum Field {
    /// Always written.
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

    /// Adds a field that is always written.
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

    /// The value to write at the original position of `key`, if any.
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
