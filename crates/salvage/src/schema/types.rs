//! The types of JSON Schema, and sets of them.

use reknit_protocol::{Value, ValueKind, word_enum};

word_enum! {
    /// A type of JSON Schema. Its word is the name in JSON Schema.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum SchemaType {
        Null = "null",
        Boolean = "boolean",
        /// A number without a fraction, such as `5` or `5.0`.
        Integer = "integer",
        Number = "number",
        String = "string",
        Array = "array",
        Object = "object",
    }
}

impl SchemaType {
    /// The name with an article, for messages: "an integer", "null".
    pub fn with_article(self) -> &'static str {
        // Only integers are no kind of value.
        ValueKind::from_word(self.as_str()).map_or("an integer", ValueKind::with_article)
    }

    const fn bit(self) -> u8 {
        1 << self as u8
    }
}

impl From<ValueKind> for SchemaType {
    fn from(kind: ValueKind) -> Self {
        match kind {
            ValueKind::Null => Self::Null,
            ValueKind::Boolean => Self::Boolean,
            ValueKind::Number => Self::Number,
            ValueKind::String => Self::String,
            ValueKind::Array => Self::Array,
            ValueKind::Object => Self::Object,
        }
    }
}

/// A set of types. A set with [`SchemaType::Number`] also has [`SchemaType::Integer`], so that intersections are right.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TypeSet(u8);

impl Default for TypeSet {
    fn default() -> Self {
        Self::ALL
    }
}

impl TypeSet {
    pub(crate) const ALL: Self = Self(0b111_1111);
    pub(crate) const NONE: Self = Self(0);

    pub(crate) const fn with(self, added: SchemaType) -> Self {
        let integers = if matches!(added, SchemaType::Number) { SchemaType::Integer.bit() } else { 0 };
        Self(self.0 | added.bit() | integers)
    }

    pub(crate) const fn contains(self, wanted: SchemaType) -> bool {
        self.0 & wanted.bit() != 0
    }

    pub(crate) const fn intersection(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Parses the value of the keyword `type`: a name, or a list of names.
    pub(crate) fn from_keyword(keyword: &Value) -> Self {
        let names = match keyword {
            Value::Array(names) => names.as_slice(),
            name => std::slice::from_ref(name),
        };
        let types = names.iter().filter_map(|name| SchemaType::from_word(name.as_str()?));
        types.fold(Self::NONE, Self::with)
    }

    /// Whether a value of this kind can have one of the types.
    pub(crate) fn allows(self, kind: ValueKind) -> bool {
        // Every set with numbers has integers.
        let is_number = kind == ValueKind::Number;
        self.contains(if is_number { SchemaType::Integer } else { kind.into() })
    }

    pub(crate) fn accepts(self, value: &Value) -> bool {
        match value {
            Value::Number(number) => {
                self.contains(SchemaType::Number) || (self.contains(SchemaType::Integer) && number.is_integer())
            }
            other => self.allows(other.kind()),
        }
    }

    pub(crate) fn of_values(values: &[Value]) -> Self {
        let types = values.iter().map(|value| SchemaType::from(value.kind()));
        types.fold(Self::NONE, Self::with)
    }
}
