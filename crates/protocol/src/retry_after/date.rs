//! Moments as they stand in headers: `Sun, 06 Nov 1994 08:49:37 GMT`, `1994-11-06T08:49:37Z`.

const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/// The moment in milliseconds since 1970; none if it is before that, or no date.
pub(super) fn read(text: &str) -> Option<u64> {
    let seconds = words(text.trim()).or_else(|| digits(text.trim()))?;
    u64::try_from(seconds).ok()?.checked_mul(1000)
}

/// `Sun, 06 Nov 1994 08:49:37 GMT`; the day of the week may be missing or wrong, as nothing depends on it.
fn words(text: &str) -> Option<i64> {
    let text = text.split_once(',').map_or(text, |(_, rest)| rest);
    let mut parts = text.split_whitespace();
    let (day, month, year) = (parts.next()?, parts.next()?.to_ascii_lowercase(), parts.next()?);
    let month = MONTHS.iter().position(|name| *name == month)?;
    let (time, zone) = (parts.next()?, parts.next()?);
    if parts.next().is_some() {
        return None;
    }
    Some(days(whole(year)?, i64::try_from(month).ok()? + 1, whole(day)?)? + clock(time)? - offset(zone)?)
}

/// `1994-11-06T08:49:37Z`, with a fraction or an offset.
fn digits(text: &str) -> Option<i64> {
    let (date, time) = text.split_once(['T', 't', ' '])?;
    let mut parts = date.split('-');
    let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
    let end = time.find(['Z', 'z', '+', '-'])?;
    let (time, zone) = time.split_at_checked(end)?;
    // A wait ends a moment too late rather than too early.
    let (time, late) = time.split_once('.').map_or((time, 0), |(time, _)| (time, 1));
    Some(days(whole(year)?, whole(month)?, whole(day)?)? + clock(time)? - offset(zone)? + late)
}

/// The days from the first of March of the year 0 to the first of January 1970.
const EPOCH: i64 = 719_468;

/// The seconds from 1970 to the beginning of a day.
fn days(year: i64, month: i64, day: i64) -> Option<i64> {
    if !(1970..=9999).contains(&year) || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    // Years begin in March here, so that the odd day comes last.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 1;
    Some((days - EPOCH) * 86_400)
}

/// `08:49:37`.
fn clock(text: &str) -> Option<i64> {
    let mut parts = text.split(':').map(whole);
    let (hours, minutes, seconds) = (parts.next()??, parts.next()??, parts.next()??);
    let sane = hours < 24 && minutes < 60 && seconds <= 60 && parts.next().is_none();
    sane.then_some(hours * 3600 + minutes * 60 + seconds)
}

/// `GMT`, `Z`, `+01:00`, `-0500`.
fn offset(text: &str) -> Option<i64> {
    if ["gmt", "utc", "ut", "z"].contains(&text.to_ascii_lowercase().as_str()) {
        return Some(0);
    }
    let sign = if text.starts_with('-') { -1 } else { 1 };
    let number = text.strip_prefix(['+', '-'])?.replace(':', "");
    let number = whole(&number).filter(|_| number.len() == 4)?;
    Some(sign * (number / 100 * 3600 + number % 100 * 60))
}

fn whole(text: &str) -> Option<i64> {
    text.parse::<i64>().ok().filter(|number| *number >= 0 && !text.starts_with('+'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_read_in_every_form_and_nothing_else_is() {
        for (text, expected) in [
            ("Sun, 06 Nov 1994 08:49:37 GMT", Some(784_111_777)),
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
            ("1994-11-06", None),
            ("1994-13-06T08:49:37Z", None),
            ("1950-11-06T08:49:37Z", None),
            ("", None),
        ] {
            assert_eq!(read(text), expected.map(|seconds: u64| seconds * 1000), "{text}");
        }
    }
}
