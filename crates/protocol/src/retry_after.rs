//! The wait that a server asks for before the next request, as in the header `Retry-After`.

mod date;

use crate::human_duration::parse_nanos;

/// The wait that a server asks for before the next request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RetryAfter {
    pub ms: u64,
    /// The name of the header, or the place in the body, that asks for the wait.
    pub origin: String,
}

/// The units of a bare number, in milliseconds.
const SECONDS: f64 = 1000.0;
const MILLIS: f64 = 1.0;

/// The headers in which a server asks for a wait, in lower case, with the unit of a bare number.
const REQUESTS: &[(&str, f64)] = &[
    ("retry-after", SECONDS),
    ("retry-after-ms", MILLIS),
    ("x-ms-retry-after-ms", MILLIS),
    ("x-retry-after", SECONDS),
    ("x-ratelimit-retry-after", SECONDS),
];

/// The headers that say when a rate limit resets, in lower case, each with the header that says what is left of the limit.
const LIMITS: &[(&str, &str)] = &[
    ("ratelimit-reset", "ratelimit-remaining"),
    ("x-ratelimit-reset", "x-ratelimit-remaining"),
    ("x-ratelimit-reset-requests", "x-ratelimit-remaining-requests"),
    ("x-ratelimit-reset-tokens", "x-ratelimit-remaining-tokens"),
    ("anthropic-ratelimit-requests-reset", "anthropic-ratelimit-requests-remaining"),
    ("anthropic-ratelimit-tokens-reset", "anthropic-ratelimit-tokens-remaining"),
    ("anthropic-ratelimit-input-tokens-reset", "anthropic-ratelimit-input-tokens-remaining"),
    ("anthropic-ratelimit-output-tokens-reset", "anthropic-ratelimit-output-tokens-remaining"),
];

impl RetryAfter {
    /// The longest wait that the headers ask for. `now_ms` is the current time in milliseconds since 1970. A header that only says
    /// when a rate limit resets asks for none: see [`RetryAfter::until_reset`].
    ///
    /// A header may hold a number of seconds or milliseconds, a duration such as `6m0s`, a Unix time in seconds or
    /// milliseconds, or a date. Points in time are compared with the `date` header of the server if there is one, so
    /// that clock skew does no harm; one in the past means a wait of zero. A header that cannot be parsed is ignored.
    pub fn from_headers<'a>(header: impl Fn(&str) -> Option<&'a str>, now_ms: u64) -> Option<Self> {
        let now_ms = server_time(&header, now_ms);
        Self::longest(REQUESTS.iter().filter_map(|(name, unit)| Self::in_header(&header, name, *unit, now_ms)))
    }

    /// The wait until the rate limit resets that a refused request has hit: one of which nothing is left. Every limit has its
    /// header, and those of the others may be hours away. If no header says what is left of a limit, the first that resets counts.
    pub fn until_reset<'a>(header: impl Fn(&str) -> Option<&'a str>, now_ms: u64) -> Option<Self> {
        let now_ms = server_time(&header, now_ms);
        let reset = |(name, remaining): &(&str, &str)| {
            let left = header(remaining).and_then(|left| left.trim().parse::<f64>().ok());
            Some((Self::in_header(&header, name, SECONDS, now_ms)?, left))
        };
        let resets = || LIMITS.iter().filter_map(reset);
        let hit = resets().filter(|(_, left)| left.is_some_and(|left| left <= 0.0)).map(|(wait, _)| wait);
        let unknown = || resets().filter(|(_, left)| left.is_none()).map(|(wait, _)| wait);
        Self::longest(hit).or_else(|| unknown().min_by_key(|wait| wait.ms))
    }

    fn in_header<'a>(header: impl Fn(&str) -> Option<&'a str>, name: &str, unit: f64, now_ms: u64) -> Option<Self> {
        Some(Self { ms: parse_wait(header(name)?, unit, now_ms)?, origin: name.to_owned() })
    }

    /// Whether a wait of this origin was stated by a header; otherwise a body stated it.
    pub fn is_header(origin: &str) -> bool {
        REQUESTS.iter().any(|(name, _)| *name == origin) || LIMITS.iter().any(|(name, _)| *name == origin)
    }

    /// Parses a wait from a text that is not a header; a bare number counts seconds.
    pub fn from_text(text: &str, origin: impl Into<String>, now_ms: u64) -> Option<Self> {
        parse_wait(text, SECONDS, now_ms).map(|ms| Self { ms, origin: origin.into() })
    }

    /// The longest of several waits; the first of equally long ones.
    pub fn longest(waits: impl IntoIterator<Item = Self>) -> Option<Self> {
        waits.into_iter().reduce(|longest, next| if next.ms > longest.ms { next } else { longest })
    }
}

