//! Functions on arrays.

use std::borrow::Cow;
use std::collections::HashSet;

use reknit_protocol::Value;

use super::compare::{incomparable, is_number, order_of_type};
use super::failure::{ValueResult, bad_argument};
use super::operand::owned;
use super::{EvalFailure, EvalResult, Evaluator};
use crate::EvaluationError;
use crate::expression::{Function, Node};

impl<'a> Evaluator<'a, '_> {
    pub(super) fn length(&mut self, node: &'a Node) -> ValueResult<'a> {
        let value = self.non_null(node)?;
        match value.as_ref() {
            Value::Array(items) => Ok(owned(items.len())),
            Value::Object(object) => Ok(owned(object.len())),
            Value::String(text) => {
                self.budget.spend(text.len())?;
                Ok(owned(text.chars().count()))
            }
            other => Err(EvalFailure::wrong_type(&Function::Len, "an array, a string or an object", other)),
        }
    }

    pub(super) fn join(&mut self, list: &'a Node, separator: &'a Node) -> ValueResult<'a> {
        let items = self.list(list, Function::Join)?;
        let separator = self.string(separator, Function::Join)?;
        let mut joined = String::new();
        for (index, item) in items.iter().enumerate() {
            let text = match item.as_ref() {
                Value::String(text) => Cow::Borrowed(text.as_str()),
                Value::Number(_) | Value::Bool(_) => Cow::Owned(item.to_string()),
                Value::Null => return Err(EvalFailure::null_at(&format!("{list}[{index}]"))),
                other => return Err(EvalFailure::wrong_type(&Function::Join, "strings, numbers or booleans", other)),
            };
            self.budget.spend(separator.len() + text.len())?;
            if index > 0 {
                joined.push_str(&separator);
            }
            joined.push_str(&text);
        }
        Ok(owned(joined))
    }

    pub(super) fn unique(&mut self, list: &'a Node) -> ValueResult<'a> {
        let mut seen = HashSet::new();
        let mut kept = Vec::new();
        for item in self.list(list, Function::Unique)? {
            // Copying charges the budget before hashing visits the whole item.
            let copy = self.budget.clone_charged(&item)?;
            if seen.insert(item) {
                kept.push(copy);
            }
        }
        Ok(owned(kept))
    }

    pub(super) fn pluck(&mut self, list: &'a Node, field: &'a Node) -> ValueResult<'a> {
        let items = self.list(list, Function::Pluck)?;
        let field = self.string(field, Function::Pluck)?;
        let mut plucked = Vec::with_capacity(items.len());
        for (index, item) in items.iter().enumerate() {
            let value = field_of(item, &field, index, Function::Pluck)?;
            plucked.push(self.budget.clone_charged(value)?);
        }
        Ok(owned(plucked))
    }

    pub(super) fn sort(&mut self, list: &'a Node, rest: &'a [Node]) -> ValueResult<'a> {
        let items = self.list(list, Function::SortBy)?;
        let mut rest = rest.iter();
        let field = rest.next().map(|field| self.string(field, Function::SortBy)).transpose()?;
        let direction = rest.next().map(|word| self.string(word, Function::SortBy)).transpose()?;
        let descending = match direction.as_deref() {
            None | Some("asc") => false,
            Some("desc") => true,
            Some(_) => return Err(bad_argument(Function::SortBy, "the direction must be \"asc\" or \"desc\"")),
        };
        let mut keyed = Vec::with_capacity(items.len());
        for (index, item) in items.iter().enumerate() {
            let key = match &field {
                Some(field) => field_of(item, field, index, Function::SortBy)?,
                None => item.as_ref(),
            };
            if key.is_null() {
                let key = field.as_ref().map(|field| format!(".{field}")).unwrap_or_default();
                return Err(EvalFailure::null_at(&format!("{list}[{index}]{key}")));
            }
            keyed.push((self.budget.clone_charged(key)?, self.budget.clone_charged(item)?));
        }
        self.check_comparable(&keyed)?;
        if keyed.iter().all(|(key, _)| key.as_str().is_some_and(is_number)) {
            for (key, _) in &mut keyed {
                *key = Value::Number(self.number(key, &Function::SortBy)?);
            }
        }
        keyed.sort_by(|(left, _), (right, _)| {
            let order = order_of_type(left, right);
            if descending { order.reverse() } else { order }
        });
        Ok(owned(keyed.into_iter().map(|(_, item)| item).collect::<Vec<_>>()))
    }

    /// Checks before sorting that all keys can be compared, because the comparison of a sort cannot fail.
    fn check_comparable(&mut self, keyed: &[(Value, Value)]) -> EvalResult<()> {
        let Some((first, _)) = keyed.first() else { return Ok(()) };
        for (key, _) in keyed {
            self.budget.spend(1)?;
            if first.kind() != key.kind() || !matches!(key, Value::Number(_) | Value::String(_)) {
                return Err(incomparable(first, key));
            }
        }
        Ok(())
    }
}

fn field_of<'v>(item: &'v Value, field: &str, index: usize, function: Function) -> EvalResult<&'v Value> {
    let object = item.as_object().ok_or_else(|| EvalFailure::wrong_type(&function, "an array of objects", item))?;
    object.get(field).ok_or_else(|| EvalFailure::Error(EvaluationError::NoSuchField { index, field: field.to_owned() }))
}

pub(super) fn empty_list_error(function: Function) -> EvalFailure {
    EvalFailure::Error(EvaluationError::EmptyList { operation: function.to_string() })
}
