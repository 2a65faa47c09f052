//! A date, a time of day, or both, printed in the format in which it was written.

use std::fmt;

use reknit_protocol::{date_of_days, days_since_epoch};

pub(super) const SECONDS_PER_DAY: i64 = 86_400;

/// A date, a time of day, or both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct DateOrTime {
    /// The days since 1970.
    date: Option<i64>,
    time: Option<Time>,
    /// The character between the date and the time.
    separator: char,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Time {
    /// The second of the day.
    second: i64,
    /// Whether the time is written with seconds.
    has_seconds: bool,
}

impl DateOrTime {
    pub(super) fn parse(text: &str) -> Option<Self> {
        if let Some((date, time)) = text.split_once(['T', ' ']) {
            let separator = if text.contains('T') { 'T' } else { ' ' };
            return Some(Self { time: Some(Time::parse(time)?), date: Some(parse_date(date)?), separator });
        }
        let time = Time::parse(text);
        let date = if time.is_some() { None } else { Some(parse_date(text)?) };
        Some(Self { date, time, separator: 'T' })
    }

    /// The seconds from `self` to `other`; `None` if only one of them is a time of day.
    pub(super) fn seconds_until(self, other: Self) -> Option<i64> {
        (self.date.is_some() == other.date.is_some()).then(|| other.seconds() - self.seconds())
    }

    /// The seconds since 1970, or since midnight for a time of day.
    fn seconds(self) -> i64 {
        self.date.unwrap_or(0) * SECONDS_PER_DAY + self.time.map_or(0, |time| time.second)
    }

    /// `None` if a time of day leaves the day, or a date moves by a part of a day.
    pub(super) fn plus_seconds(self, seconds: i64) -> Option<Self> {
        let total = self.seconds().checked_add(seconds)?;
        let (days, second) = (total.div_euclid(SECONDS_PER_DAY), total.rem_euclid(SECONDS_PER_DAY));
        if (self.date.is_none() && days != 0) || (self.time.is_none() && second != 0) {
            return None;
        }
        let date = if self.date.is_some() { Some(checked(days)?) } else { None };
        // Seconds are added to the format if the time is not a whole minute.
        let time = self.time.map(|time| Time { second, has_seconds: time.has_seconds || second % 60 != 0 });
        Some(Self { date, time, ..self })
    }

    pub(super) fn plus_months(self, months: i64) -> Option<Self> {
        let date = plus_months(self.date?, months)?;
        Some(Self { date: Some(date), ..self })
    }
}

impl fmt::Display for DateOrTime {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(date) = self.date {
            let (year, month, day) = date_of_days(date);
            write!(out, "{year:04}-{month:02}-{day:02}")?;
        }
        let Some(Time { second, has_seconds }) = self.time else { return Ok(()) };
        if self.date.is_some() {
            write!(out, "{}", self.separator)?;
        }
        write!(out, "{:02}:{:02}", second / 3600, second / 60 % 60)?;
        if has_seconds { write!(out, ":{:02}", second % 60) } else { Ok(()) }
    }
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

/// Parses `2025-03-01`.
fn parse_date(text: &str) -> Option<i64> {
    let mut parts = text.splitn(3, '-');
    let year = digits(parts.next()?, 4..=4)?;
    let month = digits(parts.next()?, 2..=2)?;
    days_since_epoch(year, month, digits(parts.next()?, 2..=2)?).and_then(checked)
}

impl Time {
    /// Parses `9:00`, `09:00` or `09:00:30`.
    fn parse(text: &str) -> Option<Self> {
        let mut parts = text.splitn(3, ':');
        let hour = digits(parts.next()?, 1..=2).filter(|hour| *hour < 24)?;
        let minute = digits(parts.next()?, 2..=2).filter(|minute| *minute < 60)?;
        let written = parts.next();
        let second = written.map_or(Some(0), |second| digits(second, 2..=2).filter(|second| *second < 60))?;
        Some(Self { second: hour * 3600 + minute * 60 + second, has_seconds: written.is_some() })
    }
}

fn digits(text: &str, length: std::ops::RangeInclusive<usize>) -> Option<i64> {
    let is_valid = text.bytes().all(|byte| byte.is_ascii_digit()) && length.contains(&text.len());
    is_valid.then(|| text.parse().ok()).flatten()
}
