//! A date, a time of day, or both, printed in the format in which it was written.

use std::fmt;

use reknit_protocol::{date_of_days, days_since_epoch};

pub(super) const SECONDS_PER_DAY: i64 = 86_400;

/// A date, a time of day, or both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DateOrTime {
    Time {
        second: i64,
        precision: TimePrecision,
    },
    Date(i64),
    DateTime {
        date: i64,
        second: i64,
        precision: TimePrecision,
        separator: char,
    },
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

    /// The seconds since 1970; `None` for a time of day.
    fn seconds(self) -> Option<i64> {
        match self {
            Self::Time { .. } => None,
            Self::Date(date) => Some(date * SECONDS_PER_DAY),
            Self::DateTime { date, second, .. } => Some(date * SECONDS_PER_DAY + second),
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
                let date = date.checked_add(seconds / SECONDS_PER_DAY)?;
                checked(date).filter(|_| is_whole_days).map(Self::Date)
            }
            Self::DateTime { precision, separator, .. } => {
                let total = self.seconds()?.checked_add(seconds)?;
                let date = checked(total.div_euclid(SECONDS_PER_DAY))?;
                let second = total.rem_euclid(SECONDS_PER_DAY);
                Some(Self::DateTime { date, second, precision: precision.for_second(second), separator })
            }
        }
    }

    pub(super) fn plus_months(self, months: i64) -> Option<Self> {
        match self {
            Self::Time { .. } => None,
            Self::Date(date) => plus_months(date, months).map(Self::Date),
            Self::DateTime { date, second, precision, separator } => {
                Some(Self::DateTime { date: plus_months(date, months)?, second, precision, separator })
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

fn write_date(out: &mut fmt::Formatter<'_>, date: i64) -> fmt::Result {
    let (year, month, day) = date_of_days(date);
    write!(out, "{year:04}-{month:02}-{day:02}")
}

/// The date if it is in the years 1 to 9999.
fn checked(date: i64) -> Option<i64> {
    // Beyond these days, finding the year could overflow.
    let is_near = date.unsigned_abs() < 1 << 32;
    (is_near && (1..=9999).contains(&date_of_days(date).0)).then_some(date)
}

/// The same day of another month, or its last day if that month is shorter.
fn plus_months(date: i64, months: i64) -> Option<i64> {
    let (year, month, day) = date_of_days(date);
    let total = (year * 12 + month - 1).checked_add(months)?;
    let (year, month) = (total.div_euclid(12), total.rem_euclid(12) + 1);
    (day.min(28)..=day).rev().find_map(|day| days_since_epoch(year, month, day)).and_then(checked)
}

fn write_time(out: &mut fmt::Formatter<'_>, second: i64, precision: TimePrecision) -> fmt::Result {
    write!(out, "{:02}:{:02}", second / 3600, second / 60 % 60)?;
    match precision {
        TimePrecision::Minutes => Ok(()),
        TimePrecision::Seconds => write!(out, ":{:02}", second % 60),
    }
}

fn parse_date(text: &str) -> Option<i64> {
    let mut parts = text.splitn(3, '-');
    let year = digits(parts.next()?, 4..=4)?;
    let month = digits(parts.next()?, 2..=2)?;
    days_since_epoch(year, month, digits(parts.next()?, 2..=2)?).and_then(checked)
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
