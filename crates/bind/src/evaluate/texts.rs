//! Functions on texts, and between texts and numbers.

use std::borrow::Cow;

use reknit_protocol::{Number, Value};

use super::operand::{describe, owned};
use super::{Evaluator, Halt, Outcome};
use crate::expression::{Function, Node};

impl<'a> Evaluator<'a, '_> {
    pub(super) fn call_on_texts(&mut self, function: Function, arguments: &'a [Node]) -> Outcome<Cow<'a, Value>> {
        match (function, arguments) {
            (Function::Lower, [only]) => self.on_text(only, function, str::to_lowercase),
            (Function::Upper, [only]) => self.on_text(only, function, str::to_uppercase),
            (Function::Trim, [only]) => self.on_text(only, function, |text| text.trim().to_owned()),
            (Function::Split, [text, separator]) => self.split(text, separator),
            (Function::Replace, [text, what, with]) => self.replace(text, what, with),
            (Function::ToNumber, [only]) => self.read_number(only),
            (Function::ToString, [only]) => self.write(only),
            _ => Err(Halt::arguments(function)),
        }
    }

    fn on_text(
        &mut self,
        node: &'a Node,
        function: Function,
        change: impl FnOnce(&str) -> String,
    ) -> Outcome<Cow<'a, Value>> {
        let text = self.text(node, function)?;
        self.work.spend(text.len())?;
        Ok(owned(change(&text)))
    }

    fn split(&mut self, text: &'a Node, separator: &'a Node) -> Outcome<Cow<'a, Value>> {
        let text = self.text(text, Function::Split)?;
        let separator = self.text(separator, Function::Split)?;
        if separator.is_empty() {
            return Err(Halt::bad(Function::Split, "the separator is empty"));
        }
        self.work.spend(2 * text.len())?;
        Ok(owned(text.split(separator.as_ref()).map(Value::from).collect::<Vec<_>>()))
    }

    fn replace(&mut self, text: &'a Node, what: &'a Node, with: &'a Node) -> Outcome<Cow<'a, Value>> {
        let text = self.text(text, Function::Replace)?;
        let what = self.text(what, Function::Replace)?;
        let with = self.text(with, Function::Replace)?;
        if what.is_empty() {
            return Err(Halt::bad(Function::Replace, "what is to be replaced is empty"));
        }
        // Counted first: the result can be many times as long as what went in.
        let times = text.matches(what.as_ref()).count();
        self.work.spend(text.len().saturating_add(times.saturating_mul(with.len())))?;
        Ok(owned(text.replace(what.as_ref(), &with)))
    }

    fn read_number(&mut self, node: &'a Node) -> Outcome<Cow<'a, Value>> {
        let value = self.present(node)?;
        match value.as_ref() {
            Value::Number(_) => Ok(value),
            Value::String(text) => match Number::parse(text.trim()) {
                Ok(number) => Ok(owned(number)),
                Err(_) => Err(Halt::kind(&Function::ToNumber, "the text of a number", describe(&value))),
            },
            other => Err(Halt::kind(&Function::ToNumber, "a text", describe(other))),
        }
    }

    fn write(&mut self, node: &'a Node) -> Outcome<Cow<'a, Value>> {
        let value = self.present(node)?;
        if matches!(*value, Value::String(_)) {
            return Ok(value);
        }
        let copy = self.work.copy(&value)?;
        Ok(owned(copy.to_string()))
    }
}
