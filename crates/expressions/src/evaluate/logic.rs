//! `and`, `or`, and what is contained in what.

use reknit_protocol::Value;

use super::compare::is_number;
use super::failure::ValueResult;
use super::operand::owned;
use super::{EvalFailure, EvalResult, Evaluator};
use crate::expression::{Function, Node, Operator};

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

    pub(super) fn call_contains(&mut self, arguments: &'a [Node]) -> ValueResult<'a> {
        let [whole_node, part] = arguments else { return Err(EvalFailure::argument_count(Function::Contains)) };
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