/// The time of the server, if it states it, in milliseconds since 1970.
fn server_time<'a>(header: impl Fn(&str) -> Option<&'a str>, now_ms: u64) -> u64 {
    header("date").and_then(date::parse).unwrap_or(now_ms)
}

/// A bare number from here on is a Unix time: a wait of thirty years makes no sense.
const FIRST_UNIX_TIME: f64 = 1e9;
/// A Unix time from here on is in milliseconds: in seconds it would be thirty thousand years away.
const FIRST_UNIX_TIME_IN_MILLIS: f64 = 1e12;

/// About thirty thousand years in milliseconds: longer than any real wait, and exact in both `f64` and `u64`.
const MAX_MILLIS: u64 = 1_000_000_000_000_000;

fn parse_wait(text: &str, unit: f64, now_ms: u64) -> Option<u64> {
    let text = text.trim();
    let Some(number) = parse_number(text) else {
        return parse_duration(text).or_else(|| date::parse(text).map(|date_ms| date_ms.saturating_sub(now_ms)));
    };
    if number < FIRST_UNIX_TIME {
        return Some(whole_millis(number * unit));
    }
    let unix_ms = whole_millis(if number < FIRST_UNIX_TIME_IN_MILLIS { number * SECONDS } else { number });
    Some(unix_ms.saturating_sub(now_ms))
}

/// Parses a finite number that starts with a digit, so it has no sign.
fn parse_number(text: &str) -> Option<f64> {
    let starts_with_digit = text.starts_with(|first: char| first.is_ascii_digit());
    text.parse::<f64>().ok().filter(|number| starts_with_digit && number.is_finite())
}

/// Parses a duration such as `6m0s` to milliseconds, rounded up.
fn parse_duration(text: &str) -> Option<u64> {
    let (nanos, is_whole) = parse_nanos(text)?;
    let millis = (nanos + u128::from(!is_whole)).div_ceil(1_000_000);
    Some(u64::try_from(millis).unwrap_or(u64::MAX).min(MAX_MILLIS))
}

