//! What a server says when it does not answer.

use reknit_dialogue::{ErrorClass, Evidence, Failure, classify_with};
use reknit_protocol::{RetryAfter, Value};

use crate::gemini;
use crate::json::{at, parse, text};
use crate::wire::Wire;

/// A wait from here on is no matter of a busy minute: the share of the day, or of the month, is used up.
const LONG_WAIT_MS: u64 = 24 * 60 * 60 * 1000;

/// Everything that a server says about a failure.
#[derive(Debug)]
pub(crate) struct Refusal {
    evidence: Evidence,
    in_body: Option<RetryAfter>,
}

impl Refusal {
    /// Reads a body, in whichever of the usual shapes it comes.
    pub(crate) fn read(wire: &Wire, status: Option<u16>, body: &[u8], now_ms: u64) -> Self {
        let Some(json) = parse(body) else {
            let message = from_text(&String::from_utf8_lossy(body));
            return Self { evidence: Evidence { status, message, ..Evidence::default() }, in_body: None };
        };
        let mut refusal =
            Self { evidence: from_json(status, &json), in_body: RetryAfter::longest(waits(&json, now_ms)) };
        if let Wire::Gemini = wire {
            refusal.evidence.code = gemini::code(&json).or(refusal.evidence.code);
            refusal.in_body =
                RetryAfter::longest(refusal.in_body.into_iter().chain(gemini::retry_after(&json, now_ms)));
        }
        refusal
    }

    /// Says this, if the body said nothing.
    pub(crate) fn or_message(mut self, message: &str) -> Self {
        if self.evidence.message.is_empty() {
            message.clone_into(&mut self.evidence.message);
        }
        self
    }

    /// Says this, whatever the body said.
    pub(crate) fn with_message(mut self, message: String) -> Self {
        self.evidence.message = message;
        self
    }

    /// The failure, without a word taken out of the message yet.
    ///
    /// Where a limit was reached every header that tells of limits counts; elsewhere only those that ask for a wait, for
    /// the others stand in every response.
    pub(crate) fn failure<'h>(self, wire: &Wire, header: impl Fn(&str) -> Option<&'h str>, now_ms: u64) -> Failure {
        let class = classify_with(&self.evidence, wire.classes());
        let limited = class == ErrorClass::RateLimit;
        let heard = |name: &str| header(name).filter(|_| limited || name.starts_with("retry-after") || name == "date");
        let in_headers = RetryAfter::from_headers(heard, now_ms);
        let asked = RetryAfter::longest(in_headers.into_iter().chain(self.in_body));
        let long = asked.as_ref().is_some_and(|asked| asked.ms >= LONG_WAIT_MS);
        let class = if limited && long { ErrorClass::QuotaExceeded } else { class };
        Failure { status: self.evidence.status, ..Failure::new(class, self.evidence.message) }.with_retry_after(asked)
    }
}

fn from_json(status: Option<u16>, json: &Value) -> Evidence {
    // Some wrap the object in an array.
    let json = json.as_array().and_then(<[Value]>::first).unwrap_or(json);
    let error = at(json, &["error"]).unwrap_or(json);
    let code = match error.get("code") {
        Some(Value::String(code)) => Some(code.clone()),
        Some(Value::Number(code)) => Some(code.to_string()),
        _ => None,
    };
    // A name says more than a number that repeats the HTTP status.
    let name = text(error, &["status"]).filter(|_| code.as_deref().is_none_or(|code| code.parse::<u16>().is_ok()));
    let kind = text(error, &["type"]).map(str::to_owned);
    Evidence { code: name.map(str::to_owned).or(code), status, kind, message: message(error) }
}

fn message(error: &Value) -> String {
    let first = |key: &str| error.get(key).and_then(Value::as_array).and_then(<[Value]>::first);
    let places = [
        error.as_str(),
        text(error, &["message"]),
        text(error, &["detail"]),
        first("detail").and_then(|detail| text(detail, &["msg"])),
        first("errors").and_then(|error| text(error, &["message"])),
        text(error, &["msg"]),
    ];
    let found = places.into_iter().flatten().find(|text| !text.trim().is_empty());
    let message = found.map_or_else(|| error.to_string(), str::to_owned);
    // A router says that somebody else has failed, and keeps that one's words here.
    match text(error, &["metadata", "raw"]) {
        Some(raw) => format!("{message}: {}", from_text(raw)),
        None => message,
    }
}

