//! Error responses of servers.

use reknit_model_api::{ErrorClass, FailureEvidence, ModelFailure, classify_with_provider_names};
use reknit_protocol::{Object, RetryAfter, Value};

use crate::gemini;
use crate::json::{at, list, parse, text};
use crate::wire_format::WireFormat;

/// A rate limit with a wait from here on is an exceeded daily or monthly quota.
const QUOTA_WAIT_MS: u64 = 24 * 60 * 60 * 1000;

#[derive(Debug)]
pub(crate) struct ErrorResponse {
    pub(crate) evidence: FailureEvidence,
    /// The longest wait that the body asks for.
    retry_after: Option<RetryAfter>,
    /// The wait until a rate limit resets, as a router repeats it of its provider.
    until_reset: Option<RetryAfter>,
}

impl ErrorResponse {
    /// Parses a body, in any of the usual formats.
    pub(crate) fn parse(wire: &WireFormat, status: Option<u16>, body: &[u8], now_ms: u64) -> Self {
        let Some(json) = parse(body) else {
            let message = plain_message(&String::from_utf8_lossy(body));
            let evidence = FailureEvidence { status, message, ..FailureEvidence::default() };
            return Self { evidence, retry_after: None, until_reset: None };
        };
        // Some servers wrap the object in an array.
        let json = json.as_array().and_then(<[Value]>::first).unwrap_or(&json);
        let mut evidence = evidence(status, json);
        if let WireFormat::Gemini(_) = wire {
            evidence.code = gemini::specific_code(json).or(evidence.code);
        }
        let headers = repeated_headers(json);
        let repeated = |name: &str| headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str());
        let in_body =
            |wait: RetryAfter| RetryAfter { origin: format!("error.metadata.headers.{}", wait.origin), ..wait };
        let requested = waits(json, now_ms).chain(RetryAfter::from_headers(repeated, now_ms).map(in_body));
        let until_reset = RetryAfter::until_reset(repeated, now_ms).map(in_body);
        Self { evidence, retry_after: RetryAfter::longest(requested), until_reset }
    }

    /// The failure, with the message not sanitized yet.
    ///
    /// The wait that the server asks for counts. If it asks for none after a rate limit, the limit that was hit says when it
    /// resets; headers about limits are part of every response, and mean nothing after other errors.
    pub(crate) fn into_failure<'h>(
        self,
        wire: &WireFormat,
        header: impl Fn(&str) -> Option<&'h str>,
        now_ms: u64,
    ) -> ModelFailure {
        let class = classify_with_provider_names(&self.evidence, wire.error_names());
        let limited = class == ErrorClass::RateLimit;
        let requested = RetryAfter::from_headers(&header, now_ms).into_iter().chain(self.retry_after);
        let until_reset = || RetryAfter::until_reset(&header, now_ms).or(self.until_reset).filter(|_| limited);
        let retry_after = RetryAfter::longest(requested).or_else(until_reset);
        let is_long = retry_after.as_ref().is_some_and(|retry_after| retry_after.ms >= QUOTA_WAIT_MS);
        let class = if limited && is_long { ErrorClass::QuotaExceeded } else { class };
        let (retry_after_ms, retry_after_from) = retry_after.map(|wait| (wait.ms, wait.origin)).unzip();
        let failure = ModelFailure::new(class, self.evidence.message);
        ModelFailure { status: self.evidence.status, retry_after_ms, retry_after_from, ..failure }
    }
}

fn evidence(status: Option<u16>, json: &Value) -> FailureEvidence {
    let error = at(json, &["error"]).unwrap_or(json);
    let code = match error.get("code") {
        Some(Value::String(code)) => Some(code.clone()),
        Some(Value::Number(code)) => Some(code.to_string()),
        _ => None,
    };
    // A named status is more specific than a code that repeats the HTTP status.
    let name = text(error, &["status"]).filter(|_| code.as_deref().is_none_or(|code| code.parse::<u16>().is_ok()));
    let kind = text(error, &["type"]).map(str::to_owned);
    FailureEvidence { code: name.map(str::to_owned).or(code), status, kind, message: message(error) }
}

fn message(error: &Value) -> String {
    let first = |key: &str| error.get(key).and_then(Value::as_array).and_then(<[Value]>::first);
    let candidates = [
        error.as_str(),
        text(error, &["message"]),
        text(error, &["detail"]),
        first("detail").and_then(|detail| text(detail, &["msg"])),
        first("errors").and_then(|error| text(error, &["message"])),
        text(error, &["msg"]),
    ];
    let found = candidates.into_iter().flatten().find(|text| !text.trim().is_empty());
    let message = found.map_or_else(|| error.to_string(), str::to_owned);
    // A router keeps the message of the provider that failed here.
    match text(error, &["metadata", "raw"]) {
        Some(raw) => format!("{message}: {}", plain_message(raw)),
        None => message,
    }
}

