//! Dates in headers: HTTP dates, mail dates such as `06 Nov 1994 09:49:37 +0100`, and RFC 3339 timestamps.

use std::time::UNIX_EPOCH;

const WEEKDAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// Parses a date to milliseconds since 1970; `None` if it is earlier or the text is not a date.
pub(super) fn parse(text: &str) -> Option<u64> {
    let seconds = http_date(text).or_else(|| mail_date(text)).or_else(|| timestamp(text.trim()))?;
    u64::try_from(seconds).ok()?.checked_mul(1000)
}

/// An HTTP date in any of its three formats, in seconds since 1970.
fn http_date(text: &str) -> Option<i64> {
    let since_epoch = httpdate::parse_http_date(text).ok()?.duration_since(UNIX_EPOCH).ok()?;
    i64::try_from(since_epoch.as_secs()).ok()
}

/// `Sun, 06 Nov 1994 09:49:37 +0100`; the day of the week may be missing or wrong.
fn mail_date(text: &str) -> Option<i64> {
    let text = text.split_once(',').map_or(text, |(_, rest)| rest);
    let [day, month, year, clock, zone] = *text.split_whitespace().collect::<Vec<_>>().as_slice() else { return None };
    let month = MONTHS.iter().find(|name| name.eq_ignore_ascii_case(month))?;
    Some(utc(year, month, day, clock)? - offset(zone)?)
}

/// `1994-11-06T08:49:37Z`, with an optional fraction, and with `Z` or an offset.
fn timestamp(text: &str) -> Option<i64> {
    let (date, time) = text.split_once(['T', 't', ' '])?;
    let [year, month, day] = *date.split('-').collect::<Vec<_>>().as_slice() else { return None };
    let month = MONTHS.get(month.parse::<usize>().ok()?.checked_sub(1)?)?;
    let (clock, zone) = time.split_at_checked(time.find(['Z', 'z', '+', '-'])?)?;
    // A fraction counts as a full second: a wait that ends too late is better than one that ends too early.
    let (clock, fraction) = clock.split_once('.').map_or((clock, 0), |(clock, _)| (clock, 1));
    Some(utc(year, month, day, clock)? - offset(zone)? + fraction)
}

/// The seconds since 1970 of a date in UTC. Tries every day of the week, because an HTTP date needs the right one.
fn utc(year: &str, month: &str, day: &str, clock: &str) -> Option<i64> {
    WEEKDAYS.iter().find_map(|weekday| http_date(&format!("{weekday}, {day:0>2} {month} {year} {clock:0>8} GMT")))
}

/// The offset from UTC in seconds: `GMT`, `Z`, `+01:00`, `-0500`.
fn offset(zone: &str) -> Option<i64> {
    if ["gmt", "utc", "ut", "z"].contains(&zone.to_ascii_lowercase().as_str()) {
        return Some(0);
    }
    let sign = if zone.starts_with('-') { -1 } else { 1 };
    let digits = zone.strip_prefix(['+', '-'])?.replace(':', "");
    let is_valid = digits.len() == 4 && digits.bytes().all(|byte| byte.is_ascii_digit());
    let number = digits.parse::<i64>().ok().filter(|_| is_valid)?;
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
            ("Tue, 29 Feb 2028 00:00:00 GMT", Some(1_835_395_200)),
            ("2100-03-01T00:00:00Z", Some(4_107_542_400)),
            ("Sun, 06 Nov 1994 08:49:37", None),
            ("Sun, 06 Nov 1994 25:49:37 GMT", None),
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
