//! Functions that evaluate an expression for each item of an array.

use std::borrow::Cow;
use std::collections::HashMap;

use reknit_protocol::{Decimal, Object, Path, Value};

use super::failure::ValueResult;
use super::operand::{from_decimal, owned};
use super::{EvalFailure, EvalResult, Evaluator, part_of};
use crate::EvaluationError;
use crate::expression::{Function, Node};
use crate::reference::PathSuffix;

/// An item, the name that an expression gives it, and its index.
pub(super) struct ScopedItem<'a> {
    name: &'a str,
    index: usize,
    value: Cow<'a, Value>,
}

impl<'a> Evaluator<'a, '_> {
    pub(super) fn list_of(&mut self, nodes: &'a [Node]) -> ValueResult<'a> {
        let mut values = Vec::with_capacity(nodes.len());
        for node in nodes {
            let value = self.value(node)?;
            values.push(self.own(value)?);
        }
        Ok(owned(values))
    }

    /// The item of this name, or a value inside it.
    pub(super) fn item(&mut self, name: &str, path: &Path) -> ValueResult<'a> {
        self.budget.spend(path.segments().len())?;
        let item = self.items.iter().rev().find(|item| item.name == name);
        // Unreachable for parsed expressions: the parser knows the names of the items.
        let item = item.ok_or_else(|| EvalFailure::null_at(&name))?;
        let missing = |_| {
            let field = PathSuffix(path).to_string();
            let field = field.strip_prefix('.').unwrap_or(&field).to_owned();
            EvalFailure::Error(EvaluationError::NoSuchField { index: item.index, field })
        };
        part_of(&item.value, path, self.budget, missing)
    }

    /// Evaluates an expression for one item, which is returned with the result.
    fn for_item<T>(
        &mut self,
        (index, value): (usize, Cow<'a, Value>),
        node: &'a Node,
        evaluate: impl FnOnce(&mut Self, &'a Node) -> EvalResult<T>,
    ) -> EvalResult<(T, Cow<'a, Value>)> {
        let Node::ForItem(name, body) = node else { return Ok((evaluate(self, node)?, value)) };
        self.items.push(ScopedItem { name, index, value });
        let result = evaluate(self, body);
        let item = self.items.pop().map_or(Cow::Owned(Value::Null), |item| item.value);
        Ok((result?, item))
    }

    pub(super) fn decide(
        &mut self,
        function: Function,
        list: &'a Node,
        condition: Option<&'a Node>,
    ) -> ValueResult<'a> {
        let decisive = function == Function::Any;
        for item in self.list(list, function)?.into_iter().enumerate() {
            let holds = match condition {
                Some(condition) => self.for_item(item, condition, |this, body| this.boolean(body, &function))?.0,
                None => match item.1.as_ref() {
                    Value::Bool(value) => *value,
                    Value::Null => return Err(EvalFailure::null_at(&format!("{list}[{}]", item.0))),
                    other => return Err(EvalFailure::wrong_type(&function, "an array of booleans", other)),
                },
            };
            if holds == decisive {
                return Ok(owned(decisive));
            }
        }
        Ok(owned(!decisive))
    }

    pub(super) fn filter(&mut self, list: &'a Node, condition: &'a Node) -> ValueResult<'a> {
        let mut kept = Vec::new();
        for item in self.list(list, Function::Filter)?.into_iter().enumerate() {
            let (holds, item) = self.for_item(item, condition, |this, body| this.boolean(body, &Function::Filter))?;
            if holds {
                kept.push(self.own(item)?);
            }
        }
        Ok(owned(kept))
    }

    pub(super) fn map(&mut self, list: &'a Node, value: &'a Node) -> ValueResult<'a> {
        let mut values = Vec::new();
        for item in self.list(list, Function::Map)?.into_iter().enumerate() {
            let (value, _) = self.for_item(item, value, Self::value)?;
            values.push(self.own(value)?);
        }
        Ok(owned(values))
    }

    pub(super) fn sum_by(&mut self, list: &'a Node, number: &'a Node) -> ValueResult<'a> {
        let mut total = Decimal::ZERO;
        for item in self.list(list, Function::SumBy)?.into_iter().enumerate() {
            let (value, _) = self.for_item(item, number, Self::non_null)?;
            let operand = self.decimal(&value, &Function::SumBy)?;
            total = self.track_rounding(total.checked_add(operand)?);
        }
        from_decimal(total)
    }

    pub(super) fn group(&mut self, list: &'a Node, key: &'a Node) -> ValueResult<'a> {
        let mut places: HashMap<Value, usize> = HashMap::new();
        let mut groups: Vec<(Value, Vec<Value>)> = Vec::new();
        for item in self.list(list, Function::GroupBy)?.into_iter().enumerate() {
            let (key, item) = self.for_item(item, key, Self::non_null)?;
            if matches!(*key, Value::Array(_) | Value::Object(_)) {
                return Err(EvalFailure::wrong_type(
                    &Function::GroupBy,
                    "a string, a number or a boolean as key",
                    &key,
                ));
            }
            let (key, item) = (self.own(key)?, self.own(item)?);
            if let Some((_, items)) = places.get(&key).and_then(|place| groups.get_mut(*place)) {
                items.push(item);
            } else {
                places.insert(self.budget.clone_charged(&key)?, groups.len());
                groups.push((key, vec![item]));
            }
        }
        let group = |(key, items): (Value, Vec<Value>)| {
            Value::Object(Object::from([("key", key), ("items", Value::Array(items))]))
        };
        Ok(owned(groups.into_iter().map(group).collect::<Vec<_>>()))
    }
}
