//! A date, a time of day, or both, in the form it was written.

use std::fmt;

use super::calendar::{DAY, Day};

/// A date, a time of day, or both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Moment {
    Time { second: i64, form: Clock },
    Date(Day),
    Both { day: Day, second: i64, form: Clock, joint: char },
}

/// Whether seconds are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Clock {
    Minutes,
    Seconds,
}

impl Moment {
    pub(super) fn parse(text: &str) -> Option<Self> {
        if let Some((date, time)) = text.split_once(['T', ' ']) {
            let joint = if text.contains('T') { 'T' } else { ' ' };
            let (second, form) = parse_time(time)?;
            return Some(Self::Both { day: parse_date(date)?, second, form, joint });
        }
        match parse_time(text) {
            Some((second, form)) => Some(Self::Time { second, form }),
            None => parse_date(text).map(Self::Date),
        }
    }

    /// `None` between a time of day and a date.
    pub(super) fn seconds_until(self, other: Self) -> Option<i64> {
        match (self, other) {
            (Self::Time { second: from, .. }, Self::Time { second: to, .. }) => Some(to - from),
            (from, to) => Some(to.seconds()? - from.seconds()?),
        }
    }

    fn seconds(self) -> Option<i64> {
        match self {
            Self::Time { .. } => None,
            Self::Date(day) => Some(day.count() * DAY),
            Self::Both { day, second, .. } => Some(day.count() * DAY + second),
        }
    }

    pub(super) fn plus_seconds(self, seconds: i64) -> Option<Self> {
        match self {
            Self::Time { second, form } => {
                let second = second.checked_add(seconds).filter(|second| (0..DAY).contains(second))?;
                Some(Self::Time { second, form: form.showing(second) })
            }
            Self::Date(day) => {
                let whole = seconds % DAY == 0;
                Day::from_count(day.count().checked_add(seconds / DAY)?).filter(|_| whole).map(Self::Date)
            }
            Self::Both { form, joint, .. } => {
                let total = self.seconds()?.checked_add(seconds)?;
                let (day, second) = (Day::from_count(total.div_euclid(DAY))?, total.rem_euclid(DAY));
                Some(Self::Both { day, second, form: form.showing(second), joint })
            }
        }
    }

    pub(super) fn plus_months(self, months: i64) -> Option<Self> {
        match self {
            Self::Time { .. } => None,
            Self::Date(day) => day.plus_months(months).map(Self::Date),
            Self::Both { day, second, form, joint } => {
                Some(Self::Both { day: day.plus_months(months)?, second, form, joint })
            }
        }
    }
}

impl Clock {
    /// Seconds are written where there are any.
    fn showing(self, second: i64) -> Self {
        if second % 60 == 0 { self } else { Self::Seconds }
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Time { second, form } => write_time(out, *second, *form),
            Self::Date(day) => write_date(out, *day),
            Self::Both { day, second, form, joint } => {
                write_date(out, *day)?;
                write!(out, "{joint}")?;
                write_time(out, *second, *form)
            }
        }
    }
}

fn write_date(out: &mut fmt::Formatter<'_>, day: Day) -> fmt::Result {
    write!(out, "{:04}-{:02}-{:02}", day.year, day.month, day.date)
}

fn write_time(out: &mut fmt::Formatter<'_>, second: i64, form: Clock) -> fmt::Result {
    write!(out, "{:02}:{:02}", second / 3600, second / 60 % 60)?;
    match form {
        Clock::Minutes => Ok(()),
        Clock::Seconds => write!(out, ":{:02}", second % 60),
    }
}

/// `2025-03-01`.
fn parse_date(text: &str) -> Option<Day> {
    let mut parts = text.splitn(3, '-');
    let year = digits(parts.next()?, 4..=4)?;
    let month = digits(parts.next()?, 2..=2)?;
    Day::new(year, month, digits(parts.next()?, 2..=2)?)
}

/// `9:00`, `09:00`, `09:00:30`.
fn parse_time(text: &str) -> Option<(i64, Clock)> {
    let mut parts = text.splitn(3, ':');
    let hour = digits(parts.next()?, 1..=2).filter(|hour| *hour < 24)?;
    let minute = digits(parts.next()?, 2..=2).filter(|minute| *minute < 60)?;
    let total = hour * 3600 + minute * 60;
    match parts.next() {
        None => Some((total, Clock::Minutes)),
        Some(second) => {
            let second = digits(second, 2..=2).filter(|second| *second < 60)?;
            Some((total + second, Clock::Seconds))
        }
    }
}

fn digits(text: &str, length: std::ops::RangeInclusive<usize>) -> Option<i64> {
    let plain = text.bytes().all(|byte| byte.is_ascii_digit()) && length.contains(&text.len());
    plain.then(|| text.parse().ok()).flatten()
}
