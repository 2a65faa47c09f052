//! How long a tool asks us to wait.

use reknit_protocol::{Object, RetryAfter, Value};

use crate::facts::{FactKind, facts_in};

/// The keys under which tools write a wait, with the unit of a bare number under them (empty for seconds).
const KEYS: [(&str, &str); 2] = [
    ("retry_after retryAfter retry-after retry_after_seconds retryAfterSeconds retry_in retryDelay", ""),
    ("retry_after_ms retryAfterMs", "ms"),
];

/// The longest of the waits that the header, the details, the body and the message ask for.
pub(crate) fn requested_wait_ms(
    header_ms: Option<u64>,
    details: &Object,
    body: &Value,
    message: &str,
    now_ms: i64,
) -> Option<u64> {
    let error = body.get("error");
    let objects = [Some(details), body.as_object(), error.and_then(Value::as_object)];
    let keys = || KEYS.iter().flat_map(|(keys, unit)| keys.split(' ').map(move |key| (key, *unit)));
    let in_object = |object: &Object| keys().filter_map(|(key, unit)| wait_ms(object.get(key)?, unit, now_ms)).max();
    let in_objects = objects.into_iter().flatten().filter_map(in_object);
    let in_message = facts_in(message, None).into_iter().filter_map(|fact| match fact.kind {
        FactKind::RetryAfter { ms } => Some(ms),
        _ => None,
    });
    in_objects.chain(in_message).chain(header_ms).max()
}

/// The wait that a value states: a number, a duration with its unit, or a date.
fn wait_ms(value: &Value, unit: &str, now_ms: i64) -> Option<u64> {
    let text = match value {
        Value::String(text) => text.trim().to_owned(),
        Value::Number(number) => number.to_string(),
        _ => return None,
    };
    let text = if text.parse::<f64>().is_ok() { format!("{text}{unit}") } else { text };
    RetryAfter::from_text(&text, "", u64::try_from(now_ms).unwrap_or(0)).map(|wait| wait.ms)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_parsed_in_every_format_that_tools_use() {
        let now_ms = 1_769_853_600_000;
        for (text, expected) in [
            ("60", Some(60_000)),
            ("1.5s", Some(1_500)),
            ("2 minutes", Some(120_000)),
            ("1h30m", Some(5_400_000)),
            ("2026-01-31T10:00:07Z", Some(7_000)),
            ("1769853605", Some(5_000)),
            ("soon", None),
            ("5 5", None),
        ] {
            assert_eq!(wait_ms(&Value::from(text), "", now_ms), expected, "case: {text}");
        }
    }

    #[test]
    fn the_longest_requested_wait_counts() {
        let details = Object::from([("retry_after", Value::from("3s"))]);
        let body = Value::parse(r#"{"retry_after": 2, "error": {"retryAfterMs": 2500}}"#).unwrap();
        assert_eq!(requested_wait_ms(Some(1_000), &details, &body, "", 0), Some(3_000));
        assert_eq!(requested_wait_ms(Some(1_000), &Object::new(), &body, "", 0), Some(2_500));
        assert_eq!(requested_wait_ms(None, &Object::new(), &Value::Null, "try again in 6m0s", 0), Some(360_000));
        assert_eq!(requested_wait_ms(None, &Object::new(), &Value::Null, "retry after 5 seconds.", 0), Some(5_000));
        assert_eq!(requested_wait_ms(None, &Object::new(), &Value::Null, "try again later", 0), None);
    }
}