/// Rounds up to whole milliseconds.
fn whole_millis(millis: f64) -> u64 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "negative becomes 0, too large the maximum"
    )]
    let whole = millis.ceil() as u64;
    whole.min(MAX_MILLIS)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sun, 06 Nov 1994 08:49:30 GMT.
    const NOW: u64 = 784_111_770_000;

    fn wait_of(headers: &[(&'static str, &'static str)]) -> Option<(u64, String)> {
        let header = |name: &str| headers.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
        let wait = RetryAfter::from_headers(header, NOW).or_else(|| RetryAfter::until_reset(header, NOW));
        wait.map(|wait| (wait.ms, wait.origin))
    }

    #[test]
    fn a_wait_is_parsed_in_every_form() {
        for (name, text, expected) in [
            ("retry-after", "2", Some(2_000)),
            ("retry-after", " 1.5 ", Some(1_500)),
            ("retry-after", "0", Some(0)),
            ("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT", Some(7_000)),
            ("retry-after", "Sun, 06 Nov 1994 08:00:00 GMT", Some(0)),
            // A Unix time before 2001 counts as a number of seconds.
            ("retry-after", "784111800", Some(784_111_800_000)),
            ("retry-after", "1994-11-06T08:49:37Z", Some(7_000)),
            ("retry-after", "6m0s", Some(360_000)),
            ("retry-after-ms", "250", Some(250)),
            ("retry-after-ms", "250.2", Some(251)),
            ("x-ratelimit-reset-requests", "2m59.56s", Some(179_560)),
            ("x-ratelimit-reset-tokens", "20ms", Some(20)),
            ("x-ratelimit-reset", "60", Some(60_000)),
            ("anthropic-ratelimit-tokens-reset", "1994-11-06T09:49:30+00:30", Some(1_800_000)),
            ("retry-after", "7.66s", Some(7_660)),
            ("retry-after", "1h2m3s", Some(3_723_000)),
            ("retry-after", "2d", Some(172_800_000)),
            ("retry-after", "88us", Some(1)),
            ("retry-after", "34.074824224s", Some(34_075)),
            ("retry-after", "34.07482422401s", Some(34_075)),
            ("retry-after", "5 s", Some(5_000)),
            ("retry-after", "2 minutes", Some(120_000)),
            ("retry-after", "1 hour 30 min", Some(5_400_000)),
            ("retry-after", "5 5", None),
            ("retry-after", "5x", None),
            ("retry-after", "1.2.3s", None),
            ("retry-after", "s", None),
            ("retry-after", "soon", None),
            ("retry-after", "-1", None),
            ("retry-after", "inf", None),
            ("retry-after", "NaN", None),
            ("retry-after", "", None),
            ("x-something", "5", None),
        ] {
            assert_eq!(wait_of(&[(name, text)]).map(|(ms, _)| ms), expected, "{name}: {text}");
        }
    }

    #[test]
    fn a_unix_time_is_not_a_number_of_seconds() {
        let now = 1_700_000_000_000;
        for text in ["1700000007", "1700000007000", "1700000007.0"] {
            assert_eq!(RetryAfter::from_text(text, "x", now).map(|wait| wait.ms), Some(7_000), "{text}");
        }
        assert_eq!(RetryAfter::from_text("1600000000", "x", now).map(|wait| wait.ms), Some(0), "the time has passed");
    }

    #[test]
    fn a_limit_of_which_something_is_left_or_that_resets_later_than_another_is_not_waited_for() {
        let (requests, tokens) = (("x-ratelimit-reset-requests", "20s"), ("x-ratelimit-reset-tokens", "6m0s"));
        let left = |name, count| (name, count);
        let (requests_left, tokens_left) = ("x-ratelimit-remaining-requests", "x-ratelimit-remaining-tokens");
        for (headers, expected) in [
            (vec![requests, tokens], Some(20_000)),
            (vec![requests, tokens, left(requests_left, "7"), left(tokens_left, "0")], Some(360_000)),
            (vec![requests, tokens, left(requests_left, "0"), left(tokens_left, "90")], Some(20_000)),
            (vec![requests, tokens, left(requests_left, "0"), left(tokens_left, "0")], Some(360_000)),
            (vec![requests, tokens, left(requests_left, "7")], Some(360_000)),
            (vec![requests, tokens, left(requests_left, "7"), left(tokens_left, "90")], None),
            (
                vec![("anthropic-ratelimit-tokens-reset", "90"), ("anthropic-ratelimit-tokens-remaining", "0")],
                Some(90_000),
            ),
        ] {
            assert_eq!(wait_of(&headers).map(|(ms, _)| ms), expected, "{headers:?}");
        }
    }

    #[test]
    fn the_longest_requested_wait_wins_over_resets_and_names_its_header() {
        let reset = ("x-ratelimit-reset-tokens", "6m0s");
        let both = [("retry-after", "1"), ("retry-after-ms", "1500"), reset, ("x-ratelimit-remaining-tokens", "0")];
        assert_eq!(wait_of(&both), Some((1_500, "retry-after-ms".to_owned())));
        assert_eq!(
            wait_of(&[("retry-after", "soon"), ("retry-after-ms", "9")]),
            Some((9, "retry-after-ms".to_owned()))
        );
        assert_eq!(wait_of(&[]), None);
    }

    #[test]
    fn a_date_is_compared_with_the_date_header_of_the_server() {
        let headers = [("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT"), ("date", "Sun, 06 Nov 1994 08:49:36 GMT")];
        assert_eq!(wait_of(&headers).map(|(ms, _)| ms), Some(1_000));
    }
}
