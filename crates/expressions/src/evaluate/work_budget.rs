//! Limits the work of an evaluation.

use reknit_protocol::Value;

use super::{EvalFailure, EvalResult};
use crate::EvaluationError;

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

    /// Charges for the size of a value.
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
