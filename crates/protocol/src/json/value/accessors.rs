//! Access to the content of a value, its kind, and conversions from Rust types.

use crate::{Number, Object, Path, Segment, Value};

impl Value {
    /// The value of a key; `None` if this is not an object or has no such key.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.as_object()?.get(key)
    }

    pub fn get_mut(&mut self, key: &str) -> Option<&mut Value> {
        self.as_object_mut()?.get_mut(key)
    }

    /// The value at a path; `None` if the path leads nowhere.
    pub fn at(&self, path: &Path) -> Option<&Value> {
        path.segments().iter().try_fold(self, |value, segment| match segment {
            Segment::Key(key) => value.get(key),
            Segment::Index(index) => value.as_array()?.get(*index),
        })
    }

    pub fn at_mut(&mut self, path: &Path) -> Option<&mut Value> {
        path.segments().iter().try_fold(self, |value, segment| match segment {
            Segment::Key(key) => value.get_mut(key),
            Segment::Index(index) => value.as_array_mut()?.get_mut(*index),
        })
    }

    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    pub fn as_bool(&self) -> Option<bool> {
        if let Self::Bool(value) = self { Some(*value) } else { None }
    }

    pub fn as_number(&self) -> Option<&Number> {
        if let Self::Number(number) = self { Some(number) } else { None }
    }

    pub fn as_str(&self) -> Option<&str> {
        if let Self::String(text) = self { Some(text) } else { None }
    }

    pub fn as_array(&self) -> Option<&[Value]> {
        if let Self::Array(items) = self { Some(items) } else { None }
    }

    pub fn as_array_mut(&mut self) -> Option<&mut Vec<Value>> {
        if let Self::Array(items) = self { Some(items) } else { None }
    }

    pub fn as_object(&self) -> Option<&Object> {
        if let Self::Object(object) = self { Some(object) } else { None }
    }

    pub fn as_object_mut(&mut self) -> Option<&mut Object> {
        if let Self::Object(object) = self { Some(object) } else { None }
    }
}

macro_rules! from {
    ($($type:ty => $variant:ident),* $(,)?) => {$(
        impl From<$type> for Value {
            fn from(value: $type) -> Self {
                Self::$variant(value.into())
            }
        }
    )*};
}

from! {
    &str => String, String => String, bool => Bool, Vec<Value> => Array, Object => Object,
    Number => Number, i32 => Number, u32 => Number, i64 => Number, u64 => Number, usize => Number,
}

impl<const N: usize> From<[(&str, Value); N]> for Value {
    fn from(entries: [(&str, Value); N]) -> Self {
        Self::Object(entries.into())
    }
}

impl FromIterator<Value> for Value {
    fn from_iter<I: IntoIterator<Item = Value>>(items: I) -> Self {
        Self::Array(items.into_iter().collect())
    }
}

crate::word_enum! {
    /// The kind of a JSON value. Its word is the type name in JSON Schema.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum ValueKind {
        Null = "null",
        Boolean = "boolean",
        Number = "number",
        String = "string",
        Array = "array",
        Object = "object",
    }
}

impl ValueKind {
    /// The name with its article, for messages: "a string", "an object", "null".
    pub const fn with_article(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Boolean => "a boolean",
            Self::Number => "a number",
            Self::String => "a string",
            Self::Array => "an array",
            Self::Object => "an object",
        }
    }
}

impl Value {
    pub fn kind(&self) -> ValueKind {
        match self {
            Self::Null => ValueKind::Null,
            Self::Bool(_) => ValueKind::Boolean,
            Self::Number(_) => ValueKind::Number,
            Self::String(_) => ValueKind::String,
            Self::Array(_) => ValueKind::Array,
            Self::Object(_) => ValueKind::Object,
        }
    }
}
