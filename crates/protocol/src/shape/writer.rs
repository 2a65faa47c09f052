//! Writing an object so that it looks as it did when it was read.

use super::Extra;
use super::extra::Slot;
use crate::{Object, Value};

/// Collects the known fields of a type, then lays them out together with the unknown ones.
pub(crate) struct Writer<'a> {
    extra: &'a Extra,
    fields: Vec<(&'static str, Field)>,
}

enum Field {
    /// Has something to say.
    Present(Value),
    /// Says what its absence would say, too.
    Default(Value),
    /// Has nothing to say.
    Absent,
}

impl<'a> Writer<'a> {
    pub(crate) fn new(extra: &'a Extra) -> Self {
        Self { extra, fields: Vec::new() }
    }

    /// A field that is always written.
    #[must_use]
    pub(crate) fn with(mut self, key: &'static str, value: impl Into<Value>) -> Self {
        self.fields.push((key, Field::Present(value.into())));
        self
    }

    /// A field that is written if there is something.
    #[must_use]
    pub(crate) fn with_some(mut self, key: &'static str, value: Option<impl Into<Value>>) -> Self {
        self.fields.push((key, value.map_or(Field::Absent, |value| Field::Present(value.into()))));
        self
    }

    /// A field whose absence means `default`; at that value it is written only if it was written before.
    #[must_use]
    pub(crate) fn with_unless(mut self, key: &'static str, default: impl Into<Value>, value: impl Into<Value>) -> Self {
        let value = value.into();
        let field = if value == default.into() { Field::Default(value) } else { Field::Present(value) };
        self.fields.push((key, field));
        self
    }

    /// A list of texts; its absence means that there are none.
    #[must_use]
    pub(crate) fn with_texts<'t>(self, key: &'static str, texts: impl IntoIterator<Item = &'t str>) -> Self {
        let texts: Vec<Value> = texts.into_iter().map(Value::from).collect();
        self.with_unless(key, Vec::new(), texts)
    }

    /// Fields that were read come in the order they were read in; the others follow.
    pub(crate) fn finish(mut self) -> Value {
        let mut object = Object::with_capacity(self.fields.len() + self.extra.slots().len());
        for (key, slot) in self.extra.slots() {
            if let Some(value) = self.field_for(key, slot) {
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

    /// What to write where `key` stood, if anything.
    fn field_for(&mut self, key: &str, slot: &Slot) -> Option<Value> {
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
