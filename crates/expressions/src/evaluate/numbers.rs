//! Arithmetic, and functions on numbers.

use std::cmp::Ordering;

use reknit_protocol::{Decimal, DecimalError, Exactness, Number, Value};

use super::compare::{is_number, order_of_type};
use super::failure::{ValueResult, bad_argument};
use super::lists::empty_list_error;
use super::operand::{from_decimal, owned};
use super::{EvalFailure, Evaluator};
use crate::EvaluationError;
use crate::expression::{Function, Node, Operator};

/// The maximum number of decimal places of `round`, and of zeros before the decimal point.
const MAX_PLACES: i64 = 6144;

impl<'a> Evaluator<'a, '_> {
    /// Toggles the sign in the text of the number, so that no digit is lost.
    pub(super) fn negate(&mut self, inner: &'a Node) -> ValueResult<'a> {
        let value = self.non_null(inner)?;
        let number = self.number(&value, &"-")?;
        with_sign(&number, |text| text.strip_prefix('-').map_or_else(|| format!("-{text}"), str::to_owned))
    }

    pub(super) fn calculate(&mut self, first: &'a Node, rest: &'a [(Operator, Node)]) -> ValueResult<'a> {
        let first_value = self.non_null(first)?;
        let Some((operator, _)) = rest.first() else { return Ok(first_value) };
        let mut result = self.decimal(&first_value, operator)?;
        for (operator, node) in rest {
            self.budget.spend(1)?;
            let value = self.non_null(node)?;
            let operand = self.decimal(&value, operator)?;
            let rounded = apply(*operator, result, operand)?;
            result = self.track_rounding(rounded);
        }
        from_decimal(result)
    }

    pub(super) fn absolute(&mut self, node: &'a Node) -> ValueResult<'a> {
        let value = self.non_null(node)?;
        let number = self.number(&value, &Function::Abs)?;
        with_sign(&number, |text| text.trim_start_matches('-').to_owned())
    }

    pub(super) fn total(&mut self, function: Function, arguments: &'a [Node]) -> ValueResult<'a> {
        let values = self.argument_values(arguments)?;
        let mut total = Decimal::ZERO;
        for value in &values {
            let operand = self.decimal(value, &function)?;
            total = self.track_rounding(total.checked_add(operand)?);
        }
        if function == Function::Sum {
            return from_decimal(total);
        }
        if values.is_empty() {
            return Err(empty_list_error(function));
        }
        let (count, _) = Decimal::from_number(&Number::from(values.len()))?;
        let average = self.track_rounding(total.checked_div(count)?);
        from_decimal(average)
    }

    /// The smallest or largest value in its original spelling. If all values are strings and at least one is not a
    /// number, they are compared as strings.
    pub(super) fn extreme(&mut self, function: Function, arguments: &'a [Node], wanted: Ordering) -> ValueResult<'a> {
        let values = self.argument_values(arguments)?;
        values.iter().try_for_each(|value| self.budget.charge(value))?;
        let as_strings = values.iter().all(|value| matches!(**value, Value::String(_)))
            && !values.iter().all(|value| value.as_str().is_some_and(is_number));
        let mut best: Option<Value> = None;
        for value in values {
            let value = if as_strings { value.into_owned() } else { Value::Number(self.number(&value, &function)?) };
            let better = match &best {
                None => true,
                Some(best) => {
                    self.budget.spend(1)?;
                    order_of_type(&value, best) == wanted
                }
            };
            if better {
                best = Some(value);
            }
        }
        best.map(owned).ok_or_else(|| empty_list_error(function))
    }

    pub(super) fn round(&mut self, number: &'a Node, places: Option<&'a Node>) -> ValueResult<'a> {
        let value = self.non_null(number)?;
        let decimal = self.decimal(&value, &Function::Round)?;
        let places = match places {
            None => 0,
            Some(places) => {
                let places = self.non_null(places)?;
                let places = self.number(&places, &Function::Round)?.as_i64();
                let allowed = places.filter(|places| places.abs() <= MAX_PLACES);
                let problem = "the number of places must be an integer from -6144 to 6144";
                allowed.ok_or_else(|| bad_argument(Function::Round, problem))?
            }
        };
        from_decimal(decimal.rounded(places)?)
    }
}

fn apply(operator: Operator, left: Decimal, right: Decimal) -> Result<(Decimal, Exactness), DecimalError> {
    match operator {
        Operator::Subtract => left.checked_sub(right),
        Operator::Multiply => left.checked_mul(right),
        Operator::Divide => left.checked_div(right),
        Operator::Remainder => left.checked_rem(right),
        // Only `+` remains: `calculate` gets additive and multiplicative operators.
        _ => left.checked_add(right),
    }
}

fn with_sign<'a>(number: &Number, change: impl FnOnce(&str) -> String) -> ValueResult<'a> {
    if *number == Number::default() {
        return Ok(owned(number.clone()));
    }
    let text = change(&number.to_string());
    Number::parse(&text).map(owned).map_err(|_| EvalFailure::Error(EvaluationError::OutOfRange))
}
