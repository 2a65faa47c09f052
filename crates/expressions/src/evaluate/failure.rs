//! Why a lookup or an evaluation failed, and the limit on its work.

use std::borrow::Cow;
use std::fmt::Display;

use reknit_protocol::{Value, shorten};

use crate::expression::Function;
use crate::{EvaluationError, Expression, UnboundReason};

const MAX_QUOTED: usize = 40;

/// Why a lookup or an evaluation failed.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum EvalFailure {
    /// A value is missing or null. `??` replaces it.
    Absent(UnboundReason),
    /// A step has no result, or a reference is ambiguous. `??` does not replace it.
    Unavailable(UnboundReason),
    Error(EvaluationError),
}

pub(crate) type EvalResult<T> = Result<T, EvalFailure>;
pub(super) type ValueResult<'a> = EvalResult<Cow<'a, Value>>;

impl EvalFailure {
    pub(super) fn null_at(place: &dyn Display) -> Self {
        Self::Absent(UnboundReason::Null { expression: place.to_string() })
    }

    pub(super) fn wrong_type(operation: &dyn Display, expected: &str, found: &Value) -> Self {
        let (operation, found) = (operation.to_string(), describe(found));
        Self::Error(EvaluationError::WrongType { operation, expected: expected.to_owned(), found })
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

/// Describes a value in a message: `the string "abc"`, `an object`.
pub(super) fn describe(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Number(number) => shorten(&number.to_string(), MAX_QUOTED).into_owned(),
        Value::String(text) => format!("the string {}", Value::from(shorten(text, MAX_QUOTED).as_ref())),
        Value::Array(_) | Value::Object(_) => value.kind().with_article().to_owned(),
    }
}

/// The budget in units of work: nodes evaluated, items visited, bytes of text created. It is more than a real expression
/// needs, and takes well under a second.
const LIMIT: usize = 4_000_000;

/// The work that the expressions of a step may still do.
#[derive(Debug)]
pub(crate) struct WorkBudget {
    left: usize,
}

impl WorkBudget {
    pub(crate) fn new() -> Self {
        Self { left: LIMIT }
    }

    /// Charges units of work. Fails if the budget is exhausted.
    pub(crate) fn spend(&mut self, units: usize) -> EvalResult<()> {
        self.left = self.left.checked_sub(units).ok_or(EvalFailure::Error(EvaluationError::TooMuchWork))?;
        Ok(())
    }

    /// Charges for the size of a value and clones it.
    pub(crate) fn clone_charged(&mut self, value: &Value) -> EvalResult<Value> {
        self.charge(value)?;
        Ok(value.clone())
    }

    pub(super) fn charge(&mut self, value: &Value) -> EvalResult<()> {
        self.spend(1)?;
        match value {
            Value::Null | Value::Bool(_) | Value::Number(_) => Ok(()),
            Value::String(text) => self.spend(text.len()),
            Value::Array(items) => items.iter().try_for_each(|item| self.charge(item)),
            Value::Object(object) => object.iter().try_for_each(|(key, value)| {
                self.spend(1 + key.len())?;
                self.charge(value)
            }),
        }
    }
}
