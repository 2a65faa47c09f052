//! Why a lookup or an evaluation failed.

use std::borrow::Cow;
use std::fmt::Display;

use reknit_protocol::Value;

use super::operand::describe;
use crate::expression::Function;
use crate::{EvaluationError, Expression, UnboundReason};

/// Why a lookup or an evaluation failed.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum EvalFailure {
    /// A value is missing or null. `??` replaces it.
    Absent(UnboundReason),
    /// A step has no result, or a reference is ambiguous. `??` does not replace it.
    Unavailable(UnboundReason),
    /// An operation does not accept its operands.
    Error(EvaluationError),
}

pub(crate) type EvalResult<T> = Result<T, EvalFailure>;
pub(super) type ValueResult<'a> = EvalResult<Cow<'a, Value>>;

impl EvalFailure {
    /// The value at a place is null.
    pub(super) fn null_at(place: &dyn Display) -> Self {
        Self::Absent(UnboundReason::Null { expression: place.to_string() })
    }

    pub(super) fn wrong_type(operation: &dyn Display, expected: &str, found: &Value) -> Self {
        let (operation, found) = (operation.to_string(), describe(found));
        Self::Error(EvaluationError::WrongType { operation, expected: expected.to_owned(), found })
    }

    /// Unreachable for parsed expressions: the parser checks the number of arguments.
    pub(super) fn argument_count(function: Function) -> Self {
        bad_argument(function, "the number of arguments is wrong")
    }

    /// Whether `??` replaces the failed operand.
    pub(super) fn is_absence(&self) -> bool {
        match self {
            Self::Absent(_) | Self::Error(EvaluationError::EmptyList { .. } | EvaluationError::NoSuchField { .. }) => {
                true
            }
            Self::Unavailable(_) | Self::Error(_) => false,
        }
    }

    pub(crate) fn into_reason(self, expression: &Expression) -> UnboundReason {
        match self {
            Self::Absent(reason) | Self::Unavailable(reason) => reason,
            Self::Error(error) => UnboundReason::Evaluation { expression: expression.to_string(), error },
        }
    }
}

pub(super) fn bad_argument(function: Function, problem: &str) -> EvalFailure {
    EvalFailure::Error(EvaluationError::BadArgument { operation: function.to_string(), problem: problem.to_owned() })
}
