//! Functions on dates and times of day, without time zones and without the current time.

mod date_or_time;

use reknit_protocol::{Decimal, Number, Value};

use super::failure::{ValueResult, bad_argument};
use super::operand::{from_decimal, owned};
use super::{EvalFailure, EvalResult, Evaluator};
use crate::expression::{Function, Node};
use date_or_time::{DateOrTime, SECONDS_PER_DAY};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unit {
    /// A unit of fixed length in seconds.
    Seconds(i64),
    Months(i64),
}

impl Unit {
    fn parse(word: &str) -> Option<Self> {
        Some(match word.trim_end_matches('s') {
            "second" => Self::Seconds(1),
            "minute" => Self::Seconds(60),
            "hour" => Self::Seconds(3600),
            "day" => Self::Seconds(SECONDS_PER_DAY),
            "week" => Self::Seconds(7 * SECONDS_PER_DAY),
            "month" => Self::Months(1),
            "year" => Self::Months(12),
            _ => return None,
        })
    }
}

impl<'a> Evaluator<'a, '_> {
    pub(super) fn add_to_date(&mut self, from: &'a Node, amount: &'a Node, unit: &'a Node) -> ValueResult<'a> {
        let from = self.date_or_time(from, Function::DateAdd)?;
        let unit = self.unit(unit, Function::DateAdd)?;
        let amount = self.non_null(amount)?;
        let amount = self.decimal(&amount, &Function::DateAdd)?;
        let (Unit::Seconds(factor) | Unit::Months(factor)) = unit;
        let (total, _) = amount.checked_mul(decimal(factor)?)?;
        let Some(total) = total.to_number()?.as_i64() else {
            return Err(bad_argument(Function::DateAdd, "the amount must be a whole number of seconds or months"));
        };
        let moved = match unit {
            Unit::Seconds(_) => from.plus_seconds(total),
            Unit::Months(_) => from.plus_months(total),
        };
        let problem = "the result is out of range: a time of day must stay within the day, and a date must move by whole \
                       days within the years 1 to 9999";
        moved.map(|moved| owned(moved.to_string())).ok_or_else(|| bad_argument(Function::DateAdd, problem))
    }

    pub(super) fn difference_of_dates(&mut self, from: &'a Node, to: &'a Node, unit: &'a Node) -> ValueResult<'a> {
        let from = self.date_or_time(from, Function::DateDiff)?;
        let unit = self.unit(unit, Function::DateDiff)?;
        let to = self.date_or_time(to, Function::DateDiff)?;
        let Unit::Seconds(length) = unit else {
            return Err(bad_argument(Function::DateDiff, "months and years vary in length; use days"));
        };
        let Some(seconds) = from.seconds_until(to) else {
            return Err(bad_argument(Function::DateDiff, "one argument is a time of day and the other is a date"));
        };
        let quotient = self.track_rounding(decimal(seconds)?.checked_div(decimal(length)?)?);
        from_decimal(quotient)
    }

    fn unit(&mut self, node: &'a Node, function: Function) -> EvalResult<Unit> {
        let problem = "the unit must be seconds, minutes, hours, days, weeks, months or years";
        Unit::parse(&self.string(node, function)?).ok_or_else(|| bad_argument(function, problem))
    }

    fn date_or_time(&mut self, node: &'a Node, function: Function) -> EvalResult<DateOrTime> {
        let text = self.string(node, function)?;
        DateOrTime::parse(&text).ok_or_else(|| {
            let expected = "a date or time without a time zone, such as 2025-03-01, 14:30 or 2025-03-01T14:30";
            EvalFailure::wrong_type(&function, expected, &Value::from(text.as_ref()))
        })
    }
}

fn decimal(number: i64) -> EvalResult<Decimal> {
    Ok(Decimal::from_number(&Number::from(number))?.0)
}
