//! The six kinds of JSON values.

use crate::Value;

crate::word_enum! {
    /// The kind of a JSON value. Its word is the type name in JSON Schema.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum ValueKind {
        /// `null`.
        Null = "null",
        /// `true` or `false`.
        Boolean = "boolean",
        /// A number.
        Number = "number",
        /// A string.
        String = "string",
        /// An array.
        Array = "array",
        /// An object.
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
    /// The kind of this value.
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