/// The waits that a body asks for, wherever the usual servers and routers put them.
fn waits(json: &Value, now_ms: u64) -> impl Iterator<Item = RetryAfter> {
    const PLACES: &[&[&str]] = &[&[], &["error"], &["error", "metadata"]];
    const FIELDS: &[(&str, &str)] =
        &[("retry_after", ""), ("retryAfter", ""), ("retry_after_ms", "ms"), ("retryAfterMs", "ms")];
    let fields =
        PLACES.iter().flat_map(|place| FIELDS.iter().map(move |(name, unit)| ([*place, &[*name]].concat(), *unit)));
    let stated = fields.filter_map(move |(path, unit)| {
        let text = match at(json, &path)? {
            Value::String(text) if text.trim().parse::<f64>().is_ok() => format!("{}{unit}", text.trim()),
            Value::String(text) => text.clone(),
            Value::Number(number) => format!("{number}{unit}"),
            _ => return None,
        };
        RetryAfter::from_text(&text, path.join("."), now_ms)
    });
    // Google's detail, which its API for clients of OpenAI has, too.
    let delays = list(json, &["error", "details"]).iter().filter_map(|detail| text(detail, &["retryDelay"]));
    stated.chain(delays.filter_map(move |delay| RetryAfter::from_text(delay, "RetryInfo", now_ms)))
}

/// The headers of the provider that a router repeats in its body, with names in lower case.
fn repeated_headers(json: &Value) -> Vec<(String, String)> {
    let headers = at(json, &["error", "metadata", "headers"]).and_then(Value::as_object);
    let text = |value: &Value| match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    };
    let headers = headers.into_iter().flat_map(Object::iter);
    headers.filter_map(|(name, value)| Some((name.to_ascii_lowercase(), text(value)?))).collect()
}

/// The text as it is; of an HTML page only its title.
fn plain_message(text: &str) -> String {
    let text = text.trim();
    if !text.starts_with('<') {
        return text.to_owned();
    }
    match html_title(text) {
        Some(title) => format!("an HTML page: {title}"),
        None => "an HTML page".to_owned(),
    }
}

