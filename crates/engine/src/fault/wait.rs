//! How long a tool wants us to wait.

use reknit_protocol::{Object, Value};

use super::date::moment_ms;
use crate::mend::facts::{Says, facts_in};

/// The names under which tools write a wait, and the milliseconds of a bare number under them.
const KEYS: [(&str, f64); 9] = [
    ("retry_after", 1_000.0),
    ("retryAfter", 1_000.0),
    ("retry-after", 1_000.0),
    ("retry_after_seconds", 1_000.0),
    ("retryAfterSeconds", 1_000.0),
    ("retry_after_ms", 1.0),
    ("retryAfterMs", 1.0),
    ("retry_in", 1_000.0),
    ("retryDelay", 1_000.0),
];

/// A bare number from here on is a moment in seconds since 1970, and no wait.
const MOMENTS: f64 = 1e9;

/// The units of times in milliseconds.
const UNITS: [(&str, f64); 16] = [
    ("milliseconds", 1.0),
    ("millisecond", 1.0),
    ("seconds", 1_000.0),
    ("minutes", 60_000.0),
    ("second", 1_000.0),
    ("minute", 60_000.0),
    ("hours", 3_600_000.0),
    ("hour", 3_600_000.0),
    ("secs", 1_000.0),
    ("mins", 60_000.0),
    ("sec", 1_000.0),
    ("min", 60_000.0),
    ("ms", 1.0),
    ("s", 1_000.0),
    ("m", 60_000.0),
    ("h", 3_600_000.0),
];

/// The longest of the waits that a header, the details, the body and the words ask for.
pub(crate) fn asked_wait_ms(
    header_ms: Option<u64>,
    details: &Object,
    body: &Value,
    message: &str,
    now_ms: i64,
) -> Option<u64> {
    let error = body.get("error");
    let places = [Some(details), body.as_object(), error.and_then(Value::as_object)];
    let stated = places
        .into_iter()
        .flatten()
        .flat_map(|place| KEYS.iter().filter_map(|(key, unit)| stated_ms(place.get(key)?, *unit, now_ms)));
    let said = facts_in(message, None).into_iter().filter_map(|fact| match fact.says {
        Says::RetryAfter { ms } => Some(ms),
        _ => None,
    });
    stated.chain(said).chain(header_ms).max()
}

/// A number, a time with its unit, or a moment.
fn stated_ms(value: &Value, unit: f64, now_ms: i64) -> Option<u64> {
    let text = match value {
        Value::String(text) => text.trim().to_owned(),
        Value::Number(number) => number.to_string(),
        _ => return None,
    };
    let until = |moment: i64| u64::try_from(moment.saturating_sub(now_ms)).unwrap_or(0);
    if let Ok(number) = text.parse::<f64>() {
        let ms = whole(number * unit)?;
        return Some(if number >= MOMENTS && unit > 1.0 { until(i64::try_from(ms).ok()?) } else { ms });
    }
    time_ms(&text).or_else(|| moment_ms(&text).map(until))
}

/// `60s`, `1.5s`, `500ms`, `2 minutes`, `6m0s`, `1h30m`: numbers with their units, all of the text.
pub(crate) fn time_ms(text: &str) -> Option<u64> {
    let mut rest = text.trim();
    let mut total = 0.0;
    while !rest.is_empty() {
        let end = rest.find(|letter: char| !letter.is_ascii_digit() && letter != '.')?;
        let (number, after) = rest.split_at_checked(end)?;
        let after = after.trim_start();
        let end = after.find(|letter: char| !letter.is_ascii_alphabetic()).unwrap_or(after.len());
        let (word, after) = after.split_at_checked(end)?;
        let (_, factor) = UNITS.iter().find(|(unit, _)| *unit == word)?;
        total += number.parse::<f64>().ok()? * factor;
        rest = after.trim_start();
    }
    if text.trim().is_empty() { None } else { whole(total) }
}

fn whole(ms: f64) -> Option<u64> {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked on the same line")]
    (0.0..=1e13).contains(&ms).then(|| ms.ceil() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_read_in_every_way_tools_write_it() {
        let now_ms = 1_769_853_600_000;
        for (text, expected) in [
            ("60", Some(60_000)),
            ("60s", Some(60_000)),
            ("1.5s", Some(1_500)),
            ("500ms", Some(500)),
            ("2 minutes", Some(120_000)),
            ("1h", Some(3_600_000)),
            ("6m0s", Some(360_000)),
            ("1h30m", Some(5_400_000)),
            ("2026-01-31T10:00:07Z", Some(7_000)),
            ("Sat, 31 Jan 2026 10:00:02 GMT", Some(2_000)),
            ("2020-01-01T00:00:00Z", Some(0)),
            ("1769853605", Some(5_000)),
            ("soon", None),
            ("-5", None),
            ("", None),
            ("1e99", None),
            ("5 5", None),
            ("NaN", None),
        ] {
            assert_eq!(stated_ms(&Value::from(text), 1_000.0, now_ms), expected, "case: {text}");
        }
    }

    #[test]
    fn the_longest_of_the_stated_waits_counts() {
        let details = Object::from([("retry_after", Value::from("3s"))]);
        let body = Value::parse(r#"{"retry_after": 2, "error": {"retryAfterMs": 2500}}"#).unwrap();
        assert_eq!(asked_wait_ms(Some(1_000), &details, &body, "", 0), Some(3_000));
        assert_eq!(asked_wait_ms(Some(1_000), &Object::new(), &body, "", 0), Some(2_500));
        assert_eq!(asked_wait_ms(None, &Object::new(), &Value::Null, "try again in 6m0s", 0), Some(360_000));
        assert_eq!(asked_wait_ms(None, &Object::new(), &Value::Null, "retry after 5 seconds.", 0), Some(5_000));
        assert_eq!(asked_wait_ms(None, &Object::new(), &Value::Null, "try again later", 0), None);
    }
}
