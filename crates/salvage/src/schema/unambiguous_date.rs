//! Dates in other notations than ISO 8601, as far as they can be read in one way only.

use reknit_protocol::{days_since_epoch, timestamp_text};

use super::parse_scalar::narrow_form;

/// A date that can be read in one way only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnambiguousDate {
    pub year: u16,
    /// The month, from 1.
    pub month: u8,
    /// The day of the month, from 1.
    pub day: u8,
}

const MONTHS: &str = "january february march april may june july august september october november december";

/// The months in German, Spanish, French, Italian, Dutch and Portuguese, where they differ from English.
const MONTHS_ELSEWHERE: [&str; 12] = [
    "januar enero janvier gennaio januari janeiro",
    "februar febrero février febbraio februari fevereiro",
    "märz marzo mars maart março",
    "abril avril aprile",
    "mai mayo maggio mei maio",
    "juni junio juin giugno junho",
    "juli julio juillet luglio julho",
    "agosto août augustus",
    "septiembre septembre settembre setembro",
    "oktober octubre octobre ottobre outubro",
    "noviembre novembre novembro",
    "dezember diciembre décembre dicembre dezembro",
];

const WEEKDAYS: &str = "sunday monday tuesday wednesday thursday friday saturday";

/// The years of which eight digits are taken for a date.
const YEARS_IN_DIGITS: std::ops::Range<u16> = 1900..2200;

impl UnambiguousDate {
    /// Parses `2026-3-5`, `2026/03/05`, `20260305`, `25/12/2026`, `March 5, 2026`, `5th of March 2026` or `Thu, 5 Mar 2026`.
    ///
    /// `None` if the text can be read in two ways, as `03/04/2026`, has a year of two digits, or is no date.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        if text.len() == 8 && text.bytes().all(|byte| byte.is_ascii_digit()) {
            return Self::from_digits(text);
        }
        let text = text.strip_suffix(['日', '일']).unwrap_or(text);
        let is_separator =
            |c: char| is_dash(c) || matches!(c, '_' | '/' | '.' | ' ' | ',' | '(' | ')' | '年' | '月' | '년' | '월');
        let text: String = text.chars().map(narrow_form).collect();
        let mut pieces: Vec<&str> = text.split(is_separator).filter(|piece| !piece.is_empty()).collect();
        let mut weekday = pieces.first().and_then(|first| position(WEEKDAYS, first));
        if weekday.is_some() {
            pieces.remove(0);
        } else if let Some(day) = pieces.last().and_then(|last| position(WEEKDAYS, last)) {
            // `2026-03-05 (Thursday)`
            weekday = Some(day);
            pieces.pop();
        }
        if pieces.first().is_some_and(|first| first.eq_ignore_ascii_case("the")) {
            pieces.remove(0);
        }
        // `5th of March 2026`, `5 de marzo de 2026`
        for at in [1, 2] {
            if pieces.get(at).is_some_and(|piece| ["of", "de", "del"].contains(&piece.to_ascii_lowercase().as_str())) {
                pieces.remove(at);
            }
        }
        let [first, second, third] = pieces.as_slice() else { return None };
        let (year, month, day) = if let Some(year) = year(first) {
            (year, month_name(second).or_else(|| number(second))?, number(third)?)
        } else {
            let year = year(third)?;
            match (month_name(first), month_name(second)) {
                (Some(month), None) => (year, month, day_of_month(second)?),
                (None, Some(month)) => (year, month, day_of_month(first)?),
                _ => match (number(first)?, number(second)?) {
                    (day, month) if day > 12 || day == month => (year, month, day),
                    (month, day) if day > 12 => (year, month, day),
                    _ => return None,
                },
            }
        };
        let date = Self { year, month, day };
        // The first day of 1970 was a Thursday.
        let day_of_week = usize::try_from((date.days()? + 4).rem_euclid(7)).ok();
        (weekday.is_none() || weekday == day_of_week).then_some(date)
    }

    fn from_digits(text: &str) -> Option<Self> {
        let year = text.get(..4)?.parse().ok().filter(|year| YEARS_IN_DIGITS.contains(year))?;
        let date = Self { year, month: text.get(4..6)?.parse().ok()?, day: text.get(6..)?.parse().ok()? };
        date.days().map(|_| date)
    }

    /// The days since 1970; `None` if the calendar has no such day.
    fn days(self) -> Option<i64> {
        days_since_epoch(self.year.into(), self.month.into(), self.day.into())
    }
}

