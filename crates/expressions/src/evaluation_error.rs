//! Errors in the evaluation of an expression.

use serde::{Deserialize, Serialize};

/// Why an expression whose operands all exist cannot be evaluated.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EvaluationError {
    /// An operand has the wrong type.
    #[error("`{operation}` expects {expected}, found {found}")]
    #[serde(rename = "kind")]
    WrongType {
        /// The operator or function.
        operation: String,
        /// The expected type: "a number".
        expected: String,
        /// The operand: `the string "abc"`.
        found: String,
    },
    /// The operands of a comparison cannot be compared.
    #[error("cannot compare {left} with {right}")]
    Incomparable {
        /// The left operand.
        left: String,
        /// The right operand.
        right: String,
    },
    /// Division by zero.
    #[error("division by zero")]
    DivisionByZero,
    /// The result has more than 6144 digits before or after the decimal point.
    #[error("the number is too large or too small")]
    OutOfRange,
    /// The array is empty.
    #[error("`{operation}` expects at least one item, found none")]
    EmptyList {
        /// The function.
        operation: String,
    },
    /// An item of an array lacks a field.
    #[error("item {index} has no field `{field}`")]
    NoSuchField {
        /// The index of the item, from 0.
        index: usize,
        /// The field.
        field: String,
    },
    /// An argument is out of range or malformed.
    #[error("`{operation}`: {problem}")]
    BadArgument {
        /// The function.
        operation: String,
        /// The problem.
        problem: String,
    },
    /// The evaluation exceeds its work budget.
    #[error("the evaluation exceeds its work limit")]
    TooMuchWork,
}
