//! The type words of JSON Schema, alone and as sets.

use reknit_protocol::{Kind, Value};

/// A type as JSON Schema names them: the kinds of JSON, with integers apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Type {
    /// `null`.
    Null,
    /// `true` or `false`.
    Boolean,
    /// A number without a fraction, however it is spelt.
    Integer,
    /// Any number.
    Number,
    /// A text.
    String,
    /// A list.
    Array,
    /// Keys and values.
    Object,
}

impl Type {
    const ALL: [Self; 7] =
        [Self::Null, Self::Boolean, Self::Integer, Self::Number, Self::String, Self::Array, Self::Object];

    /// The word JSON Schema has for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Boolean => "boolean",
            Self::Integer => "integer",
            Self::Number => "number",
            Self::String => "string",
            Self::Array => "array",
            Self::Object => "object",
        }
    }

    /// The word with its article, for messages: "an integer", "null".
    pub const fn with_article(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Boolean => "a boolean",
            Self::Integer => "an integer",
            Self::Number => "a number",
            Self::String => "a string",
            Self::Array => "an array",
            Self::Object => "an object",
        }
    }

    pub(crate) fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|candidate| candidate.as_str() == word)
    }

    const fn bit(self) -> u8 {
        1 << self as u8
    }
}

/// A set of types. A set with [`Type::Number`] has [`Type::Integer`] too, so that sets intersect as their values do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Types(u8);

impl Types {
    pub(crate) const ALL: Self = Self(0b111_1111);
    pub(crate) const NONE: Self = Self(0);

    pub(crate) const fn with(self, added: Type) -> Self {
        let integers = if matches!(added, Type::Number) { Type::Integer.bit() } else { 0 };
        Self(self.0 | added.bit() | integers)
    }

    pub(crate) const fn has(self, asked: Type) -> bool {
        self.0 & asked.bit() != 0
    }

    pub(crate) const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// What the keyword `type` says: a word, or a list of words.
    pub(crate) fn from_keyword(keyword: &Value) -> Self {
        let words = match keyword {
            Value::Array(words) => words.as_slice(),
            word => std::slice::from_ref(word),
        };
        let types = words.iter().filter_map(|word| Type::from_word(word.as_str()?));
        types.fold(Self::NONE, Self::with)
    }

    /// Whether a value of this kind can be of one of the types.
    pub(crate) const fn allow(self, kind: Kind) -> bool {
        self.has(match kind {
            Kind::Null => Type::Null,
            Kind::Boolean => Type::Boolean,
            // Every set that has numbers has integers.
            Kind::Number => Type::Integer,
            Kind::String => Type::String,
            Kind::Array => Type::Array,
            Kind::Object => Type::Object,
        })
    }

    /// Whether the value is of one of the types.
    pub(crate) fn accept(self, value: &Value) -> bool {
        match value {
            Value::Number(number) => self.has(Type::Number) || (self.has(Type::Integer) && number.is_integer()),
            other => self.allow(other.kind()),
        }
    }

    /// The types a list of values has.
    pub(crate) fn of_values(values: &[Value]) -> Self {
        let types = values.iter().map(|value| match value {
            Value::Null => Type::Null,
            Value::Bool(_) => Type::Boolean,
            Value::Number(_) => Type::Number,
            Value::String(_) => Type::String,
            Value::Array(_) => Type::Array,
            Value::Object(_) => Type::Object,
        });
        types.fold(Self::NONE, Self::with)
    }
}
