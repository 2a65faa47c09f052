//! Comparison.

use std::borrow::Cow;
use std::cmp::Ordering;

use reknit_protocol::{Number, Value};

use super::operand::{describe, owned};
use super::{Evaluator, Halt, Outcome};
use crate::Fault;
use crate::expression::{Node, Operator};

impl<'a> Evaluator<'a, '_> {
    pub(super) fn compare(&mut self, first: &'a Node, rest: &'a [(Operator, Node)]) -> Outcome<Cow<'a, Value>> {
        let left = self.value(first)?;
        let Some((operator, node)) = rest.first() else { return Ok(left) };
        let right = self.value(node)?;
        if matches!(operator, Operator::Equal | Operator::Unequal) {
            let equal = self.are_equal(&left, &right)?;
            return Ok(owned(equal == (*operator == Operator::Equal)));
        }
        if let Some(null) = [(&left, first), (&right, node)].iter().find(|(value, _)| value.is_null()) {
            return Err(Halt::null(null.1));
        }
        let order = self.order(&left, &right)?;
        Ok(owned(match operator {
            Operator::Less => order.is_lt(),
            Operator::AtMost => order.is_le(),
            Operator::Greater => order.is_gt(),
            _ => order.is_ge(),
        }))
    }

    /// Null equals only null. Other values of different kinds are not unequal, they are a mistake.
    fn are_equal(&mut self, left: &Value, right: &Value) -> Outcome<bool> {
        if left.is_null() || right.is_null() || left.kind() == right.kind() {
            return Ok(left == right);
        }
        Ok(self.order(left, right)?.is_eq())
    }

    /// Numbers by value, a text that is strictly a number beside a number or another such text as that number, and other
    /// texts by their letters. "9.50" is less than "10.10": many services write prices as texts.
    pub(super) fn order(&mut self, left: &Value, right: &Value) -> Outcome<Ordering> {
        self.work.spend(1)?;
        match (left, right) {
            (Value::Number(left), Value::Number(right)) => Ok(left.cmp(right)),
            (Value::String(left), Value::String(right)) if !(is_number(left) && is_number(right)) => {
                Ok(left.cmp(right))
            }
            (Value::String(_), Value::String(_) | Value::Number(_)) | (Value::Number(_), Value::String(_)) => {
                let incomparable = |_| Halt::Fault(incomparable(left, right));
                let left = self.number(left, &"comparison").map_err(incomparable)?;
                Ok(left.cmp(&self.number(right, &"comparison").map_err(incomparable)?))
            }
            _ => Err(Halt::Fault(incomparable(left, right))),
        }
    }
}

/// Numbers by value and texts by their letters: all values are of one kind, so that the order is one of all of them.
pub(super) fn order_of_kind(left: &Value, right: &Value) -> Ordering {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => left.cmp(right),
        (Value::String(left), Value::String(right)) => left.cmp(right),
        _ => Ordering::Equal,
    }
}

/// Whether a text is strictly a number.
pub(super) fn is_number(text: &str) -> bool {
    Number::parse(text).is_ok()
}

fn incomparable(left: &Value, right: &Value) -> Fault {
    Fault::Incomparable { left: describe(left), right: describe(right) }
}
