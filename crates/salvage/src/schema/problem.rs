//! The ways in which a value can fail to fit a schema.

use reknit_protocol::{Path, Value, word_enum};

use super::SchemaType;

/// One reason why a value does not fit a schema.
#[derive(Debug, Clone, PartialEq)]
pub struct FitProblem {
    /// The path of the wrong value.
    pub path: Path,
    /// The keyword that the value violates, as a JSON Pointer into the schema: `/properties/city/type`. Empty if there is
    /// none.
    pub schema_path: String,
    /// What is wrong, for programs.
    pub kind: FitProblemKind,
    /// What is wrong, for people: `expected a number, found the string "abc"`.
    pub message: String,
}

impl std::fmt::Display for FitProblem {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "`{}`: {}", self.path, self.message)
    }
}

/// What is wrong with a value, with the details.
#[derive(Debug, Clone, PartialEq)]
pub enum FitProblemKind {
    /// The value has a wrong type.
    Type {
        /// The allowed types.
        expected: Vec<SchemaType>,
    },
    /// A property is missing.
    Required {
        /// The name of the property.
        property: String,
    },
    /// The value is not one of the allowed values.
    Enum {
        /// The allowed values.
        allowed: Vec<Value>,
    },
    /// The value is not the constant.
    Const {
        /// The constant.
        expected: Value,
    },
    /// The number is too small or too large.
    Range {
        /// How the number must compare to the limit.
        comparison: Comparison,
        /// The limit.
        limit: Value,
    },
    /// The number is not a multiple.
    MultipleOf {
        /// The divisor.
        divisor: Value,
    },
    /// A string, array or object is too short or too long.
    Length {
        /// What is counted.
        unit: LengthUnit,
        /// [`Comparison::AtLeast`] or [`Comparison::AtMost`].
        comparison: Comparison,
        /// The limit.
        limit: u64,
    },
    /// The string does not match the pattern.
    Pattern {
        /// The regular expression.
        pattern: String,
    },
    /// The text does not have the format, such as `date`.
    Format {
        /// The format.
        format: String,
    },
    /// The object has properties that the schema does not allow.
    UnknownProperty {
        /// The names of the properties.
        names: Vec<String>,
    },
    /// Two items of the array are equal.
    NotUnique,
    /// The value fits no alternative of an `anyOf` or `oneOf`.
    NoAlternativeFits,
    /// The value fits several alternatives of a `oneOf`.
    SeveralAlternativesFit,
    /// Two different changes with the same penalty make the value fit.
    Ambiguous {
        /// The result of one change.
        first: Value,
        /// The result of the other change.
        second: Value,
    },
    /// Making the value fit would take too much work, or the result would nest too deep.
    GaveUp,
    /// The value violates another keyword.
    Other {
        /// The keyword: `contains`, `not`.
        keyword: String,
    },
}

word_enum! {
    /// How a number must compare to a limit, in words.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Comparison {
        /// Greater than or equal to the limit.
        AtLeast = "at least",
        /// Greater than the limit.
        MoreThan = "more than",
        /// Less than or equal to the limit.
        AtMost = "at most",
        /// Less than the limit.
        LessThan = "less than",
    }
}

word_enum! {
    /// What the length of a value counts, in words.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum LengthUnit {
        /// The characters of a string.
        Characters = "characters",
        /// The items of an array.
        Items = "items",
        /// The properties of an object.
        Properties = "properties",
    }
}
