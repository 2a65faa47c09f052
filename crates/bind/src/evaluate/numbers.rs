//! Arithmetic, and functions on numbers.

use std::borrow::Cow;
use std::cmp::Ordering;

use reknit_protocol::{Number, Value};

use super::compare::{is_number, order_of_kind};
use super::operand::{from_decimal, owned};
use super::{Evaluator, Halt, Outcome};
use crate::Fault;
use crate::decimal::{Decimal, Rounded, Undefined};
use crate::expression::{Function, Node, Operator};

/// How many places behind the point, or before it, `round` can be asked for.
const MAX_PLACES: i64 = 6144;

impl<'a> Evaluator<'a, '_> {
    /// The number without its minus, or with one. Works on the text, so that no digit is lost.
    pub(super) fn negate(&mut self, inner: &'a Node) -> Outcome<Cow<'a, Value>> {
        let value = self.present(inner)?;
        let number = self.number(&value, &"-")?;
        with_sign(&number, |text| text.strip_prefix('-').map_or_else(|| format!("-{text}"), str::to_owned))
    }

    pub(super) fn calculate(&mut self, first: &'a Node, rest: &'a [(Operator, Node)]) -> Outcome<Cow<'a, Value>> {
        let first_value = self.present(first)?;
        let Some((operator, _)) = rest.first() else { return Ok(first_value) };
        let mut result = self.decimal(&first_value, operator)?;
        for (operator, node) in rest {
            self.work.spend(1)?;
            let value = self.present(node)?;
            let operand = self.decimal(&value, operator)?;
            let rounded = apply(*operator, result, operand)?;
            result = self.rounded(rounded);
        }
        from_decimal(result)
    }

    pub(super) fn call_on_numbers(&mut self, function: Function, arguments: &'a [Node]) -> Outcome<Cow<'a, Value>> {
        match function {
            Function::Round => self.round(arguments),
            Function::Abs => {
                let [only] = arguments else { return Err(Halt::arguments(function)) };
                let value = self.present(only)?;
                let number = self.number(&value, &function)?;
                with_sign(&number, |text| text.trim_start_matches('-').to_owned())
            }
            Function::Min => self.extreme(function, arguments, Ordering::Less),
            Function::Max => self.extreme(function, arguments, Ordering::Greater),
            _ => self.total(function, arguments),
        }
    }

    fn total(&mut self, function: Function, arguments: &'a [Node]) -> Outcome<Cow<'a, Value>> {
        let values = self.spread(arguments)?;
        let mut total = Decimal::ZERO;
        for value in &values {
            let operand = self.decimal(value, &function)?;
            total = self.rounded(total.add(operand)?);
        }
        if function == Function::Sum {
            return from_decimal(total);
        }
        if values.is_empty() {
            return Err(Halt::Fault(Fault::EmptyList { operation: function.to_string() }));
        }
        let (count, _) = Decimal::from_number(&Number::from(values.len()))?;
        let average = self.rounded(total.divide(count)?);
        from_decimal(average)
    }

    /// The smallest or largest value, as it was written. Texts are compared as texts if all of them are texts, and not all of
    /// them numbers.
    fn extreme(&mut self, function: Function, arguments: &'a [Node], wanted: Ordering) -> Outcome<Cow<'a, Value>> {
        let values = self.spread(arguments)?;
        let texts = values.iter().all(|value| matches!(**value, Value::String(_)))
            && !values.iter().all(|value| value.as_str().is_some_and(is_number));
        let mut best: Option<Value> = None;
        for value in values {
            let value = if texts { value.into_owned() } else { Value::Number(self.number(&value, &function)?) };
            let better = match &best {
                None => true,
                Some(best) => {
                    self.work.spend(1)?;
                    order_of_kind(&value, best) == wanted
                }
            };
            if better {
                best = Some(value);
            }
        }
        best.map(owned).ok_or_else(|| Halt::Fault(Fault::EmptyList { operation: function.to_string() }))
    }

    fn round(&mut self, arguments: &'a [Node]) -> Outcome<Cow<'a, Value>> {
        let (number, places) = match arguments {
            [number] => (number, None),
            [number, places] => (number, Some(places)),
            _ => return Err(Halt::arguments(Function::Round)),
        };
        let value = self.present(number)?;
        let decimal = self.decimal(&value, &Function::Round)?;
        let places = match places {
            None => 0,
            Some(places) => {
                let places = self.present(places)?;
                let places = self.number(&places, &Function::Round)?.as_i64();
                let allowed = places.filter(|places| places.abs() <= MAX_PLACES);
                allowed.ok_or_else(|| Halt::bad(Function::Round, "the places must be a small whole number"))?
            }
        };
        from_decimal(decimal.rounded(places)?)
    }
}

fn apply(operator: Operator, left: Decimal, right: Decimal) -> Result<Rounded, Undefined> {
    match operator {
        Operator::Subtract => left.subtract(right),
        Operator::Multiply => left.multiply(right),
        Operator::Divide => left.divide(right),
        Operator::Remainder => left.remainder(right),
        // The others never reach here: they are of other levels.
        _ => left.add(right),
    }
}

fn with_sign<'a>(number: &Number, change: impl FnOnce(&str) -> String) -> Outcome<Cow<'a, Value>> {
    if *number == Number::default() {
        return Ok(owned(number.clone()));
    }
    let text = change(&number.to_string());
    Number::parse(&text).map(owned).map_err(|_| Halt::Fault(Fault::OutOfRange))
}
