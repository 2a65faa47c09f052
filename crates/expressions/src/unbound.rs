//! Parameters without a value, and the reasons, among them errors in the evaluation of an expression.

use std::fmt;

use reknit_protocol::StepId;
use serde::{Deserialize, Serialize};

/// A parameter without a value, and the reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnboundParameter {
    /// The name of the top-level parameter.
    pub parameter: String,
    pub reason: UnboundReason,
}

impl fmt::Display for UnboundParameter {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "`{}`: {}", self.parameter, self.reason)
    }
}

/// Why a parameter or an expression has no value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UnboundReason {
    #[error("there is no step `{step}`")]
    UnknownStep { step: StepId },
    #[error("step `{step}` has not finished")]
    StepPending { step: StepId },
    #[error("step `{step}` failed and has no result")]
    StepFailed { step: StepId },
    #[error("step `{step}` was skipped and has no result")]
    StepSkipped { step: StepId },
    /// The result has no value at the path.
    #[error("`{reference}` does not exist: {available}")]
    NoSuchField {
        reference: String,
        /// The children of the last value on the path that exists.
        available: AvailableChildren,
    },
    /// Several places match, and their values differ.
    #[error("more than one value matches: {}", quoted_list(.candidates))]
    Ambiguous {
        /// The places, each with its step.
        candidates: Vec<String>,
    },
    /// The value is null where null is not allowed.
    #[error("`{expression}` is null")]
    Null {
        #[serde(rename = "what")]
        expression: String,
    },
    /// The value is an array or an object and cannot be inserted into a string.
    #[error("`{expression}` is {kind}, which cannot be inserted into a string")]
    NotText {
        #[serde(rename = "what")]
        expression: String,
        /// "an array" or "an object".
        kind: String,
    },
    #[error("cannot evaluate `{expression}`: {error}")]
    #[serde(rename = "fault")]
    Evaluation {
        expression: String,
        #[serde(rename = "fault")]
        error: EvaluationError,
    },
    /// The plan omits a required parameter, and no result that may be used has a field of that name.
    #[error("not set in the plan, and no earlier result has a field of this name")]
    NotGiven,
    /// The plan has a value that stands for one that nobody has, such as 0 or "unknown".
    #[error("{value} looks like a placeholder, and the request does not state it")]
    Placeholder { value: String },
    /// The plan omits a required parameter whose name many objects have.
    #[error("not set in the plan, and its name alone does not tell which value is meant: {}", quoted_list(.candidates))]
    GenericName {
        /// The places of the values of that name, each with its step.
        candidates: Vec<String>,
    },
    /// The plan omits a required parameter that belongs to another one, and their values are parts of different objects.
    #[error(
        "not set in the plan; `{candidate}` has this name, but `{other}`, which belongs to it, is not from the same place"
    )]
    Split { candidate: String, other: String },
    /// The plan omits a required parameter, and the values of that name in the results do not fit the schema.
    #[error("not set in the plan, and the values in earlier results do not fit the schema: {}", quoted_list(.candidates))]
    NoFit {
        /// The places of the values, each with its step.
        candidates: Vec<String>,
    },
}

/// The children of the last value that exists on the path of a failed lookup.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AvailableChildren {
    /// The value is an object with these fields. A long list is truncated.
    Fields(Vec<String>),
    /// The value is an array with this many items.
    Items(usize),
    /// The value has no children: "a number".
    Scalar(String),
}

impl fmt::Display for AvailableChildren {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fields(names) if names.is_empty() => out.write_str("the object is empty"),
            Self::Fields(names) => write!(out, "available fields are {}", quoted_list(names)),
            Self::Items(0) => out.write_str("the array is empty"),
            Self::Items(1) => out.write_str("the array has 1 item"),
            Self::Items(count) => write!(out, "the array has {count} items"),
            Self::Scalar(kind) => write!(out, "{kind} has no fields"),
        }
    }
}

/// Messages separated by semicolons.
pub(crate) fn joined(messages: &[impl ToString]) -> String {
    messages.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

/// Names in backticks, separated by commas.
pub(crate) fn quoted_list(names: &[impl fmt::Display]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// Why an expression whose operands all exist cannot be evaluated.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EvaluationError {
    #[error("`{operation}` expects {expected}, found {found}")]
    #[serde(rename = "kind")]
    WrongType {
        operation: String,
        /// The expected type: "a number".
        expected: String,
        /// The operand: `the string "abc"`.
        found: String,
    },
    #[error("cannot compare {left} with {right}")]
    Incomparable { left: String, right: String },
    #[error("division by zero")]
    DivisionByZero,
    /// The result has more than 6144 digits before or after the decimal point.
    #[error("the number is too large or too small")]
    OutOfRange,
    #[error("`{operation}` expects at least one item, found none")]
    EmptyList { operation: String },
    /// An item of an array lacks a field.
    #[error("item {index} has no field `{field}`")]
    NoSuchField {
        /// The index of the item, from 0.
        index: usize,
        field: String,
    },
    /// An argument is out of range or malformed.
    #[error("`{operation}`: {problem}")]
    BadArgument { operation: String, problem: String },
    /// The evaluation exceeds its work budget.
    #[error("the evaluation exceeds its work limit")]
    TooMuchWork,
}