/// The waits that a body asks for.
fn waits(json: &Value, now_ms: u64) -> impl Iterator<Item = RetryAfter> {
    const PLACES: &[(&[&str], &str)] = &[
        (&["retry_after"], ""),
        (&["retry_after_ms"], "ms"),
        (&["error", "retry_after"], ""),
        (&["error", "retry_after_ms"], "ms"),
        (&["error", "metadata", "retry_after"], ""),
        (&["error", "metadata", "retry_after_ms"], "ms"),
        (&["error", "metadata", "headers", "Retry-After"], ""),
        (&["error", "metadata", "headers", "X-RateLimit-Reset"], ""),
    ];
    PLACES.iter().filter_map(move |(place, unit)| {
        let written = match at(json, place)? {
            Value::String(text) => text.clone(),
            Value::Number(number) => format!("{number}{unit}"),
            _ => return None,
        };
        RetryAfter::from_text(&written, place.join("."), now_ms)
    })
}

/// Text as it is; of a web page only the title, for the rest is decoration.
fn from_text(text: &str) -> String {
    let text = text.trim();
    if !text.starts_with('<') {
        return text.to_owned();
    }
    match title(text) {
        Some(title) => format!("a web page: {title}"),
        None => "a web page".to_owned(),
    }
}

fn title(page: &str) -> Option<&str> {
    // ASCII only, so that places in one are places in the other.
    let lower = page.to_ascii_lowercase();
    let start = lower.find("<title")?;
    let start = start + lower.get(start..)?.find('>')? + 1;
    let end = start + lower.get(start..)?.find("</title")?;
    page.get(start..end).map(str::trim).filter(|title| !title.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Provider;

    fn read(body: &str) -> (Option<String>, Option<String>, String) {
        let refusal = Refusal::read(&Wire::of(Provider::Compatible), Some(400), body.as_bytes(), 0);
        let Evidence { code, kind, message, .. } = refusal.evidence;
        (code, kind, message)
    }

    /// The failure of a provider, as a sentence with where the wait stands.
    fn refuse(provider: Provider, status: u16, headers: &[(&str, &'static str)], body: &str) -> String {
        let wire = Wire::of(provider);
        let header = |name: &str| headers.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
        let failure = Refusal::read(&wire, Some(status), body.as_bytes(), 0).failure(&wire, header, 0);
        match &failure.retry_after_from {
            Some(origin) => format!("{failure} by {origin}"),
            None => failure.to_string(),
        }
    }

    #[test]
    fn each_provider_has_its_own_words() {
        let google = |status: &str, details: &str| {
            format!(r#"{{"error":{{"code":0,"message":"no","status":"{status}","details":[{details}]}}}}"#)
        };
        let anthropic = |kind: &str| format!(r#"{{"type":"error","error":{{"type":"{kind}","message":"no"}}}}"#);
        for (provider, status, body, expected) in [
            (Provider::Anthropic, 529, anthropic("overloaded_error"), "rate limited (HTTP 529): no"),
            (Provider::Anthropic, 400, anthropic("billing_error"), "quota exceeded (HTTP 400): no"),
            (Provider::Anthropic, 500, anthropic("api_error"), "network error (HTTP 500): no"),
            (Provider::Anthropic, 413, anthropic("request_too_large"), "too long for the model (HTTP 413): no"),
            (Provider::Anthropic, 404, anthropic("not_found_error"), "model error (HTTP 404): no"),
            (
                Provider::Gemini,
                400,
                google("INVALID_ARGUMENT", r#"{"reason":"API_KEY_INVALID"}"#),
                "not allowed (HTTP 400): no",
            ),
            (Provider::Gemini, 400, google("INVALID_ARGUMENT", r#"{"reason":"ELSE"}"#), "model error (HTTP 400): no"),
            (Provider::Gemini, 400, google("FAILED_PRECONDITION", ""), "not allowed (HTTP 400): no"),
            (Provider::Gemini, 503, google("UNAVAILABLE", ""), "network error (HTTP 503): no"),
            (
                Provider::Gemini,
                429,
                google("RESOURCE_EXHAUSTED", r#"{"retryDelay":"34.07s"}"#),
                "rate limited (HTTP 429): no; asks to wait 34.07 s by RetryInfo",
            ),
            (
                Provider::Gemini,
                429,
                google("RESOURCE_EXHAUSTED", r#"{"violations":[{"quotaId":"RequestsPerDayPerModel-FreeTier"}]}"#),
                "quota exceeded (HTTP 429): no",
            ),
            (
                Provider::OpenAi,
                400,
                r#"{"error":{"code":"invalid_prompt","message":"no"}}"#.into(),
                "refused for its content (HTTP 400): no",
            ),
            (
                Provider::OpenAi,
                503,
                r#"{"error":{"code":"server_is_overloaded","message":"no"}}"#.into(),
                "rate limited (HTTP 503): no",
            ),
        ] {
            assert_eq!(refuse(provider, status, &[], &body), expected, "{body}");
        }
    }

    #[test]
    fn the_longest_wait_is_kept_with_its_origin_and_a_wait_of_days_is_a_quota() {
        let resets = ("x-ratelimit-reset-tokens", "6m0s");
        for (status, headers, body, expected) in [
            (
                429,
                &[("retry-after", "2"), resets][..],
                "",
                "rate limited (HTTP 429); asks to wait 360 s by x-ratelimit-reset-tokens",
            ),
            (500, &[("retry-after", "2"), resets], "", "network error (HTTP 500); asks to wait 2 s by retry-after"),
            (500, &[resets], "", "network error (HTTP 500)"),
            (
                429,
                &[],
                r#"{"error":{"message":"no","retry_after_ms":1500}}"#,
                "rate limited (HTTP 429): no; asks to wait 1.5 s by error.retry_after_ms",
            ),
            (
                429,
                &[("retry-after", "1")],
                r#"{"retry_after":"9s","message":"no"}"#,
                "rate limited (HTTP 429): no; asks to wait 9 s by retry_after",
            ),
            (429, &[("retry-after", "86399")], "", "rate limited (HTTP 429); asks to wait 86399 s by retry-after"),
            (429, &[("retry-after", "172800")], "", "quota exceeded (HTTP 429); asks to wait 172800 s by retry-after"),
        ] {
            assert_eq!(refuse(Provider::Compatible, status, headers, body), expected);
        }
    }

    #[test]
    fn the_words_are_found_in_every_usual_shape() {
        for (body, expected) in [
            (r#"{"error":{"message":"no","type":"t","code":"c"}}"#, "no"),
            (r#"{"error":"no"}"#, "no"),
            (r#"{"message":"no"}"#, "no"),
            (r#"{"detail":"no"}"#, "no"),
            (r#"{"detail":[{"loc":["body"],"msg":"no"}]}"#, "no"),
            (r#"{"errors":[{"message":"no"}]}"#, "no"),
            (r#"[{"error":{"message":"no"}}]"#, "no"),
            (
                r#"{"error":{"message":"Provider returned error","metadata":{"raw":"no"}}}"#,
                "Provider returned error: no",
            ),
            (r#"{"error":{"reason":7}}"#, r#"{"reason":7}"#),
            (r#""no""#, "no"),
            ("no", "no"),
            ("  no \n", "no"),
            ("", ""),
            (
                "<html><head><TITLE lang=en> 502 Bad Gateway </TITLE></head><body>x</body></html>",
                "a web page: 502 Bad Gateway",
            ),
            ("<html><title></title>", "a web page"),
            ("<html><title", "a web page"),
        ] {
            assert_eq!(read(body).2, expected, "{body}");
        }
    }

    #[test]
    fn code_and_type_are_found_and_a_name_beats_a_number() {
        let some = |text: &str| Some(text.to_owned());
        for (body, code, kind) in [
            (r#"{"error":{"message":"m","type":"t","code":"c"}}"#, some("c"), some("t")),
            (r#"{"error":{"message":"m","type":"t","code":null}}"#, None, some("t")),
            (r#"{"error":{"message":"m","code":429}}"#, some("429"), None),
            (r#"{"error":{"message":"m","code":429,"status":"RESOURCE_EXHAUSTED"}}"#, some("RESOURCE_EXHAUSTED"), None),
            (r#"{"error":{"message":"m","code":"c","status":"s"}}"#, some("c"), None),
            (
                r#"{"object":"error","message":"m","type":"BadRequestError","code":400}"#,
                some("400"),
                some("BadRequestError"),
            ),
        ] {
            let (found_code, found_kind, _) = read(body);
            assert_eq!((found_code, found_kind), (code, kind), "{body}");
        }
    }
}
