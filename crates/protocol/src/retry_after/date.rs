//! Dates in headers: HTTP dates, mail dates such as `06 Nov 1994 09:49:37 +0100`, and RFC 3339 timestamps.

use crate::civil_date::days_since_epoch;

const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// Parses a date to milliseconds since 1970; `None` if it is earlier or the text is not a date.
pub(super) fn parse(text: &str) -> Option<u64> {
    let seconds = mail_date(text).or_else(|| old_date(text)).or_else(|| timestamp(text.trim()))?;
    u64::try_from(seconds).ok()?.checked_mul(1000)
}

/// `Sun, 06 Nov 1994 09:49:37 +0100`, which is also the form of an HTTP date; the day of the week may be missing or wrong.
fn mail_date(text: &str) -> Option<i64> {
    let text = text.split_once(',').map_or(text, |(_, rest)| rest);
    let [day, month, year, clock, zone] = *text.split_whitespace().collect::<Vec<_>>().as_slice() else { return None };
    Some(utc(year, month_number(month)?, day, clock)? - offset(zone)?)
}

/// The two older forms of an HTTP date: `Sunday, 06-Nov-94 08:49:37 GMT` and `Sun Nov  6 08:49:37 1994`.
fn old_date(text: &str) -> Option<i64> {
    match *text.split_whitespace().collect::<Vec<_>>().as_slice() {
        [_, date, clock, zone] => {
            let [day, month, year] = *date.split('-').collect::<Vec<_>>().as_slice() else { return None };
            let year: i64 = year.parse().ok().filter(|_| year.len() == 2)?;
            // Two digits are a year from 1970 to 2069.
            let year = if year < 70 { year + 2000 } else { year + 1900 };
            Some(utc(&year.to_string(), month_number(month)?, day, clock)? - offset(zone)?)
        }
        [_, month, day, clock, year] => utc(year, month_number(month)?, day, clock),
        _ => None,
    }
}

fn month_number(name: &str) -> Option<i64> {
    let place = MONTHS.iter().position(|known| known.eq_ignore_ascii_case(name))?;
    i64::try_from(place + 1).ok()
}

/// `1994-11-06T08:49:37Z`, with an optional fraction, and with `Z` or an offset.
fn timestamp(text: &str) -> Option<i64> {
    let (date, time) = text.split_once(['T', 't', ' '])?;
    let [year, month, day] = *date.split('-').collect::<Vec<_>>().as_slice() else { return None };
    let (clock, zone) = time.split_at_checked(time.find(['Z', 'z', '+', '-'])?)?;
    // A fraction counts as a full second: a wait that ends too late is better than one that ends too early.
    let (clock, fraction) = clock.split_once('.').map_or((clock, 0), |(clock, _)| (clock, 1));
    Some(utc(year, digits(month)?, day, clock)? - offset(zone)? + fraction)
}

/// The seconds since 1970 of a date in UTC.
fn utc(year: &str, month: i64, day: &str, clock: &str) -> Option<i64> {
    let days = days_since_epoch(digits(year).filter(|_| year.len() == 4)?, month, digits(day)?)?;
    let [hour, minute, second] = *clock.split(':').collect::<Vec<_>>().as_slice() else { return None };
    let (hour, minute, second) = (digits(hour)?, digits(minute)?, digits(second)?);
    // A leap second is the first second of the next minute.
    let is_time = hour < 24 && minute < 60 && second <= 60;
    is_time.then_some(((days * 24 + hour) * 60 + minute) * 60 + second)
}

/// A number of at most four digits, without a sign.
fn digits(text: &str) -> Option<i64> {
    let is_number = (1..=4).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| is_number)
}

/// The offset from UTC in seconds: `GMT`, `Z`, `+01:00`, `-0500`.
fn offset(zone: &str) -> Option<i64> {
    if ["gmt", "utc", "ut", "z"].contains(&zone.to_ascii_lowercase().as_str()) {
        return Some(0);
    }
    let sign = if zone.starts_with('-') { -1 } else { 1 };
    let written = zone.strip_prefix(['+', '-'])?.replace(':', "");
    let number = digits(&written).filter(|_| written.len() == 4)?;
    Some(sign * (number / 100 * 3600 + number % 100 * 60))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_parsed_in_every_form_and_other_text_is_refused() {
        for (text, expected) in [
            ("Sun, 06 Nov 1994 08:49:37 GMT", Some(784_111_777)),
            ("Sunday, 06-Nov-94 08:49:37 GMT", Some(784_111_777)),
            ("Sun Nov  6 08:49:37 1994", Some(784_111_777)),
            ("Mon, 06 Nov 1994 08:49:37 GMT", Some(784_111_777)),
            ("06 Nov 1994 08:49:37 UTC", Some(784_111_777)),
            ("Sun, 06 Nov 1994 09:49:37 +0100", Some(784_111_777)),
            ("1994-11-06T08:49:37Z", Some(784_111_777)),
            ("1994-11-06t08:49:36.5z", Some(784_111_777)),
            ("1994-11-06T03:49:37-05:00", Some(784_111_777)),
            ("Thu, 01 Jan 1970 00:00:00 GMT", Some(0)),
            ("Sunday, 06-Nov-33 08:49:37 GMT", Some(2_014_879_777)),
            ("Tue, 29 Feb 2028 00:00:00 GMT", Some(1_835_395_200)),
            ("2100-03-01T00:00:00Z", Some(4_107_542_400)),
            ("Sun, 06 Nov 1994 08:49:37", None),
            ("Sun, 06 Nov 1994 25:49:37 GMT", None),
            ("Sun, 06 Nov 1994 08:60:37 GMT", None),
            ("Sun, 06 Nov 94 08:49:37 GMT", None),
            ("Sun, 06 Nov 1994 +8:49:37 GMT", None),
            ("Sun, 06 Nox 1994 08:49:37 GMT", None),
            ("Sun, 31 Feb 1994 08:49:37 GMT", None),
            ("1994-11-06", None),
            ("1994-13-06T08:49:37Z", None),
            ("1950-11-06T08:49:37Z", None),
            ("", None),
        ] {
            assert_eq!(parse(text), expected.map(|seconds: u64| seconds * 1000), "{text}");
        }
    }
}
