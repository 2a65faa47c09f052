//! The Gregorian calendar, as a count of days.

/// The seconds of a day.
pub(super) const DAY: i64 = 86_400;

/// The days of 400 years, after which the calendar repeats.
const CYCLE: i64 = 146_097;

/// A day of the calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Day {
    pub(super) year: i64,
    pub(super) month: i64,
    pub(super) date: i64,
}

impl Day {
    /// `None` if the calendar has no such day.
    pub(super) fn new(year: i64, month: i64, date: i64) -> Option<Self> {
        let exists =
            (1..=9999).contains(&year) && (1..=12).contains(&month) && (1..=month_length(year, month)).contains(&date);
        exists.then_some(Self { year, month, date })
    }

    /// Days since the first of March of the year 0. Years begin in March here, so that the odd day comes last.
    pub(super) fn count(self) -> i64 {
        let (year, month) = if self.month > 2 { (self.year, self.month - 3) } else { (self.year - 1, self.month + 9) };
        365 * year + year / 4 - year / 100 + year / 400 + days_before(month) + self.date - 1
    }

    /// The day with this count.
    pub(super) fn from_count(count: i64) -> Option<Self> {
        let (cycle, left) = (count.div_euclid(CYCLE), count.rem_euclid(CYCLE));
        // Leap days shorten the rest: take them out before dividing.
        let year_of_cycle = (left - left / 1460 + left / 36_524 - left / 146_096) / 365;
        let day_of_year = left - (365 * year_of_cycle + year_of_cycle / 4 - year_of_cycle / 100);
        let month = (0..12).rev().find(|month| days_before(*month) <= day_of_year)?;
        let year = cycle * 400 + year_of_cycle;
        let (year, calendar_month) = if month < 10 { (year, month + 3) } else { (year + 1, month - 9) };
        Self::new(year, calendar_month, day_of_year - days_before(month) + 1)
    }

    /// The same day of another month, or the last one of it if that is shorter.
    pub(super) fn plus_months(self, months: i64) -> Option<Self> {
        let total = (self.year * 12 + self.month - 1).checked_add(months)?;
        let (year, month) = (total.div_euclid(12), total.rem_euclid(12) + 1);
        Self::new(year, month, self.date.min(month_length(year, month)))
    }
}

/// The days of a year before one of its months, counted from March.
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
    fn every_day_of_the_calendar_has_its_count() {
        let mut count = Day::new(1, 1, 1).expect("it exists").count();
        for year in 1..=9999 {
            for month in 1..=12 {
                for day in [1, 28, month_length(year, month)] {
                    let day = Day::new(year, month, day).expect("it exists");
                    assert_eq!(Day::from_count(day.count()), Some(day));
                }
                assert_eq!(Day::new(year, month, 1).expect("it exists").count(), count);
                count += month_length(year, month);
            }
        }
    }
}
