//! Functions on lists.

use std::borrow::Cow;
use std::collections::HashSet;

use reknit_protocol::Value;

use super::compare::{is_number, order_of_kind};
use super::operand::{describe, owned};
use super::{Evaluator, Halt, Outcome};
use crate::expression::{Function, Node};
use crate::{Fault, Reason};

impl<'a> Evaluator<'a, '_> {
    pub(super) fn call_on_lists(&mut self, function: Function, arguments: &'a [Node]) -> Outcome<Cow<'a, Value>> {
        match (function, arguments) {
            (Function::Len, [only]) => self.length(only),
            (Function::First, [list]) => {
                let found = self.list(list, function)?.into_iter().next();
                found.ok_or_else(|| empty(function))
            }
            (Function::Last, [list]) => {
                let found = self.list(list, function)?.into_iter().next_back();
                found.ok_or_else(|| empty(function))
            }
            (Function::Join, [list, separator]) => self.join(list, separator),
            (Function::Unique, [list]) => self.unique(list),
            (Function::Pluck, [list, field]) => self.pluck(list, field),
            (Function::SortBy, [list, rest @ ..]) => self.sort(list, rest),
            _ => Err(Halt::arguments(function)),
        }
    }

    fn length(&mut self, node: &'a Node) -> Outcome<Cow<'a, Value>> {
        let value = self.present(node)?;
        match value.as_ref() {
            Value::Array(items) => Ok(owned(items.len())),
            Value::Object(object) => Ok(owned(object.len())),
            Value::String(text) => {
                self.work.spend(text.len())?;
                Ok(owned(text.chars().count()))
            }
            other => Err(Halt::kind(&Function::Len, "a list, a text or an object", describe(other))),
        }
    }

    fn join(&mut self, list: &'a Node, separator: &'a Node) -> Outcome<Cow<'a, Value>> {
        let items = self.list(list, Function::Join)?;
        let separator = self.text(separator, Function::Join)?;
        let mut joined = String::new();
        for (index, item) in items.iter().enumerate() {
            let text = match item.as_ref() {
                Value::String(text) => Cow::Borrowed(text.as_str()),
                Value::Number(_) | Value::Bool(_) => Cow::Owned(item.to_string()),
                Value::Null => return Err(Halt::Absent(Reason::Null { what: format!("item {index} of {list}") })),
                other => return Err(Halt::kind(&Function::Join, "texts, numbers or booleans", describe(other))),
            };
            self.work.spend(separator.len() + text.len())?;
            if index > 0 {
                joined.push_str(&separator);
            }
            joined.push_str(&text);
        }
        Ok(owned(joined))
    }

    fn unique(&mut self, list: &'a Node) -> Outcome<Cow<'a, Value>> {
        let mut seen = HashSet::new();
        let mut kept = Vec::new();
        for item in self.list(list, Function::Unique)? {
            // Weighed before it is hashed, for hashing visits all of it.
            let copy = self.work.copy(&item)?;
            if seen.insert(item) {
                kept.push(copy);
            }
        }
        Ok(owned(kept))
    }

    fn pluck(&mut self, list: &'a Node, field: &'a Node) -> Outcome<Cow<'a, Value>> {
        let items = self.list(list, Function::Pluck)?;
        let field = self.text(field, Function::Pluck)?;
        let mut plucked = Vec::with_capacity(items.len());
        for (index, item) in items.iter().enumerate() {
            let value = field_of(item, &field, index, Function::Pluck)?;
            plucked.push(self.work.copy(value)?);
        }
        Ok(owned(plucked))
    }

    fn sort(&mut self, list: &'a Node, rest: &'a [Node]) -> Outcome<Cow<'a, Value>> {
        let items = self.list(list, Function::SortBy)?;
        let mut rest = rest.iter();
        let field = rest.next().map(|field| self.text(field, Function::SortBy)).transpose()?;
        let direction = rest.next().map(|word| self.text(word, Function::SortBy)).transpose()?;
        let descending = match direction.as_deref() {
            None | Some("asc") => false,
            Some("desc") => true,
            Some(_) => return Err(Halt::bad(Function::SortBy, "the direction is \"asc\" or \"desc\"")),
        };
        let mut keyed = Vec::with_capacity(items.len());
        for (index, item) in items.iter().enumerate() {
            let key = match &field {
                Some(field) => field_of(item, field, index, Function::SortBy)?,
                None => item.as_ref(),
            };
            if key.is_null() {
                return Err(Halt::Absent(Reason::Null { what: format!("the key of item {index} of {list}") }));
            }
            keyed.push((self.work.copy(key)?, self.work.copy(item)?));
        }
        self.check_order(&keyed)?;
        if keyed.iter().all(|(key, _)| key.as_str().is_some_and(is_number)) {
            for (key, _) in &mut keyed {
                *key = Value::Number(self.number(key, &Function::SortBy)?);
            }
        }
        keyed.sort_by(|(left, _), (right, _)| {
            let order = order_of_kind(left, right);
            if descending { order.reverse() } else { order }
        });
        Ok(owned(keyed.into_iter().map(|(_, item)| item).collect::<Vec<_>>()))
    }

    /// Sorting itself cannot stop, so whether all keys can be compared is found out before.
    fn check_order(&mut self, keyed: &[(Value, Value)]) -> Outcome<()> {
        let Some((first, _)) = keyed.first() else { return Ok(()) };
        for (key, _) in keyed {
            self.work.spend(1)?;
            if first.kind() != key.kind() || !matches!(key, Value::Number(_) | Value::String(_)) {
                let (left, right) = (describe(first), describe(key));
                return Err(Halt::Fault(Fault::Incomparable { left, right }));
            }
        }
        Ok(())
    }
}

fn field_of<'v>(item: &'v Value, field: &str, index: usize, function: Function) -> Outcome<&'v Value> {
    let Value::Object(object) = item else { return Err(Halt::kind(&function, "a list of objects", describe(item))) };
    object.get(field).ok_or_else(|| Halt::Fault(Fault::NoSuchField { index, field: field.to_owned() }))
}

fn empty(function: Function) -> Halt {
    Halt::Fault(Fault::EmptyList { operation: function.to_string() })
}
