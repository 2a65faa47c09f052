//! Why a calculation has no result.

use serde::{Deserialize, Serialize};

/// Why a calculation has no result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fault {
    /// A value of another kind.
    #[error("`{operation}` needs {expected}, found {found}")]
    Kind {
        /// The operator or function.
        operation: String,
        /// What it needs: "a number".
        expected: String,
        /// What it got: `the string "abc"`.
        found: String,
    },
    /// Two values that have no order, or cannot be equal.
    #[error("cannot compare {left} with {right}")]
    Incomparable {
        /// One value.
        left: String,
        /// The other.
        right: String,
    },
    /// Division by zero.
    #[error("division by zero")]
    DivisionByZero,
    /// The result has more than 6144 digits before or behind the point.
    #[error("the number is too large or too small")]
    OutOfRange,
    /// The list is empty.
    #[error("`{operation}` needs at least one item")]
    EmptyList {
        /// The function.
        operation: String,
    },
    /// An item of a list has no such field.
    #[error("item {index} has no field `{field}`")]
    NoSuchField {
        /// The position of the item, from 0.
        index: usize,
        /// The field.
        field: String,
    },
    /// An argument that makes no sense.
    #[error("`{operation}`: {problem}")]
    BadArgument {
        /// The function.
        operation: String,
        /// What is wrong with it.
        problem: String,
    },
    /// It takes more work than is allowed.
    #[error("the calculation takes too much work")]
    TooMuchWork,
}
