//! What can be wrong with a value.

use reknit_protocol::{Path, Value};

use super::Type;

/// One thing that is wrong with a value.
#[derive(Debug, Clone, PartialEq)]
pub struct Problem {
    /// Where in the value.
    pub path: Path,
    /// Which keyword of the schema says so, as a JSON Pointer into the schema: `/properties/city/type`. Empty if none does.
    pub schema_path: String,
    /// What is wrong, for programs.
    pub kind: ProblemKind,
    /// What is wrong, for people: `expected a number, found the string "abc"`.
    pub message: String,
}

impl std::fmt::Display for Problem {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "`{}`: {}", self.path, self.message)
    }
}

/// What is wrong, with the facts of it.
#[derive(Debug, Clone, PartialEq)]
pub enum ProblemKind {
    /// The value is of another type.
    Type {
        /// The types that would do.
        expected: Vec<Type>,
    },
    /// A property is missing.
    Required {
        /// Its name.
        property: String,
    },
    /// The value is none of those allowed.
    Enum {
        /// The values allowed.
        allowed: Vec<Value>,
    },
    /// The value is not the only one allowed.
    Const {
        /// That one.
        expected: Value,
    },
    /// The number is too small or too large.
    Range {
        /// On which side it may lie.
        bound: Bound,
        /// Of which number.
        limit: Value,
    },
    /// The number is not a multiple.
    MultipleOf {
        /// Of which number.
        divisor: Value,
    },
    /// There is too little or too much of something.
    Length {
        /// Of what.
        unit: Unit,
        /// [`Bound::AtLeast`] or [`Bound::AtMost`].
        bound: Bound,
        /// How much.
        limit: u64,
    },
    /// The text does not match.
    Pattern {
        /// The regular expression.
        pattern: String,
    },
    /// There are properties that the schema does not allow.
    UnknownProperty {
        /// Their names.
        names: Vec<String>,
    },
    /// Two items are equal.
    NotUnique,
    /// The value fits none of the alternatives of an `anyOf` or `oneOf`.
    NoBranch,
    /// The value fits several alternatives of a `oneOf`.
    ManyBranches,
    /// The value could be made to fit in two ways that are equally likely.
    Ambiguous {
        /// One result.
        first: Value,
        /// The other.
        second: Value,
    },
    /// Making the value fit would take more work, or make it nest deeper, than is allowed.
    GaveUp,
    /// Anything else.
    Other {
        /// The keyword of the schema that is not met: `contains`, `not`.
        keyword: String,
    },
}

/// The side of a limit that is allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bound {
    /// The limit or more.
    AtLeast,
    /// More than the limit.
    MoreThan,
    /// The limit or less.
    AtMost,
    /// Less than the limit.
    LessThan,
}

impl Bound {
    /// The words for it: "at least".
    pub const fn words(self) -> &'static str {
        match self {
            Self::AtLeast => "at least",
            Self::MoreThan => "more than",
            Self::AtMost => "at most",
            Self::LessThan => "less than",
        }
    }
}

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// The characters of a string.
    Characters,
    /// The items of an array.
    Items,
    /// The properties of an object.
    Properties,
}

impl Unit {
    /// The word for it: "items".
    pub const fn word(self) -> &'static str {
        match self {
            Self::Characters => "characters",
            Self::Items => "items",
            Self::Properties => "properties",
        }
    }
}
