//! Converts values to operands of operators and functions.

use std::borrow::Cow;

use reknit_protocol::{Decimal, DecimalError, Exactness, Number, Value};

use super::failure::ValueResult;
use super::{EvalFailure, EvalResult, Evaluator};
use crate::EvaluationError;
use crate::expression::{Function, Node};

/// The most string-to-number conversions that are reported one by one.
const MAX_LISTED: usize = 50;

/// The work of one decimal operation.
const DECIMAL_WORK: usize = 8;

impl From<DecimalError> for EvalFailure {
    fn from(error: DecimalError) -> Self {
        Self::Error(match error {
            DecimalError::DivisionByZero => EvaluationError::DivisionByZero,
            DecimalError::OutOfRange => EvaluationError::OutOfRange,
        })
    }
}

impl<'a> Evaluator<'a, '_> {
    /// The number in a value: a number, or a string that is strictly one, which is recorded as coerced.
    pub(super) fn number(&mut self, value: &Value, operation: &dyn std::fmt::Display) -> EvalResult<Number> {
        let number = match value {
            Value::Number(number) => Some(number.clone()),
            Value::String(text) => {
                self.budget.spend(text.len())?;
                Number::parse(text).ok().inspect(|_| self.record_coercion(text))
            }
            Value::Null => return Err(EvalFailure::null_at(&format!("an operand of {operation}"))),
            Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
        };
        number.ok_or_else(|| EvalFailure::wrong_type(operation, "a number", value))
    }

    fn record_coercion(&mut self, text: &str) {
        if self.coerced.iter().any(|coerced| coerced == text) {
            return;
        }
        if self.coerced.len() < MAX_LISTED {
            self.coerced.push(text.to_owned());
        } else {
            self.coerced_unlisted += 1;
        }
    }

    pub(super) fn decimal(&mut self, value: &Value, operation: &dyn std::fmt::Display) -> EvalResult<Decimal> {
        self.budget.spend(DECIMAL_WORK)?;
        let number = self.number(value, operation)?;
        Ok(self.track_rounding(Decimal::from_number(&number)?))
    }

    /// The value of a node. Fails if it is null.
    pub(super) fn non_null(&mut self, node: &'a Node) -> ValueResult<'a> {
        let value = self.value(node)?;
        if value.is_null() { Err(EvalFailure::null_at(node)) } else { Ok(value) }
    }

    pub(super) fn boolean(&mut self, node: &'a Node, operation: &dyn std::fmt::Display) -> EvalResult<bool> {
        match self.non_null(node)?.as_ref() {
            Value::Bool(value) => Ok(*value),
            other => Err(EvalFailure::wrong_type(operation, "a boolean", other)),
        }
    }

    /// The value without a borrow; a copy is charged.
    pub(super) fn own(&mut self, value: Cow<'a, Value>) -> EvalResult<Value> {
        match value {
            Cow::Owned(value) => Ok(value),
            Cow::Borrowed(value) => self.budget.clone_charged(value),
        }
    }

    pub(super) fn track_rounding(&mut self, (decimal, exact): (Decimal, Exactness)) -> Decimal {
        self.exact = self.exact.and(exact);
        decimal
    }

    pub(super) fn string(&mut self, node: &'a Node, function: Function) -> EvalResult<Cow<'a, str>> {
        match self.non_null(node)? {
            Cow::Borrowed(Value::String(text)) => Ok(Cow::Borrowed(text)),
            Cow::Owned(Value::String(text)) => Ok(Cow::Owned(text)),
            other => Err(EvalFailure::wrong_type(&function, "a string", &other)),
        }
    }

    pub(super) fn list(&mut self, node: &'a Node, function: Function) -> EvalResult<Vec<Cow<'a, Value>>> {
        let items =
            items(self.non_null(node)?).map_err(|other| EvalFailure::wrong_type(&function, "an array", &other))?;
        self.budget.spend(items.len())?;
        Ok(items)
    }

    /// The items of an array that is the only argument, or else the values of the arguments.
    pub(super) fn argument_values(&mut self, arguments: &'a [Node]) -> EvalResult<Vec<Cow<'a, Value>>> {
        let [only] = arguments else { return arguments.iter().map(|argument| self.non_null(argument)).collect() };
        let items = items(self.non_null(only)?).unwrap_or_else(|single| vec![single]);
        self.budget.spend(items.len())?;
        Ok(items)
    }
}

/// The items of an array. Fails with a value that is not an array.
fn items(value: Cow<'_, Value>) -> Result<Vec<Cow<'_, Value>>, Cow<'_, Value>> {
    match value {
        Cow::Borrowed(Value::Array(items)) => Ok(items.iter().map(Cow::Borrowed).collect()),
        Cow::Owned(Value::Array(items)) => Ok(items.into_iter().map(Cow::Owned).collect()),
        other => Err(other),
    }
}

pub(super) fn owned<'a>(value: impl Into<Value>) -> Cow<'a, Value> {
    Cow::Owned(value.into())
}

pub(super) fn from_decimal<'a>(decimal: Decimal) -> ValueResult<'a> {
    Ok(owned(decimal.to_number()?))
}
