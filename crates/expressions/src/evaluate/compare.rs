//! Comparison.

use std::cmp::Ordering;

use reknit_protocol::{Number, Value};

use super::failure::ValueResult;
use super::operand::{describe, owned};
use super::{EvalFailure, EvalResult, Evaluator};
use crate::EvaluationError;
use crate::expression::{Node, Operator};

impl<'a> Evaluator<'a, '_> {
    pub(super) fn compare(&mut self, first: &'a Node, rest: &'a [(Operator, Node)]) -> ValueResult<'a> {
        let left = self.value(first)?;
        let Some((operator, node)) = rest.first() else { return Ok(left) };
        let right = self.value(node)?;
        if matches!(operator, Operator::In | Operator::NotIn) {
            let is_member = self.is_in(&left, &right, node)?;
            return Ok(owned(is_member == (*operator == Operator::In)));
        }
        if matches!(operator, Operator::Equal | Operator::Unequal) {
            let equal = self.are_equal(&left, &right)?;
            return Ok(owned(equal == (*operator == Operator::Equal)));
        }
        if let Some(null) = [(&left, first), (&right, node)].iter().find(|(value, _)| value.is_null()) {
            return Err(EvalFailure::null_at(null.1));
        }
        let order = self.order(&left, &right)?;
        Ok(owned(match operator {
            Operator::Less => order.is_lt(),
            Operator::LessOrEqual => order.is_le(),
            Operator::Greater => order.is_gt(),
            _ => order.is_ge(),
        }))
    }

    /// Null equals only null. Comparing other values of different types is an error.
    fn are_equal(&mut self, left: &Value, right: &Value) -> EvalResult<bool> {
        self.budget.charge(left)?;
        if left.is_null() || right.is_null() || left.kind() == right.kind() {
            return Ok(left == right);
        }
        Ok(self.order(left, right)?.is_eq())
    }

    /// Compares numbers by value and strings by character. A string that is strictly a number is compared by value with
    /// a number or another such string: many services write prices as strings, and "9.50" is less than "10.10".
    pub(super) fn order(&mut self, left: &Value, right: &Value) -> EvalResult<Ordering> {
        self.budget.charge(left)?;
        self.budget.charge(right)?;
        match (left, right) {
            (Value::Number(left), Value::Number(right)) => Ok(left.cmp(right)),
            (Value::String(left), Value::String(right)) if !(is_number(left) && is_number(right)) => {
                Ok(left.cmp(right))
            }
            (Value::String(_), Value::String(_) | Value::Number(_)) | (Value::Number(_), Value::String(_)) => {
                let incomparable = |_| incomparable(left, right);
                let left = self.number(left, &"comparison").map_err(incomparable)?;
                Ok(left.cmp(&self.number(right, &"comparison").map_err(incomparable)?))
            }
            _ => Err(incomparable(left, right)),
        }
    }
}

/// Compares values of one type, either numbers or strings. This is a total order.
pub(super) fn order_of_type(left: &Value, right: &Value) -> Ordering {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => left.cmp(right),
        (Value::String(left), Value::String(right)) => left.cmp(right),
        _ => Ordering::Equal,
    }
}

/// Whether a string is strictly a JSON number.
pub(super) fn is_number(text: &str) -> bool {
    Number::parse(text).is_ok()
}

pub(super) fn incomparable(left: &Value, right: &Value) -> EvalFailure {
    EvalFailure::Error(EvaluationError::Incomparable { left: describe(left), right: describe(right) })
}