impl std::fmt::Display for UnambiguousDate {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

/// The text as the format asks for; `None` if it can be read in several ways, or if the format is neither `date` nor
/// `date-time`.
pub(crate) fn in_format(text: &str, format: &str) -> Option<String> {
    match format {
        "date" => date_without_time(text).map(|date| date.to_string()).or_else(|| of_epoch(text, format)),
        "date-time" => date_and_time(text).or_else(|| of_epoch(text, format)),
        _ => None,
    }
}

/// The time of ten digits as seconds since 1970, or of thirteen as milliseconds. A time of day is not dropped.
fn of_epoch(text: &str, format: &str) -> Option<String> {
    const DAY_MS: i64 = 86_400_000;
    let digits = text.trim();
    let is_epoch = digits.starts_with(|c: char| matches!(c, '1'..='9')) && digits.bytes().all(|c| c.is_ascii_digit());
    let factor = match digits.len() {
        10 => 1_000,
        13 => 1,
        _ => return None,
    };
    let at_ms = digits.parse::<i64>().ok().filter(|_| is_epoch)? * factor;
    let written = timestamp_text(at_ms);
    match format {
        "date" if at_ms % DAY_MS == 0 => written.get(..10).map(str::to_owned),
        "date" => None,
        _ => Some(written.replace(".000Z", "Z")),
    }
}

/// Whether a text names one day of the calendar, or the format is none of dates. A date with a time of day where none is asked for,
/// and a time without an offset, are dates that most services read.
pub(crate) fn is_readable(text: &str, format: &str) -> bool {
    !is_date_format(format) || begins_with_date(text) || in_format(text, format).is_some()
}

/// Whether the format is one of dates, which a number does not have.
pub(crate) fn is_date_format(format: &str) -> bool {
    matches!(format, "date" | "date-time")
}

/// Whether a text is a date of ISO 8601 that the calendar has, perhaps with a time of day behind it.
fn begins_with_date(text: &str) -> bool {
    let (date, rest) = text.split_at_checked(10).unwrap_or((text, ""));
    let time = rest.strip_prefix(['T', 't', ' ']);
    let is_iso = date.len() == 10 && date.split('-').map(str::len).eq([4, 2, 2]);
    is_iso && UnambiguousDate::parse(date).is_some() && (rest.is_empty() || time.is_some_and(begins_with_clock))
}

fn begins_with_clock(text: &str) -> bool {
    let end = text.find(|c: char| !c.is_ascii_digit() && !matches!(c, ':' | '.')).unwrap_or(text.len());
    text.get(..end).and_then(clock_time).is_some()
}

/// The date of a text without a time. Midnight can be dropped; any other time would be lost.
fn date_without_time(text: &str) -> Option<UnambiguousDate> {
    let text = text.trim();
    UnambiguousDate::parse(without_midnight(text).unwrap_or(text))
}

/// The date before `T00:00:00.000Z`, ` 00:00` or ` 00:00:00 GMT`.
fn without_midnight(text: &str) -> Option<&str> {
    let (date, time) = text.split_at_checked(text.find("00:00").filter(|at| *at > 0)?)?;
    let date = date.strip_suffix(['T', 't', ' '])?;
    let end = time.find(|c: char| !matches!(c, '0' | ':' | '.')).unwrap_or(time.len());
    let (clock, offset) = time.split_at(end);
    let offset = offset.trim();
    let is_utc = offset.is_empty() || matches!(offset_of(offset).as_deref(), Some("Z" | "+00:00"));
    (clock_time(clock).is_some() && is_utc).then_some(date)
}

/// A date with a time and an offset. An offset is never added, because nobody knows which one is meant.
fn date_and_time(text: &str) -> Option<String> {
    let text = text.trim();
    // `2026-03-05T10:30:00Z[UTC]`, as Java writes it.
    let text = text.strip_suffix(']').and_then(|rest| rest.rsplit_once('[')).map_or(text, |(time, _)| time);
    if let Some(compact) = compact_time(text) {
        return Some(compact);
    }
    let colon = text.find(':')?;
    let hour = text.get(..colon)?.trim_end_matches(|c: char| c.is_ascii_digit());
    let (date, time) = text.split_at(hour.len());
    let date = date.strip_suffix(['T', 't']).unwrap_or(date).trim_end_matches([' ', ',']);
    let date = UnambiguousDate::parse(date.strip_suffix(" at").unwrap_or(date))?;
    let end = time.find(|c: char| !c.is_ascii_digit() && !matches!(c, ':' | '.')).unwrap_or(time.len());
    let (clock, offset) = time.split_at(end);
    let offset = offset.trim();
    let (clock, offset) = match meridiem(offset) {
        Some((is_afternoon, offset)) => (clock_of_half(&clock_time(clock)?, is_afternoon)?, offset),
        None => (clock_time(clock)?, offset),
    };
    Some(format!("{date}T{clock}{}", offset_of(offset)?))
}

/// `20260305T103000Z`
fn compact_time(text: &str) -> Option<String> {
    let (date, time) = text.split_once('T').filter(|(date, _)| date.len() == 8)?;
    let date = UnambiguousDate::parse(date)?;
    let (clock, offset) =
        time.split_at_checked(6).filter(|(clock, _)| clock.bytes().all(|byte| byte.is_ascii_digit()))?;
    let clock = format!("{}:{}:{}", &clock[..2], &clock[2..4], &clock[4..]);
    Some(format!("{date}T{}{}", clock_time(&clock)?, offset_of(offset)?))
}

/// Whether a time is in the afternoon, if a word behind it says so, and what follows the word.
fn meridiem(text: &str) -> Option<(bool, &str)> {
    let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
    let is_afternoon = match word.to_ascii_lowercase().as_str() {
        "am" | "a.m." => false,
        "pm" | "p.m." => true,
        _ => return None,
    };
    Some((is_afternoon, rest.trim()))
}

/// The time of a clock of twelve hours.
fn clock_of_half(clock: &str, is_afternoon: bool) -> Option<String> {
    let (hour, rest) = clock.split_once(':')?;
    let hour = hour.parse::<u8>().ok().filter(|hour| (1..=12).contains(hour))?;
    let hour = hour % 12 + if is_afternoon { 12 } else { 0 };
    Some(format!("{hour:02}:{rest}"))
}

/// `10:30`, `9:05:07` or `10:30:00.25` with hours of two digits and with seconds.
fn clock_time(text: &str) -> Option<String> {
    let mut parts = text.split(':');
    let (hours, minutes) = (parts.next()?, parts.next()?);
    let seconds = parts.next().unwrap_or("00");
    let has_two_digits = |part: &str| part.split('.').next().is_some_and(|whole| whole.len() == 2);
    let is_valid = matches!(hours.len(), 1 | 2) && has_two_digits(minutes) && has_two_digits(seconds);
    (is_valid && parts.next().is_none() && !minutes.contains('.')).then(|| format!("{hours:0>2}:{minutes}:{seconds}"))
}

/// `Z`, `UTC`, `GMT`, `+01:00`, `+0100` or `+01` as ISO 8601 writes it.
fn offset_of(text: &str) -> Option<String> {
    if ["z", "utc", "gmt"].iter().any(|name| name.eq_ignore_ascii_case(text)) {
        return Some("Z".to_owned());
    }
    let (sign, digits) = text.split_at_checked(1).filter(|(sign, _)| matches!(*sign, "+" | "-"))?;
    let digits = digits.replacen(':', "", 1);
    let are_digits = matches!(digits.len(), 2 | 4) && digits.bytes().all(|byte| byte.is_ascii_digit());
    let minutes = digits.get(2..4).unwrap_or("00");
    are_digits.then(|| format!("{sign}{}:{minutes}", digits.get(..2).unwrap_or_default()))
}

fn is_dash(c: char) -> bool {
    matches!(c, '-' | '\u{2010}'..='\u{2015}' | '\u{2212}')
}

fn year(text: &str) -> Option<u16> {
    text.parse().ok().filter(|_| text.len() == 4)
}

fn number(text: &str) -> Option<u8> {
    text.parse().ok().filter(|_| matches!(text.len(), 1 | 2))
}

/// `5` or `5th`.
fn day_of_month(text: &str) -> Option<u8> {
    let lower = text.to_ascii_lowercase();
    number(["st", "nd", "rd", "th"].iter().find_map(|ending| lower.strip_suffix(ending)).unwrap_or(&lower))
}

fn month_name(text: &str) -> Option<u8> {
    let lower = text.to_lowercase();
    let elsewhere = || MONTHS_ELSEWHERE.iter().position(|names| names.split(' ').any(|name| name == lower));
    position(MONTHS, text).or_else(elsewhere).and_then(|index| u8::try_from(index + 1).ok())
}

/// The index of the name of which the text is at least three letters.
fn position(names: &str, text: &str) -> Option<usize> {
    let text = text.to_ascii_lowercase();
    names.split(' ').position(|name| text.len() >= 3 && name.starts_with(&text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_is_parsed_if_there_is_one_way_to_read_it() {
        for (text, expected) in [
            ("2026-03-05", Some("2026-03-05")),
            ("2026-3-5", Some("2026-03-05")),
            ("2026/03/05", Some("2026-03-05")),
            ("2026.03.05", Some("2026-03-05")),
            ("20260305", Some("2026-03-05")),
            ("March 5, 2026", Some("2026-03-05")),
            ("Mar 5th 2026", Some("2026-03-05")),
            ("5 Mar 2026", Some("2026-03-05")),
            ("5th of March, 2026", Some("2026-03-05")),
            ("05-Mar-2026", Some("2026-03-05")),
            ("5. März 2026", Some("2026-03-05")),
            ("5 de marzo de 2026", Some("2026-03-05")),
            ("2026年3月5日", Some("2026-03-05")),
            ("Thursday, March 5, 2026", Some("2026-03-05")),
            ("2026-03-05 (Thursday)", Some("2026-03-05")),
            ("2026-03-05 (Friday)", None),
            ("2026_03_05", Some("2026-03-05")),
            ("２０２６-０３-０５", Some("2026-03-05")),
            ("2026–03–05", Some("2026-03-05")),
            ("the 5th of March, 2026", Some("2026-03-05")),
            ("Friday, March 5, 2026", None),
            ("25/12/2026", Some("2026-12-25")),
            ("12/25/2026", Some("2026-12-25")),
            ("25.12.2026", Some("2026-12-25")),
            ("04/04/2026", Some("2026-04-04")),
            ("29 Feb 2028", Some("2028-02-29")),
            ("03/04/2026", None),
            ("3-4-2026", None),
            ("25/12/26", None),
            ("30 Feb 2026", None),
            ("31/04/2026", None),
            ("2026-13-01", None),
            ("25122026", None),
            ("1772668800", None),
            ("next friday", None),
            ("March 2026", None),
            ("", None),
        ] {
            let parsed = UnambiguousDate::parse(text).map(|date| date.to_string());
            assert_eq!(parsed.as_deref(), expected, "case: {text}");
        }
    }

    #[test]
    fn a_time_is_written_with_the_offset_that_it_has() {
        for (text, expected) in [
            ("2026-03-05 10:30:00Z", Some("2026-03-05T10:30:00Z")),
            ("2026-03-05T10:30Z", Some("2026-03-05T10:30:00Z")),
            ("2026-03-05T10:30:00+0100", Some("2026-03-05T10:30:00+01:00")),
            ("March 5, 2026 at 9:05:07.25 UTC", Some("2026-03-05T09:05:07.25Z")),
            ("Thu, 05 Mar 2026 10:30:00 +0000", Some("2026-03-05T10:30:00+00:00")),
            ("25/12/2026 10:30 GMT", Some("2026-12-25T10:30:00Z")),
            ("2026-03-05 10:30:00", None),
            ("2026-03-05T10:30:00", None),
            ("03/04/2026 10:30:00Z", None),
            ("1772700000", Some("2026-03-05T08:40:00Z")),
            ("1772700000250", Some("2026-03-05T08:40:00.250Z")),
            ("2026-03-05", None),
            ("10:30:00Z", None),
            ("2026-03-05 10:30 PM UTC", Some("2026-03-05T22:30:00Z")),
            ("2026-03-05 12:05 AM UTC", Some("2026-03-05T00:05:00Z")),
            ("2026-03-05 10:30 PM", None),
            ("2026-03-05 13:30 PM UTC", None),
            ("20260305T103000Z", Some("2026-03-05T10:30:00Z")),
            ("20260305T103000", None),
            ("2026-03-05T10:30:00Z[UTC]", Some("2026-03-05T10:30:00Z")),
            ("2026-03-05 10:3 UTC", None),
            ("2026-03-05 10:30:00 Europe/Paris", None),
        ] {
            assert_eq!(in_format(text, "date-time").as_deref(), expected, "case: {text}");
        }
    }

    #[test]
    fn a_date_loses_no_time_but_midnight() {
        for midnight in ["T00:00:00Z", "T00:00:00.000Z", "T00:00:00+00:00", " 00:00", "T00:00:00", " 00:00:00 GMT"] {
            let text = format!("2026-03-05{midnight}");
            assert_eq!(in_format(&text, "date").as_deref(), Some("2026-03-05"), "case: {text}");
        }
        assert_eq!(in_format("2026-03-05T00:00:00+02:00", "date"), None);
        assert_eq!(in_format("2026-03-05T00:00:01Z", "date"), None);
        assert_eq!(in_format("2026-03-05T10:00:00Z", "date"), None);
        assert_eq!(in_format("March 5, 2026", "time"), None);
        assert_eq!(in_format("1772668800", "date").as_deref(), Some("2026-03-05"));
        assert_eq!(in_format("1772700000", "date"), None);
    }
}
