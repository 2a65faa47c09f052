//! The kinds of facts that an error can state.

use std::fmt;

use reknit_protocol::{Number, Value};
use reknit_salvage::{Comparison, LengthUnit, SchemaType};

use super::Field;
use crate::is_listed;

#[derive(Debug, Clone, PartialEq)]
pub struct Fact {
    /// The field it is about, if the error names one.
    pub field: Option<Field>,
    /// What the error states about it.
    pub(crate) kind: FactKind,
}

/// What an error states about a field. `got` is the value that was sent, if the error shows it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum FactKind {
    Missing,
    Empty,
    /// The tool does not know it; `known` are the names that the error lists instead.
    UnknownField {
        known: Vec<String>,
    },
    WrongType {
        expected: SchemaType,
        got: Option<Value>,
    },
    AllowedValues {
        values: Vec<Value>,
        got: Option<Value>,
    },
    /// It is outside a limit; `side` is the side that is allowed.
    Bound {
        side: Comparison,
        limit: Number,
    },
    Length {
        side: Comparison,
        limit: u64,
        unit: LengthUnit,
    },
    /// It must have another format, as the error writes it (`YYYY-MM-DD`) or like an example.
    Format {
        format: Option<String>,
        example: Option<Value>,
    },
    ExpectedValue {
        value: Value,
        got: Option<Value>,
    },
    /// There is nothing with this value, for example no city of this name.
    NotFound {
        value: Option<Value>,
    },
    /// The error suggests another field name or value: "did you mean ...?".
    Suggestion {
        value: Value,
    },
    /// It is wrong; the error does not say how.
    Invalid,
    Hint {
        text: String,
    },
    /// The call may be retried after this time.
    RetryAfter {
        ms: u64,
    },
}

/// Names of types in the languages that tools are written in, in lower case.
const TYPE_NAMES: [(SchemaType, &str); 6] = [
    (SchemaType::Number, "number float float32 float64 f32 f64 double decimal bigdecimal numeric real"),
    (
        SchemaType::Integer,
        "integer int int8 int16 int32 int64 i8 i16 i32 i64 u8 u16 u32 u64 usize uint uint8 uint16 uint32 uint64 long \
         short biginteger",
    ),
    (SchemaType::String, "string str text varchar char"),
    (SchemaType::Boolean, "boolean bool"),
    (SchemaType::Array, "array list sequence slice tuple vec"),
    (SchemaType::Object, "object map dict dictionary struct hash mapping"),
];

/// Parses the name of a type: `float64`, `Float!`, `java.lang.Double`.
pub(super) fn parse_type(word: &str) -> Option<SchemaType> {
    let word = word.trim_end_matches('!').rsplit('.').next()?.to_ascii_lowercase();
    TYPE_NAMES.iter().find(|(_, names)| is_listed(names, &word)).map(|(name, _)| *name)
}

/// Whether a field holds the version of a resource: a stale version may be replaced by the current one.
pub(super) fn is_version_field(name: &str) -> bool {
    is_listed("version revision rev etag sequence generation", &name.to_ascii_lowercase())
}

impl Fact {
    pub(crate) fn new(field: Option<Field>, kind: FactKind) -> Self {
        Self { field, kind }
    }

    /// The value that was sent, if the error shows it.
    pub(crate) fn shown_value(&self) -> Option<&Value> {
        match &self.kind {
            FactKind::NotFound { value } => value.as_ref(),
            FactKind::AllowedValues { got, .. }
            | FactKind::WrongType { got, .. }
            | FactKind::ExpectedValue { got, .. } => got.as_ref(),
            _ => None,
        }
    }

    /// Whether it is a shortened list of allowed values, which says nothing about the values that it leaves out.
    pub(crate) fn is_shortened(&self) -> bool {
        let is_remark = |value: &Value| value.as_str().is_some_and(|text| text.starts_with('…'));
        matches!(&self.kind, FactKind::AllowedValues { values, .. } if values.iter().any(is_remark))
    }

    /// Whether it says something specific about the parameters that were sent.
    pub fn is_about_input(&self) -> bool {
        !matches!(self.kind, FactKind::RetryAfter { .. } | FactKind::Hint { .. } | FactKind::Invalid)
    }
}

impl fmt::Display for Fact {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(field) = &self.field {
            write!(out, "`{field}`: ")?;
        }
        self.kind.fmt(out)
    }
}

impl fmt::Display for FactKind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => out.write_str("is required"),
            Self::Empty => out.write_str("must not be empty"),
            Self::UnknownField { known } if known.is_empty() => out.write_str("is not known"),
            Self::UnknownField { known } => write!(out, "is not known; known are {}", known.join(", ")),
            Self::WrongType { expected, .. } => write!(out, "must be of type {}", expected.as_str()),
            Self::AllowedValues { values, .. } => {
                let values: Vec<String> = values.iter().map(Value::to_string).collect();
                write!(out, "must be one of {}", values.join(", "))
            }
            Self::Bound { side, limit } => write!(out, "must be {} {limit}", side.as_str()),
            Self::Length { side, limit, unit } => {
                write!(out, "must have {} {limit} {}", side.as_str(), unit.as_str())
            }
            Self::Format { format, example } => {
                out.write_str("must be written")?;
                if let Some(format) = format {
                    write!(out, " as {format}")?;
                }
                if let Some(example) = example {
                    write!(out, " like {example}")?;
                }
                if format.is_none() && example.is_none() { out.write_str(" differently") } else { Ok(()) }
            }
            Self::ExpectedValue { value, .. } => write!(out, "must be {value}"),
            Self::NotFound { value: Some(value) } => write!(out, "nothing is known as {value}"),
            Self::NotFound { value: None } => out.write_str("names nothing that is known"),
            Self::Suggestion { value } => write!(out, "{value} may be meant"),
            Self::Invalid => out.write_str("is wrong"),
            Self::Hint { text } => write!(out, "hint: {text}"),
            Self::RetryAfter { ms } => write!(out, "try again after {ms} ms"),
        }
    }
}
