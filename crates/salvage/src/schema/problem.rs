//! The ways in which a value can fail to fit a schema.

use reknit_protocol::{Path, Value, word_enum};

use super::{SchemaType, message};

/// One reason why a value does not fit a schema.
#[derive(Debug, Clone, PartialEq)]
pub struct FitProblem {
    pub path: Path,
    /// The keyword that the value violates, as a JSON Pointer into the schema: `/properties/city/type`. Empty if there is
    /// none.
    pub schema_path: String,
    /// What is wrong, for programs.
    pub kind: FitProblemKind,
    /// What is wrong, for people: `expected a number, found the string "abc"`.
    pub message: String,
}

impl FitProblem {
    /// A problem of the value `found` that no keyword states.
    pub(crate) fn new(path: Path, kind: FitProblemKind, found: &Value) -> Self {
        let message = message(&kind, found);
        Self { path, schema_path: String::new(), kind, message }
    }
}

impl std::fmt::Display for FitProblem {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "`{}`: {}", self.path, self.message)
    }
}

/// What is wrong with a value, with the details.
#[derive(Debug, Clone, PartialEq)]
pub enum FitProblemKind {
    Type {
        expected: Vec<SchemaType>,
    },
    Required {
        property: String,
    },
    Enum {
        allowed: Vec<Value>,
    },
    Const {
        expected: Value,
    },
    Range {
        /// How the number must compare to the limit.
        comparison: Comparison,
        limit: Value,
    },
    MultipleOf {
        divisor: Value,
    },
    /// A string, array or object is too short or too long.
    Length {
        unit: LengthUnit,
        comparison: Comparison,
        limit: u64,
    },
    Pattern {
        pattern: String,
    },
    Format {
        format: String,
    },
    UnknownProperty {
        names: Vec<String>,
    },
    NotUnique,
    NoAlternativeFits,
    SeveralAlternativesFit,
    /// Two different changes with the same penalty make the value fit.
    Ambiguous {
        first: Value,
        second: Value,
    },
    /// Making the value fit would take too much work, or the result would nest too deep.
    GaveUp,
    Other {
        /// The keyword: `contains`, `not`.
        keyword: String,
    },
}

word_enum! {
    /// How a number must compare to a limit, in words.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Comparison {
        AtLeast = "at least",
        MoreThan = "more than",
        AtMost = "at most",
        LessThan = "less than",
    }
}

word_enum! {
    /// What the length of a value counts, in words.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum LengthUnit {
        Characters = "characters",
        Items = "items",
        Properties = "properties",
    }
}
