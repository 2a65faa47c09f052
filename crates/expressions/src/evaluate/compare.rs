//! Comparison, `and`, `or`, and what is contained in what.

use std::cmp::Ordering;

use reknit_protocol::{Number, Value};

use super::failure::{ValueResult, describe};
use super::operand::owned;
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

pub(super) fn is_number(text: &str) -> bool {
    Number::parse(text).is_ok()
}

pub(super) fn incomparable(left: &Value, right: &Value) -> EvalFailure {
    EvalFailure::Error(EvaluationError::Incomparable { left: describe(left), right: describe(right) })
}

impl<'a> Evaluator<'a, '_> {
    /// A chain of `or` or of `and`. The operands after the one that decides are not evaluated.
    pub(super) fn logic(&mut self, first: &'a Node, rest: &'a [(Operator, Node)], is_or: bool) -> ValueResult<'a> {
        let operation = if is_or { Operator::Or } else { Operator::And };
        let operands = std::iter::once(first).chain(rest.iter().map(|(_, node)| node));
        for operand in operands {
            if self.boolean(operand, &operation)? == is_or {
                return Ok(owned(is_or));
            }
        }
        Ok(owned(!is_or))
    }

    pub(super) fn contains(&mut self, whole_node: &'a Node, part: &'a Node) -> ValueResult<'a> {
        let whole = self.value(whole_node)?;
        let part = self.value(part)?;
        Ok(owned(self.is_in(&part, &whole, whole_node)?))
    }

    /// Whether a part is an item of an array, a piece of a string or a key of an object.
    pub(super) fn is_in(&mut self, part: &Value, whole: &Value, whole_node: &Node) -> EvalResult<bool> {
        match whole {
            Value::Array(items) => {
                for item in items {
                    if self.is_equal_item(part, item)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            Value::String(text) => {
                let part = part.as_str().ok_or_else(|| EvalFailure::wrong_type(&Operator::In, "a string", part))?;
                self.budget.spend(text.len() + part.len())?;
                Ok(text.contains(part))
            }
            Value::Object(object) => {
                let key = part.as_str().ok_or_else(|| EvalFailure::wrong_type(&Operator::In, "a key", part))?;
                self.budget.spend(key.len())?;
                Ok(object.contains_key(key))
            }
            Value::Null => Err(EvalFailure::null_at(whole_node)),
            Value::Bool(_) | Value::Number(_) => {
                Err(EvalFailure::wrong_type(&Operator::In, "an array, a string or an object", whole))
            }
        }
    }

    /// Equality as of `==`, except that values which cannot be compared differ.
    fn is_equal_item(&mut self, part: &Value, item: &Value) -> EvalResult<bool> {
        self.budget.charge(part)?;
        match (part, item) {
            (Value::Number(_), Value::String(text)) | (Value::String(text), Value::Number(_)) if is_number(text) => {
                Ok(self.order(part, item)?.is_eq())
            }
            _ => Ok(part == item),
        }
    }
}