fn html_title(page: &str) -> Option<&str> {
    // ASCII lower case keeps byte offsets.
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
        let response = ErrorResponse::parse(&WireFormat::of(Provider::Compatible), Some(400), body.as_bytes(), 0);
        let FailureEvidence { code, kind, message, .. } = response.evidence;
        (code, kind, message)
    }

    /// The failure as text, with the origin of its wait.
    fn failure_text(provider: Provider, status: u16, headers: &[(&str, &'static str)], body: &str) -> String {
        let wire = WireFormat::of(provider);
        let header = |name: &str| headers.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
        let failure = ErrorResponse::parse(&wire, Some(status), body.as_bytes(), 0).into_failure(&wire, header, 0);
        match &failure.retry_after_from {
            Some(origin) => format!("{failure} by {origin}"),
            None => failure.to_string(),
        }
    }

    #[test]
    fn each_provider_has_its_own_error_names() {
        let google = |status: &str, details: &str| {
            format!(r#"{{"error":{{"code":0,"message":"no","status":"{status}","details":[{details}]}}}}"#)
        };
        let anthropic = |kind: &str| format!(r#"{{"type":"error","error":{{"type":"{kind}","message":"no"}}}}"#);
        let openai = |code: &str| format!(r#"{{"error":{{"code":"{code}","message":"no"}}}}"#);
        let plain = |message: &str| format!(r#"{{"message":"{message}"}}"#);
        let (bad_key, other) = (r#"{"reason":"API_KEY_INVALID"}"#, r#"{"reason":"ELSE"}"#);
        let (delay, daily) =
            (r#"{"retryDelay":"34.07s"}"#, r#"{"violations":[{"quotaId":"RequestsPerDayPerModel-FreeTier"}]}"#);
        let waits = "rate limited (HTTP 429): no; asks to wait 34.07 s by RetryInfo";
        let too_long = "Input is too long for requested model.";
        for (provider, status, body, expected) in [
            (Provider::Anthropic, 529, anthropic("overloaded_error"), "rate limited (HTTP 529): no"),
            (Provider::Anthropic, 400, anthropic("billing_error"), "quota exceeded (HTTP 400): no"),
            (Provider::Anthropic, 500, anthropic("api_error"), "network error (HTTP 500): no"),
            (Provider::Anthropic, 413, anthropic("request_too_large"), "too long for the model (HTTP 413): no"),
            (Provider::Anthropic, 404, anthropic("not_found_error"), "model error (HTTP 404): no"),
            (Provider::Gemini, 400, google("INVALID_ARGUMENT", bad_key), "unauthorized (HTTP 400): no"),
            (Provider::Gemini, 400, google("INVALID_ARGUMENT", other), "model error (HTTP 400): no"),
            (Provider::Gemini, 400, google("FAILED_PRECONDITION", ""), "unauthorized (HTTP 400): no"),
            (Provider::Gemini, 503, google("UNAVAILABLE", ""), "network error (HTTP 503): no"),
            (Provider::Gemini, 429, google("RESOURCE_EXHAUSTED", delay), waits),
            (Provider::Gemini, 429, google("RESOURCE_EXHAUSTED", daily), "quota exceeded (HTTP 429): no"),
            (Provider::OpenAi, 400, openai("invalid_prompt"), "refused by a content filter (HTTP 400): no"),
            (Provider::OpenAi, 503, openai("server_is_overloaded"), "rate limited (HTTP 503): no"),
            (Provider::Bedrock, 429, plain("no"), "rate limited (HTTP 429): no"),
            (Provider::Bedrock, 400, plain(too_long), &format!("too long for the model (HTTP 400): {too_long}")),
            (Provider::Cohere, 401, plain("no"), "unauthorized (HTTP 401): no"),
            (Provider::Ollama, 404, r#"{"error":"no"}"#.into(), "model error (HTTP 404): no"),
        ] {
            assert_eq!(failure_text(provider, status, &[], &body), expected, "{body}");
        }
    }

    #[test]
    fn the_wait_that_the_server_asks_for_is_kept_with_its_origin_and_a_wait_of_days_is_an_exceeded_quota() {
        let resets = ("x-ratelimit-reset-tokens", "6m0s");
        let (spent, left) = (("x-ratelimit-remaining-tokens", "0"), ("x-ratelimit-remaining-tokens", "40"));
        let router = |left: u8| {
            format!(
                r#"{{"error":{{"message":"no","metadata":{{"headers":{{"X-RateLimit-Reset":"30","X-RateLimit-Remaining":"{left}"}}}}}}}}"#
            )
        };
        for (status, headers, body, expected) in [
            (
                429,
                &[("retry-after", "2"), resets, spent][..],
                "",
                "rate limited (HTTP 429); asks to wait 2 s by retry-after",
            ),
            (429, &[resets, spent], "", "rate limited (HTTP 429); asks to wait 360 s by x-ratelimit-reset-tokens"),
            (429, &[resets, left], "", "rate limited (HTTP 429)"),
            (
                429,
                &[],
                &router(0),
                "rate limited (HTTP 429): no; asks to wait 30 s by error.metadata.headers.x-ratelimit-reset",
            ),
            (429, &[], &router(3), "rate limited (HTTP 429): no"),
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
            assert_eq!(failure_text(Provider::Compatible, status, headers, body), expected);
        }
    }

    #[test]
    fn a_wait_is_found_in_every_usual_field_of_a_body() {
        for (status, headers, body, expected) in [
            (
                429,
                &[][..],
                r#"{"error":{"message":"no","retryAfterMs":1500}}"#,
                "rate limited (HTTP 429): no; asks to wait 1.5 s by error.retryAfterMs",
            ),
            (
                429,
                &[],
                r#"{"message":"no","retryAfter":"4"}"#,
                "rate limited (HTTP 429): no; asks to wait 4 s by retryAfter",
            ),
            (
                429,
                &[],
                r#"{"message":"no","retryAfterMs":"2500"}"#,
                "rate limited (HTTP 429): no; asks to wait 2.5 s by retryAfterMs",
            ),
            (
                429,
                &[],
                r#"[{"error":{"message":"no","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"3s"}]}}]"#,
                "rate limited (HTTP 429): no; asks to wait 3 s by RetryInfo",
            ),
        ] {
            assert_eq!(failure_text(Provider::Compatible, status, headers, body), expected);
        }
    }

    #[test]
    fn the_message_is_found_in_every_usual_format() {
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
                "an HTML page: 502 Bad Gateway",
            ),
            ("<html><title></title>", "an HTML page"),
            ("<html><title", "an HTML page"),
        ] {
            assert_eq!(read(body).2, expected, "{body}");
        }
    }

    #[test]
    fn code_and_type_are_found_and_a_named_status_beats_a_numeric_code() {
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
