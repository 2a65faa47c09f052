//! How long a tool wants us to wait.

use reknit_protocol::{Object, Value};

/// The longest of the waits that a header, the details and the body ask for.
pub(crate) fn asked_wait_ms(header_ms: Option<u64>, details: &Object, body: &Value) -> Option<u64> {
    let stated = [details.get("retry_after"), body.get("retry_after"), details.get("retry_after_ms")];
    let [in_details, in_body, in_ms] = stated.map(|value| value.and_then(words));
    [
        header_ms,
        in_details.and_then(|text| duration_ms(&text)),
        in_body.and_then(|text| duration_ms(&text)),
        in_ms.and_then(|text| text.parse().ok()),
    ]
    .into_iter()
    .flatten()
    .max()
}

fn words(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.trim().to_owned()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// `60`, `60s`, `1.5s`, `500ms`, `2m`, `1h`. A bare number is seconds, as in the header.
fn duration_ms(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic() || letter == ' ');
    let unit = text.get(digits.len()..)?.trim();
    let factor = match unit {
        "ms" => 1.0,
        "" | "s" | "sec" | "secs" | "second" | "seconds" => 1_000.0,
        "m" | "min" | "mins" | "minute" | "minutes" => 60_000.0,
        "h" | "hour" | "hours" => 3_600_000.0,
        _ => return None,
    };
    let number: f64 = digits.parse().ok()?;
    let ms = number * factor;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked on the same line")]
    (0.0..=1e12).contains(&ms).then(|| ms.ceil() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_read_in_every_unit_tools_write() {
        for (text, expected) in [
            ("60", Some(60_000)),
            ("60s", Some(60_000)),
            ("1.5s", Some(1_500)),
            ("500ms", Some(500)),
            ("2 minutes", Some(120_000)),
            ("1h", Some(3_600_000)),
            ("soon", None),
            ("-5", None),
            ("", None),
            ("1e99", None),
        ] {
            assert_eq!(duration_ms(text), expected, "case: {text}");
        }
    }

    #[test]
    fn the_longest_of_the_stated_waits_counts() {
        let details = Object::from([("retry_after", Value::from("3s"))]);
        let body = Value::parse(r#"{"retry_after": 2}"#).unwrap();
        assert_eq!(asked_wait_ms(Some(1_000), &details, &body), Some(3_000));
        assert_eq!(asked_wait_ms(None, &Object::new(), &Value::Null), None);
    }
}
