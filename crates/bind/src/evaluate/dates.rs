//! Functions on dates and times of day. There are no time zones here, and there is no now.

mod calendar;
mod moment;

use std::borrow::Cow;

use reknit_protocol::{Number, Value};

use super::operand::{from_decimal, owned};
use super::{Evaluator, Halt, Outcome};
use crate::decimal::Decimal;
use crate::expression::{Function, Node};
use moment::Moment;

/// A span of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unit {
    /// Always this many seconds.
    Seconds(i64),
    /// This many months, whatever their length.
    Months(i64),
}

impl Unit {
    fn from_word(word: &str) -> Option<Self> {
        Some(match word.trim_end_matches('s') {
            "second" => Self::Seconds(1),
            "minute" => Self::Seconds(60),
            "hour" => Self::Seconds(3600),
            "day" => Self::Seconds(calendar::DAY),
            "week" => Self::Seconds(7 * calendar::DAY),
            "month" => Self::Months(1),
            "year" => Self::Months(12),
            _ => return None,
        })
    }
}

impl<'a> Evaluator<'a, '_> {
    pub(super) fn call_on_dates(&mut self, function: Function, arguments: &'a [Node]) -> Outcome<Cow<'a, Value>> {
        let [first, second, unit] = arguments else { return Err(Halt::arguments(function)) };
        let from = self.moment(first, function)?;
        let word = self.text(unit, function)?;
        let Some(unit) = Unit::from_word(&word) else {
            let problem = "the unit is seconds, minutes, hours, days, weeks, months or years";
            return Err(Halt::bad(function, problem));
        };
        if function == Function::DateAdd {
            let value = self.present(second)?;
            let amount = self.decimal(&value, &function)?;
            return add(from, amount, unit);
        }
        let to = self.moment(second, function)?;
        self.difference(from, to, unit)
    }

    fn moment(&mut self, node: &'a Node, function: Function) -> Outcome<Moment> {
        let text = self.text(node, function)?;
        Moment::parse(&text).ok_or_else(|| {
            let shown = super::describe(&Value::from(text.as_ref()));
            Halt::kind(&function, "a date or time without a zone, such as 2025-03-01, 14:30 or 2025-03-01T14:30", shown)
        })
    }

    fn difference(&mut self, from: Moment, to: Moment, unit: Unit) -> Outcome<Cow<'a, Value>> {
        let Unit::Seconds(length) = unit else {
            return Err(Halt::bad(Function::DateDiff, "months and years differ in length; use days"));
        };
        let Some(seconds) = from.seconds_until(to) else {
            return Err(Halt::bad(Function::DateDiff, "a time of day and a date have no difference"));
        };
        let (seconds, _) = Decimal::from_number(&Number::from(seconds))?;
        let (length, _) = Decimal::from_number(&Number::from(length))?;
        let quotient = self.rounded(seconds.divide(length)?);
        from_decimal(quotient)
    }
}

fn add<'a>(from: Moment, amount: Decimal, unit: Unit) -> Outcome<Cow<'a, Value>> {
    let (Unit::Seconds(factor) | Unit::Months(factor)) = unit;
    let (factor, _) = Decimal::from_number(&Number::from(factor))?;
    let (total, _) = amount.multiply(factor)?;
    let Some(total) = total.to_number()?.as_i64() else {
        return Err(Halt::bad(Function::DateAdd, "the amount is not a whole number of seconds or months"));
    };
    let moved = match unit {
        Unit::Seconds(_) => from.plus_seconds(total),
        Unit::Months(_) => from.plus_months(total),
    };
    match moved {
        Some(moved) => Ok(owned(moved.to_string())),
        None => Err(Halt::bad(
            Function::DateAdd,
            "the result cannot be written that way: a time of day stays within its day, a date within whole days and the years 1 to 9999",
        )),
    }
}
