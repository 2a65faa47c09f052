//! Values as operators and functions want them.

use std::borrow::Cow;

use reknit_protocol::{Number, Value};

use super::{Evaluator, Halt, Outcome};
use crate::decimal::{Decimal, Rounded, Undefined};
use crate::expression::{Function, Node};
use crate::{Fault, Reason};

/// How many texts that were taken for numbers are listed one by one.
const LISTED: usize = 50;

/// What it costs to calculate with a number, beside looking at one.
const CALCULATION: usize = 8;

/// How much of a text a message quotes.
const QUOTED: usize = 40;

impl From<Undefined> for Halt {
    fn from(undefined: Undefined) -> Self {
        Self::Fault(match undefined {
            Undefined::ByZero => Fault::DivisionByZero,
            Undefined::OutOfRange => Fault::OutOfRange,
        })
    }
}

impl<'a> Evaluator<'a, '_> {
    /// The number in a value: a number, or a text that is strictly one, which is recorded.
    pub(super) fn number(&mut self, value: &Value, operation: &dyn std::fmt::Display) -> Outcome<Number> {
        match value {
            Value::Number(number) => Ok(number.clone()),
            Value::String(text) => match Number::parse(text) {
                Ok(number) => {
                    self.take_text(text);
                    Ok(number)
                }
                Err(_) => Err(Halt::kind(operation, "a number", describe(value))),
            },
            Value::Null => Err(Halt::Absent(Reason::Null { what: format!("an operand of {operation}") })),
            _ => Err(Halt::kind(operation, "a number", describe(value))),
        }
    }

    fn take_text(&mut self, text: &str) {
        if self.taken.iter().any(|taken| taken == text) {
            return;
        }
        if self.taken.len() < LISTED {
            self.taken.push(text.to_owned());
        } else {
            self.taken_more += 1;
        }
    }

    /// The number in a value, to calculate with.
    pub(super) fn decimal(&mut self, value: &Value, operation: &dyn std::fmt::Display) -> Outcome<Decimal> {
        self.work.spend(CALCULATION)?;
        let number = self.number(value, operation)?;
        Ok(self.rounded(Decimal::from_number(&number)?))
    }

    /// The value of a node, which must not be null.
    pub(super) fn present(&mut self, node: &'a Node) -> Outcome<Cow<'a, Value>> {
        let value = self.value(node)?;
        if value.is_null() { Err(Halt::null(node)) } else { Ok(value) }
    }

    /// Remembers whether something was rounded.
    pub(super) fn rounded(&mut self, (decimal, exact): Rounded) -> Decimal {
        self.exact = self.exact.and(exact);
        decimal
    }

    pub(super) fn text(&mut self, node: &'a Node, function: Function) -> Outcome<Cow<'a, str>> {
        match self.present(node)? {
            Cow::Borrowed(Value::String(text)) => Ok(Cow::Borrowed(text)),
            Cow::Owned(Value::String(text)) => Ok(Cow::Owned(text)),
            other => Err(Halt::kind(&function, "a text", describe(&other))),
        }
    }

    pub(super) fn list(&mut self, node: &'a Node, function: Function) -> Outcome<Vec<Cow<'a, Value>>> {
        let value = self.present(node)?;
        match items(value) {
            Ok(items) => {
                self.work.spend(items.len())?;
                Ok(items)
            }
            Err(other) => Err(Halt::kind(&function, "a list", describe(&other))),
        }
    }

    /// The values of a list that is the only argument, or of the arguments one by one.
    pub(super) fn spread(&mut self, arguments: &'a [Node]) -> Outcome<Vec<Cow<'a, Value>>> {
        let [only] = arguments else { return arguments.iter().map(|argument| self.present(argument)).collect() };
        let value = self.present(only)?;
        let items = items(value).unwrap_or_else(|single| vec![single]);
        self.work.spend(items.len())?;
        Ok(items)
    }
}

/// The items of a list; gives back what is no list.
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

pub(super) fn from_decimal<'a>(decimal: Decimal) -> Outcome<Cow<'a, Value>> {
    Ok(owned(decimal.to_number()?))
}

/// A value in the words of a message: `the string "abc"`, `an object`.
pub(super) fn describe(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Number(number) => short(&number.to_string()),
        Value::String(text) => format!("the string {}", Value::from(short(text))),
        Value::Array(_) | Value::Object(_) => value.kind().with_article().to_owned(),
    }
}

fn short(text: &str) -> String {
    match text.char_indices().nth(QUOTED) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
    }
}
