//! Functions on strings, and conversions between strings and numbers.

use reknit_protocol::{Number, Value};

use super::failure::{ValueResult, bad_argument};
use super::operand::owned;
use super::{EvalFailure, Evaluator};
use crate::expression::{Function, Node};

impl<'a> Evaluator<'a, '_> {
    pub(super) fn map_string(
        &mut self,
        node: &'a Node,
        function: Function,
        map: fn(&str) -> String,
    ) -> ValueResult<'a> {
        let text = self.string(node, function)?;
        self.budget.spend(text.len())?;
        Ok(owned(map(&text)))
    }

    pub(super) fn affix(&mut self, function: Function, text: &'a Node, part: &'a Node) -> ValueResult<'a> {
        let text = self.string(text, function)?;
        let part = self.string(part, function)?;
        self.budget.spend(part.len())?;
        let found = match function {
            Function::StartsWith => text.starts_with(part.as_ref()),
            _ => text.ends_with(part.as_ref()),
        };
        Ok(owned(found))
    }

    pub(super) fn split(&mut self, text: &'a Node, separator: &'a Node) -> ValueResult<'a> {
        let text = self.string(text, Function::Split)?;
        let separator = self.string(separator, Function::Split)?;
        if separator.is_empty() {
            return Err(bad_argument(Function::Split, "the separator must not be empty"));
        }
        self.budget.spend(2 * text.len())?;
        Ok(owned(text.split(separator.as_ref()).map(Value::from).collect::<Vec<_>>()))
    }

    pub(super) fn replace(&mut self, text: &'a Node, pattern: &'a Node, replacement: &'a Node) -> ValueResult<'a> {
        let text = self.string(text, Function::Replace)?;
        let pattern = self.string(pattern, Function::Replace)?;
        let replacement = self.string(replacement, Function::Replace)?;
        if pattern.is_empty() {
            return Err(bad_argument(Function::Replace, "the pattern must not be empty"));
        }
        // The budget is charged first, because the result can be many times longer than the input.
        let times = text.matches(pattern.as_ref()).count();
        self.budget.spend(text.len().saturating_add(times.saturating_mul(replacement.len())))?;
        Ok(owned(text.replace(pattern.as_ref(), &replacement)))
    }

    pub(super) fn convert_to_number(&mut self, node: &'a Node) -> ValueResult<'a> {
        let value = self.non_null(node)?;
        match value.as_ref() {
            Value::Number(_) => Ok(value),
            Value::String(text) => Number::parse(text.trim())
                .map(owned)
                .map_err(|_| EvalFailure::wrong_type(&Function::ToNumber, "a string that is a number", &value)),
            other => Err(EvalFailure::wrong_type(&Function::ToNumber, "a string or a number", other)),
        }
    }

    pub(super) fn convert_to_string(&mut self, node: &'a Node) -> ValueResult<'a> {
        let value = self.non_null(node)?;
        if matches!(*value, Value::String(_)) {
            return Ok(value);
        }
        let copy = self.budget.clone_charged(&value)?;
        Ok(owned(copy.to_string()))
    }
}
