//! How long a server asks to be left alone, in whichever way it says so.

mod date;
mod length;

/// How long a server asks to be left alone, and where it says so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RetryAfter {
    /// How long.
    pub ms: u64,
    /// The header, or the place in the body.
    pub origin: String,
}

/// What a bare number means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unit {
    Seconds,
    Millis,
}

/// The headers that ask for a wait, in lower case.
const HEADERS: &[(&str, Unit)] = &[
    ("retry-after", Unit::Seconds),
    ("retry-after-ms", Unit::Millis),
    ("x-ms-retry-after-ms", Unit::Millis),
    ("x-retry-after", Unit::Seconds),
    ("ratelimit-reset", Unit::Seconds),
    ("x-ratelimit-retry-after", Unit::Seconds),
    ("x-ratelimit-reset", Unit::Seconds),
    ("x-ratelimit-reset-requests", Unit::Seconds),
    ("x-ratelimit-reset-tokens", Unit::Seconds),
    ("anthropic-ratelimit-requests-reset", Unit::Seconds),
    ("anthropic-ratelimit-tokens-reset", Unit::Seconds),
    ("anthropic-ratelimit-input-tokens-reset", Unit::Seconds),
    ("anthropic-ratelimit-output-tokens-reset", Unit::Seconds),
];

impl RetryAfter {
    /// The longest wait that the headers ask for. `now_ms` is the time in milliseconds since 1970.
    ///
    /// A wait may be a number of seconds or milliseconds, a length such as `6m0s`, a moment in seconds or milliseconds
    /// since 1970, or a date. Dates are held against the server's own `date` where it shows one, so that a wrong clock
    /// here or there does no harm; a moment that has passed asks for no wait. What cannot be read asks for nothing.
    ///
    /// ```
    /// use reknit_protocol::RetryAfter;
    ///
    /// let headers = |name: &str| match name {
    ///     "retry-after" => Some("20"),
    ///     "x-ratelimit-reset-tokens" => Some("6m0s"),
    ///     _ => None,
    /// };
    /// let asked = RetryAfter::from_headers(headers, 0).unwrap();
    /// assert_eq!((asked.ms, asked.origin.as_str()), (360_000, "x-ratelimit-reset-tokens"));
    /// ```
    pub fn from_headers<'a>(header: impl Fn(&str) -> Option<&'a str>, now_ms: u64) -> Option<Self> {
        let now_ms = header("date").and_then(date::read).unwrap_or(now_ms);
        let waits = HEADERS.iter().filter_map(|(name, unit)| {
            let ms = wait(header(name)?, *unit, now_ms)?;
            Some(Self { ms, origin: (*name).to_owned() })
        });
        Self::longest(waits)
    }

    /// The wait in a text that stands somewhere else; a bare number is in seconds.
    pub fn from_text(text: &str, origin: impl Into<String>, now_ms: u64) -> Option<Self> {
        wait(text, Unit::Seconds, now_ms).map(|ms| Self { ms, origin: origin.into() })
    }

    /// The longest of several; the first of those that are alike.
    pub fn longest(waits: impl IntoIterator<Item = Self>) -> Option<Self> {
        waits.into_iter().reduce(|longest, next| if next.ms > longest.ms { next } else { longest })
    }
}

/// A bare number from here on is a moment: a wait of thirty years makes no sense.
const FIRST_MOMENT: f64 = 1e9;
/// A moment from here on is in milliseconds: in seconds it would be in thirty thousand years.
const FIRST_MOMENT_IN_MILLIS: f64 = 1e12;

fn wait(text: &str, unit: Unit, now_ms: u64) -> Option<u64> {
    let text = text.trim();
    let Some(number) = length::number(text) else {
        return length::read(text).or_else(|| date::read(text).map(|moment| moment.saturating_sub(now_ms)));
    };
    if number < FIRST_MOMENT {
        return Some(length::whole_millis(number * if unit == Unit::Seconds { 1000.0 } else { 1.0 }));
    }
    let moment = length::whole_millis(if number < FIRST_MOMENT_IN_MILLIS { number * 1000.0 } else { number });
    Some(moment.saturating_sub(now_ms))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sun, 06 Nov 1994 08:49:30 GMT.
    const NOW: u64 = 784_111_770_000;

    fn ask(headers: &[(&'static str, &'static str)]) -> Option<(u64, String)> {
        let found = |name: &str| headers.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
        RetryAfter::from_headers(found, NOW).map(|asked| (asked.ms, asked.origin))
    }

    #[test]
    fn the_wait_is_read_in_every_form() {
        for (name, text, expected) in [
            ("retry-after", "2", Some(2_000)),
            ("retry-after", " 1.5 ", Some(1_500)),
            ("retry-after", "0", Some(0)),
            ("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT", Some(7_000)),
            ("retry-after", "Sun, 06 Nov 1994 08:00:00 GMT", Some(0)),
            // A moment before 2001 is a number of seconds like any other.
            ("retry-after", "784111800", Some(784_111_800_000)),
            ("retry-after", "1994-11-06T08:49:37Z", Some(7_000)),
            ("retry-after", "6m0s", Some(360_000)),
            ("retry-after-ms", "250", Some(250)),
            ("retry-after-ms", "250.2", Some(251)),
            ("x-ratelimit-reset-requests", "2m59.56s", Some(179_560)),
            ("x-ratelimit-reset-tokens", "20ms", Some(20)),
            ("x-ratelimit-reset", "60", Some(60_000)),
            ("anthropic-ratelimit-tokens-reset", "1994-11-06T09:49:30+00:30", Some(1_800_000)),
            ("retry-after", "soon", None),
            ("retry-after", "-1", None),
            ("retry-after", "inf", None),
            ("retry-after", "NaN", None),
            ("retry-after", "", None),
            ("x-something", "5", None),
        ] {
            assert_eq!(ask(&[(name, text)]).map(|(ms, _)| ms), expected, "{name}: {text}");
        }
    }

    #[test]
    fn a_moment_since_1970_is_no_number_of_seconds() {
        let now = 1_700_000_000_000;
        for text in ["1700000007", "1700000007000", "1700000007.0"] {
            assert_eq!(RetryAfter::from_text(text, "x", now).map(|asked| asked.ms), Some(7_000), "{text}");
        }
        assert_eq!(RetryAfter::from_text("1600000000", "x", now).map(|asked| asked.ms), Some(0), "it has passed");
    }

    #[test]
    fn the_longest_wait_counts_and_says_where_it_stands() {
        let both = [("retry-after", "1"), ("retry-after-ms", "1500"), ("x-ratelimit-reset-requests", "1s")];
        assert_eq!(ask(&both), Some((1_500, "retry-after-ms".to_owned())));
        assert_eq!(ask(&[("retry-after", "soon"), ("retry-after-ms", "9")]), Some((9, "retry-after-ms".to_owned())));
        assert_eq!(ask(&[]), None);
    }

    #[test]
    fn a_date_is_held_against_the_clock_of_the_server() {
        let headers = [("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT"), ("date", "Sun, 06 Nov 1994 08:49:36 GMT")];
        assert_eq!(ask(&headers).map(|(ms, _)| ms), Some(1_000));
    }
}
