//! Dates of the Gregorian calendar in UTC, as days since 1970.

/// Days from 1 March 0000, which begins the first era of 400 years, to 1 January 1970.
const EPOCH: i64 = 719_468;
const DAYS_OF_ERA: i64 = 146_097;

/// The days since 1970 of a date; `None` if there is no such day. Years from 0 to 9999.
pub fn days_since_epoch(year: i64, month: i64, day: i64) -> Option<i64> {
    if !(0..=9999).contains(&year) || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    // A year begins in March, so that a leap day is its last day.
    let shifted = if month <= 2 { year - 1 } else { year };
    let (era, year_of_era) = (shifted.div_euclid(400), shifted.rem_euclid(400));
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    let days = era * DAYS_OF_ERA + day_of_era - EPOCH;
    // A day that the month does not have is a day of the next month.
    (date_of_days(days) == (year, month, day)).then_some(days)
}

/// The year, the month and the day that many days after 1 January 1970.
pub fn date_of_days(days: i64) -> (i64, i64, i64) {
    let days = days + EPOCH;
    let (era, day_of_era) = (days.div_euclid(DAYS_OF_ERA), days.rem_euclid(DAYS_OF_ERA));
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

/// A time in milliseconds since 1970 as RFC 3339 writes it: `2026-11-17T08:22:09.123Z`. Beyond the years 0 to 9999 it is the number.
pub fn timestamp_text(at_ms: i64) -> String {
    let (days, ms) = (at_ms.div_euclid(86_400_000), at_ms.rem_euclid(86_400_000));
    let (year, month, day) = date_of_days(days);
    if !(0..=9999).contains(&year) {
        return at_ms.to_string();
    }
    let (hour, minute, second) = (ms / 3_600_000, ms / 60_000 % 60, ms / 1_000 % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{:03}Z", ms % 1_000)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_time_is_written_as_rfc_3339() {
        for (at_ms, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (-1, "1969-12-31T23:59:59.999Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (1_794_903_729_123, "2026-11-17T08:22:09.123Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
            (253_402_300_799_999, "9999-12-31T23:59:59.999Z"),
            (253_402_300_800_000, "253402300800000"),
            (i64::MIN, "-9223372036854775808"),
        ] {
            assert_eq!(timestamp_text(at_ms), text);
        }
    }

    #[test]
    fn a_day_that_a_month_does_not_have_is_refused() {
        for (date, is_day) in [
            ((2028, 2, 29), true),
            ((2100, 2, 29), false),
            ((2000, 2, 29), true),
            ((1994, 2, 31), false),
            ((1994, 4, 31), false),
            ((1994, 13, 1), false),
            ((1994, 1, 0), false),
        ] {
            assert_eq!(days_since_epoch(date.0, date.1, date.2).is_some(), is_day, "{date:?}");
        }
    }

    proptest! {
        #[test]
        fn every_day_has_one_date(days in -719_528_i64..2_932_897) {
            let (year, month, day) = date_of_days(days);
            prop_assert_eq!(days_since_epoch(year, month, day), Some(days));
        }
    }
}
