//! Moments as tools write them, in milliseconds since 1970.

/// The seconds of a day.
const DAY: i64 = 86_400;

const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/// `2026-01-31T10:00:00Z`, `2026-01-31 10:00:00.5+02:00`, `Wed, 21 Oct 2026 07:28:00 GMT`. Without a zone it is none.
pub(crate) fn moment_ms(text: &str) -> Option<i64> {
    let text = text.trim();
    iso(text).or_else(|| http(text))
}

fn iso(text: &str) -> Option<i64> {
    let (date, time) = text.split_once(['T', 't', ' '])?;
    let mut parts = date.splitn(3, '-');
    let (year, month, day) = (digits(parts.next()?)?, digits(parts.next()?)?, digits(parts.next()?)?);
    let zone_at = time.find(['Z', 'z', '+', '-'])?;
    let (clock, zone) = time.split_at_checked(zone_at)?;
    let (clock, fraction) = clock.trim().split_once('.').unwrap_or((clock.trim(), "0"));
    let millis: i64 = fraction.get(..fraction.len().min(3))?.parse().ok()?;
    let millis = millis * [100, 100, 10, 1].get(fraction.len().min(3))?;
    Some((seconds(year, month, day, clock)? - zone_seconds(zone)?) * 1_000 + millis)
}

/// The one date that HTTP still writes.
fn http(text: &str) -> Option<i64> {
    let (_, rest) = text.split_once(", ")?;
    let mut words = rest.split(' ');
    let day = digits(words.next()?)?;
    let name = words.next()?.to_ascii_lowercase();
    let month = MONTHS.iter().position(|month| *month == name)?;
    let (year, clock) = (digits(words.next()?)?, words.next()?);
    let is_utc = matches!(words.next(), Some("GMT" | "UTC"));
    let month = i64::try_from(month).ok()? + 1;
    is_utc.then(|| seconds(year, month, day, clock)).flatten().map(|seconds| seconds * 1_000)
}

fn seconds(year: i64, month: i64, day: i64, clock: &str) -> Option<i64> {
    let mut parts = clock.splitn(3, ':');
    let (hour, minute) = (digits(parts.next()?)?, digits(parts.next()?)?);
    let second = parts.next().map_or(Some(0), digits)?;
    let is_time = hour < 24 && minute < 60 && second <= 60;
    Some(days(year, month, day)? * DAY + hour * 3_600 + minute * 60 + second).filter(|_| is_time)
}

/// Days since the first of January 1970. Years begin in March, so that the odd day comes last.
fn days(year: i64, month: i64, day: i64) -> Option<i64> {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let length = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 => 28 + i64::from(leap),
        _ => return None,
    };
    if !(1..=9999).contains(&year) || !(1..=length).contains(&day) {
        return None;
    }
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    Some(365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 1 - 719_468)
}

fn zone_seconds(zone: &str) -> Option<i64> {
    let sign = match zone.chars().next()? {
        'Z' | 'z' => return (zone.len() == 1).then_some(0),
        '+' => 1,
        _ => -1,
    };
    let (hours, minutes) = zone.get(1..)?.split_once(':')?;
    Some(sign * (digits(hours)? * 3_600 + digits(minutes)? * 60))
}

fn digits(text: &str) -> Option<i64> {
    let plain = (1..=4).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    plain.then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_read_as_tools_write_it() {
        for (text, expected) in [
            ("1970-01-01T00:00:00Z", Some(0)),
            ("2026-01-31T10:00:00Z", Some(1_769_853_600_000)),
            ("2026-01-31T12:00:00+02:00", Some(1_769_853_600_000)),
            ("2026-01-31 10:00:00.25Z", Some(1_769_853_600_250)),
            ("Sun, 06 Nov 1994 08:49:37 GMT", Some(784_111_777_000)),
            ("2000-02-29T00:00:00Z", Some(951_782_400_000)),
            ("2026-02-29T00:00:00Z", None),
            ("2026-01-31T10:00:00", None),
            ("2026-01-31", None),
            ("tomorrow", None),
            ("", None),
        ] {
            assert_eq!(moment_ms(text), expected, "case: {text}");
        }
    }
}
