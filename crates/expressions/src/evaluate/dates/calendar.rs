//! Dates of the Gregorian calendar.

pub(super) const SECONDS_PER_DAY: i64 = 86_400;

/// The number of days in 400 years, after which the calendar repeats.
const DAYS_PER_CYCLE: i64 = 146_097;

/// A calendar date of the years 1 to 9999.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Date {
    pub(super) year: i64,
    pub(super) month: i64,
    pub(super) day: i64,
}

impl Date {
    /// `None` if the date does not exist.
    pub(super) fn new(year: i64, month: i64, day: i64) -> Option<Self> {
        let exists =
            (1..=9999).contains(&year) && (1..=12).contains(&month) && (1..=month_length(year, month)).contains(&day);
        exists.then_some(Self { year, month, day })
    }

    /// The number of days since March 1 of the year 0. Years start in March here, so that the leap day comes last.
    pub(super) fn day_number(self) -> i64 {
        let (year, month) = if self.month > 2 { (self.year, self.month - 3) } else { (self.year - 1, self.month + 9) };
        365 * year + year / 4 - year / 100 + year / 400 + days_before(month) + self.day - 1
    }

    /// The date with this day number.
    pub(super) fn from_day_number(number: i64) -> Option<Self> {
        let (cycle, day_of_cycle) = (number.div_euclid(DAYS_PER_CYCLE), number.rem_euclid(DAYS_PER_CYCLE));
        // Subtracts the leap days, so that every year has 365 days.
        let without_leap_days = day_of_cycle - day_of_cycle / 1460 + day_of_cycle / 36_524 - day_of_cycle / 146_096;
        let year_of_cycle = without_leap_days / 365;
        let day_of_year = day_of_cycle - (365 * year_of_cycle + year_of_cycle / 4 - year_of_cycle / 100);
        let month = (0..12).rev().find(|month| days_before(*month) <= day_of_year)?;
        let year = cycle * 400 + year_of_cycle;
        let (year, calendar_month) = if month < 10 { (year, month + 3) } else { (year + 1, month - 9) };
        Self::new(year, calendar_month, day_of_year - days_before(month) + 1)
    }

    /// The same day of another month, or its last day if that month is shorter.
    pub(super) fn plus_months(self, months: i64) -> Option<Self> {
        let total = (self.year * 12 + self.month - 1).checked_add(months)?;
        let (year, month) = (total.div_euclid(12), total.rem_euclid(12) + 1);
        Self::new(year, month, self.day.min(month_length(year, month)))
    }
}

/// The number of days before a month, in a year that starts in March.
fn days_before(month: i64) -> i64 {
    (153 * month + 2) / 5
}

fn month_length(year: i64, month: i64) -> i64 {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        2 => 28 + i64::from(leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn day_numbers_are_consecutive_and_convert_back_to_the_same_date() {
        let mut number = Date::new(1, 1, 1).expect("the date exists").day_number();
        for year in 1..=9999 {
            for month in 1..=12 {
                for day in [1, 28, month_length(year, month)] {
                    let date = Date::new(year, month, day).expect("the date exists");
                    assert_eq!(Date::from_day_number(date.day_number()), Some(date));
                }
                assert_eq!(Date::new(year, month, 1).expect("the date exists").day_number(), number);
                number += month_length(year, month);
            }
        }
    }
}
