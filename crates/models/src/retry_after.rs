//! How long a server asks to be left alone.

use jiff::Timestamp;
use jiff::fmt::rfc2822::DateTimeParser;
use reqwest::header::{DATE, HeaderMap, RETRY_AFTER};

/// The longest wait that the headers ask for, in milliseconds: `retry-after-ms`, or `retry-after` in seconds or as a date.
///
/// A date is held against the server's own clock where it shows one, so that a wrong clock here or there does no harm.
/// What cannot be read asks for nothing.
pub(crate) fn retry_after_ms(headers: &HeaderMap, now: Timestamp) -> Option<u64> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    let millis = text("retry-after-ms").and_then(|text| number(text, 1.0));
    let after = text(RETRY_AFTER.as_str()).and_then(|text| {
        number(text, 1000.0).or_else(|| {
            let now = headers.get(DATE).and_then(|date| date.to_str().ok()).and_then(date).unwrap_or(now);
            Some(date(text)?.duration_since(now).as_millis()).map(|wait| u64::try_from(wait).unwrap_or(0))
        })
    });
    millis.max(after)
}

fn date(text: &str) -> Option<Timestamp> {
    DateTimeParser::new().parse_timestamp(text).ok()
}

/// A number that is not negative, times the unit, rounded up to whole milliseconds.
fn number(text: &str, unit: f64) -> Option<u64> {
    let number = text.parse::<f64>().ok().filter(|number| number.is_finite() && *number >= 0.0)?;
    // Longer than anybody would wait, and well within what the type holds.
    let millis = (number * unit).ceil().min(1e15);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and 1e15, see above")]
    Some(millis as u64)
}

#[cfg(test)]
mod tests {
    use reqwest::header::{HeaderName, HeaderValue};

    use super::*;

    fn ask(headers: &[(&'static str, &'static str)]) -> Option<u64> {
        let now = date("Sun, 06 Nov 1994 08:49:30 GMT").unwrap();
        let headers =
            headers.iter().map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)));
        retry_after_ms(&headers.collect(), now)
    }

    #[test]
    fn the_wait_is_read_in_every_form_and_the_longest_counts() {
        for (headers, expected) in [
            (&[][..], None),
            (&[("retry-after", "2")], Some(2_000)),
            (&[("retry-after", " 1.5 ")], Some(1_500)),
            (&[("retry-after", "0")], Some(0)),
            (&[("retry-after-ms", "250")], Some(250)),
            (&[("retry-after-ms", "250.2")], Some(251)),
            (&[("retry-after-ms", "250"), ("retry-after", "1")], Some(1_000)),
            (&[("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT")], Some(7_000)),
            (&[("retry-after", "Sun, 06 Nov 1994 08:00:00 GMT")], Some(0)),
            (
                &[("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT"), ("date", "Sun, 06 Nov 1994 08:49:36 GMT")],
                Some(1_000),
            ),
            (&[("retry-after", "1e30")], Some(1_000_000_000_000_000)),
            (&[("retry-after", "-1")], None),
            (&[("retry-after", "soon")], None),
            (&[("retry-after", "NaN")], None),
        ] {
            assert_eq!(ask(headers), expected, "{headers:?}");
        }
    }
}
