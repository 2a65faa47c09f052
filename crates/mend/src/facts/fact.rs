//! What an error can say, as something rules can use.

use std::fmt;

use reknit_protocol::{Number, Value};
use reknit_salvage::{Bound, Unit};

use super::Field;

/// One thing that an error says.
#[derive(Debug, Clone, PartialEq)]
pub struct Fact {
    /// About which field, if the error names one.
    pub field: Option<Field>,
    /// What it says.
    pub says: Says,
}

/// What is said.
#[derive(Debug, Clone, PartialEq)]
pub enum Says {
    /// It must be there and is not.
    Missing,
    /// It is there and holds nothing.
    Empty,
    /// The tool does not know it.
    Unknown {
        /// The names that the error offers instead.
        known: Vec<String>,
    },
    /// It is of another type.
    WrongType {
        /// The type that is wanted.
        expected: TypeName,
        /// The value that was found, if it is shown.
        got: Option<Value>,
    },
    /// It must be one of these.
    Allowed {
        /// The values.
        values: Vec<Value>,
        /// The value that was found, if it is shown.
        got: Option<Value>,
    },
    /// It lies beyond a limit.
    Bound {
        /// The side that is allowed.
        side: Bound,
        /// The limit.
        limit: Number,
    },
    /// It is too short or too long.
    Length {
        /// The side that is allowed.
        side: Bound,
        /// The limit.
        limit: u64,
        /// Of what.
        unit: Unit,
    },
    /// It must be written in another way.
    Format {
        /// The way, in the words of the error: `YYYY-MM-DD`.
        form: Option<String>,
        /// A text that is written so.
        example: Option<Value>,
    },
    /// It must be this very value.
    Expected {
        /// The value.
        value: Value,
        /// The value that was found, if it is shown.
        got: Option<Value>,
    },
    /// Nothing goes by this value.
    NotFound {
        /// The value, if it is shown.
        value: Option<Value>,
    },
    /// Probably this was meant: a name of a field or a value.
    Meant {
        /// The name or the value.
        value: Value,
    },
    /// It is wrong in a way that is not said.
    Invalid,
    /// What the tool advises, in words.
    Hint {
        /// The words.
        text: String,
    },
    /// When it may be tried again, in milliseconds from now.
    RetryAfter {
        /// How long to wait.
        ms: u64,
    },
}

/// The types that errors speak of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TypeName {
    /// Any number.
    Number,
    /// A number without a fraction.
    Integer,
    /// A text.
    String,
    /// True or false.
    Boolean,
    /// A list.
    Array,
    /// Names and values.
    Object,
}

/// The words for types, in the languages that tools are written in, in lower case.
const TYPE_WORDS: [(TypeName, &[&str]); 6] = [
    (
        TypeName::Number,
        &["number", "float", "float32", "float64", "f32", "f64", "double", "decimal", "bigdecimal", "numeric", "real"],
    ),
    (
        TypeName::Integer,
        &[
            "integer",
            "int",
            "int8",
            "int16",
            "int32",
            "int64",
            "i8",
            "i16",
            "i32",
            "i64",
            "u8",
            "u16",
            "u32",
            "u64",
            "usize",
            "uint",
            "uint8",
            "uint16",
            "uint32",
            "uint64",
            "long",
            "short",
            "biginteger",
        ],
    ),
    (TypeName::String, &["string", "str", "text", "varchar", "char"]),
    (TypeName::Boolean, &["boolean", "bool"]),
    (TypeName::Array, &["array", "list", "sequence", "slice", "tuple", "vec"]),
    (TypeName::Object, &["object", "map", "dict", "dictionary", "struct", "hash", "mapping"]),
];

impl TypeName {
    /// The type that a word means: `float64`, `Float!`, `java.lang.Double`.
    pub fn of(word: &str) -> Option<Self> {
        let word = word.trim_end_matches('!').rsplit('.').next()?.to_ascii_lowercase();
        TYPE_WORDS.iter().find(|(_, words)| words.contains(&word.as_str())).map(|(name, _)| *name)
    }

    /// The word of JSON Schema.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Number => "number",
            Self::Integer => "integer",
            Self::String => "string",
            Self::Boolean => "boolean",
            Self::Array => "array",
            Self::Object => "object",
        }
    }
}

/// Whether a name is that of what counts the changes of a thing: a stale one is replaced by the current one.
pub(super) fn is_stamp(name: &str) -> bool {
    ["version", "revision", "rev", "etag", "sequence", "generation"]
        .iter()
        .any(|stamp| name.eq_ignore_ascii_case(stamp))
}

impl Fact {
    pub(super) fn new(field: Option<Field>, says: Says) -> Self {
        Self { field, says }
    }

    /// Whether it is a list of which a part was left out, and so says nothing about what is not in it.
    pub(super) fn is_cut(&self) -> bool {
        let is_remark = |value: &Value| value.as_str().is_some_and(|text| text.starts_with('…'));
        matches!(&self.says, Says::Allowed { values, .. } if values.iter().any(is_remark))
    }

    /// Whether it is about what was sent, and not about when to send it.
    pub fn is_about_input(&self) -> bool {
        !matches!(self.says, Says::RetryAfter { .. } | Says::Hint { .. } | Says::Invalid)
    }
}

impl fmt::Display for Fact {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(field) = &self.field {
            write!(out, "`{field}`: ")?;
        }
        self.says.fmt(out)
    }
}

impl fmt::Display for Says {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => out.write_str("is required"),
            Self::Empty => out.write_str("must not be empty"),
            Self::Unknown { known } if known.is_empty() => out.write_str("is not known"),
            Self::Unknown { known } => write!(out, "is not known; known are {}", known.join(", ")),
            Self::WrongType { expected, .. } => write!(out, "must be of type {}", expected.as_str()),
            Self::Allowed { values, .. } => {
                let values: Vec<String> = values.iter().map(Value::to_string).collect();
                write!(out, "must be one of {}", values.join(", "))
            }
            Self::Bound { side, limit } => write!(out, "must be {} {limit}", side.words()),
            Self::Length { side, limit, unit } => {
                write!(out, "must have {} {limit} {}", side.words(), unit.word())
            }
            Self::Format { form, example } => {
                out.write_str("must be written")?;
                if let Some(form) = form {
                    write!(out, " as {form}")?;
                }
                if let Some(example) = example {
                    write!(out, " like {example}")?;
                }
                if form.is_none() && example.is_none() { out.write_str(" differently") } else { Ok(()) }
            }
            Self::Expected { value, .. } => write!(out, "must be {value}"),
            Self::NotFound { value: Some(value) } => write!(out, "nothing is known as {value}"),
            Self::NotFound { value: None } => out.write_str("names nothing that is known"),
            Self::Meant { value } => write!(out, "{value} may be meant"),
            Self::Invalid => out.write_str("is wrong"),
            Self::Hint { text } => write!(out, "hint: {text}"),
            Self::RetryAfter { ms } => write!(out, "try again after {ms} ms"),
        }
    }
}
