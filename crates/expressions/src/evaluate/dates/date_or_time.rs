//! A date, a time of day, or both, printed in the format in which it was written.

use std::fmt;

use super::calendar::{Date, SECONDS_PER_DAY};

/// A date, a time of day, or both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DateOrTime {
    Time { second: i64, precision: TimePrecision },
    Date(Date),
    DateTime { date: Date, second: i64, precision: TimePrecision, separator: char },
}

/// Whether a time is written with seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TimePrecision {
    Minutes,
    Seconds,
}

impl DateOrTime {
    pub(super) fn parse(text: &str) -> Option<Self> {
        if let Some((date, time)) = text.split_once(['T', ' ']) {
            let separator = if text.contains('T') { 'T' } else { ' ' };
            let (second, precision) = parse_time(time)?;
            return Some(Self::DateTime { date: parse_date(date)?, second, precision, separator });
        }
        match parse_time(text) {
            Some((second, precision)) => Some(Self::Time { second, precision }),
            None => parse_date(text).map(Self::Date),
        }
    }

    /// The seconds from `self` to `other`; `None` if only one of them is a time of day.
    pub(super) fn seconds_until(self, other: Self) -> Option<i64> {
        match (self, other) {
            (Self::Time { second: from, .. }, Self::Time { second: to, .. }) => Some(to - from),
            (from, to) => Some(to.seconds()? - from.seconds()?),
        }
    }

    /// The seconds since day 0; `None` for a time of day.
    fn seconds(self) -> Option<i64> {
        match self {
            Self::Time { .. } => None,
            Self::Date(date) => Some(date.day_number() * SECONDS_PER_DAY),
            Self::DateTime { date, second, .. } => Some(date.day_number() * SECONDS_PER_DAY + second),
        }
    }

    pub(super) fn plus_seconds(self, seconds: i64) -> Option<Self> {
        match self {
            Self::Time { second, precision } => {
                let second = second.checked_add(seconds).filter(|second| (0..SECONDS_PER_DAY).contains(second))?;
                Some(Self::Time { second, precision: precision.for_second(second) })
            }
            Self::Date(date) => {
                let is_whole_days = seconds % SECONDS_PER_DAY == 0;
                let number = date.day_number().checked_add(seconds / SECONDS_PER_DAY)?;
                Date::from_day_number(number).filter(|_| is_whole_days).map(Self::Date)
            }
            Self::DateTime { precision, separator, .. } => {
                let total = self.seconds()?.checked_add(seconds)?;
                let date = Date::from_day_number(total.div_euclid(SECONDS_PER_DAY))?;
                let second = total.rem_euclid(SECONDS_PER_DAY);
                Some(Self::DateTime { date, second, precision: precision.for_second(second), separator })
            }
        }
    }

    pub(super) fn plus_months(self, months: i64) -> Option<Self> {
        match self {
            Self::Time { .. } => None,
            Self::Date(date) => date.plus_months(months).map(Self::Date),
            Self::DateTime { date, second, precision, separator } => {
                Some(Self::DateTime { date: date.plus_months(months)?, second, precision, separator })
            }
        }
    }
}

impl TimePrecision {
    /// Adds seconds to the format if the time is not a whole minute.
    fn for_second(self, second: i64) -> Self {
        if second % 60 == 0 { self } else { Self::Seconds }
    }
}

impl fmt::Display for DateOrTime {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Time { second, precision } => write_time(out, *second, *precision),
            Self::Date(date) => write_date(out, *date),
            Self::DateTime { date, second, precision, separator } => {
                write_date(out, *date)?;
                write!(out, "{separator}")?;
                write_time(out, *second, *precision)
            }
        }
    }
}

fn write_date(out: &mut fmt::Formatter<'_>, date: Date) -> fmt::Result {
    write!(out, "{:04}-{:02}-{:02}", date.year, date.month, date.day)
}

fn write_time(out: &mut fmt::Formatter<'_>, second: i64, precision: TimePrecision) -> fmt::Result {
    write!(out, "{:02}:{:02}", second / 3600, second / 60 % 60)?;
    match precision {
        TimePrecision::Minutes => Ok(()),
        TimePrecision::Seconds => write!(out, ":{:02}", second % 60),
    }
}

/// Parses `2025-03-01`.
fn parse_date(text: &str) -> Option<Date> {
    let mut parts = text.splitn(3, '-');
    let year = digits(parts.next()?, 4..=4)?;
    let month = digits(parts.next()?, 2..=2)?;
    Date::new(year, month, digits(parts.next()?, 2..=2)?)
}

/// Parses `9:00`, `09:00` or `09:00:30` into the second of the day.
fn parse_time(text: &str) -> Option<(i64, TimePrecision)> {
    let mut parts = text.splitn(3, ':');
    let hour = digits(parts.next()?, 1..=2).filter(|hour| *hour < 24)?;
    let minute = digits(parts.next()?, 2..=2).filter(|minute| *minute < 60)?;
    let total = hour * 3600 + minute * 60;
    match parts.next() {
        None => Some((total, TimePrecision::Minutes)),
        Some(second) => {
            let second = digits(second, 2..=2).filter(|second| *second < 60)?;
            Some((total + second, TimePrecision::Seconds))
        }
    }
}

fn digits(text: &str, length: std::ops::RangeInclusive<usize>) -> Option<i64> {
    let is_valid = text.bytes().all(|byte| byte.is_ascii_digit()) && length.contains(&text.len());
    is_valid.then(|| text.parse().ok()).flatten()
}
