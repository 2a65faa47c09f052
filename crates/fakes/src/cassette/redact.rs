//! Removes API keys from recordings.

use axum::http::HeaderMap;

/// Request headers that hold a key, in lower case.
const SECRET_HEADERS: &[&str] =
    &["authorization", "proxy-authorization", "x-api-key", "x-goog-api-key", "api-key", "cookie"];

/// Query parameters that hold a key.
const SECRET_PARAMETERS: &[&str] = &["key", "api_key", "api-key", "access_token"];

/// Response headers that clients use. All others are dropped, because they may identify the account.
const RECORDED_HEADERS: &[&str] = &["content-type", "retry-after", "retry-after-ms", "request-id", "x-request-id"];

const REDACTED: &str = "[redacted]";

/// The keys in the headers of a request.
#[derive(Debug, Default)]
pub(super) struct Secrets(Vec<String>);

impl Secrets {
    pub(super) fn from_headers(headers: &HeaderMap) -> Self {
        let values =
            SECRET_HEADERS.iter().flat_map(|name| headers.get_all(*name)).filter_map(|value| value.to_str().ok());
        // In `Bearer sk-1` only the last word is secret.
        let keys = values.filter_map(|value| value.split_whitespace().next_back());
        Self(keys.map(str::to_owned).collect())
    }

    /// Replaces the keys in a text.
    pub(super) fn redact(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, secret| text.replace(secret, REDACTED))
    }

    /// Replaces the keys in a path and in its query.
    pub(super) fn redact_path(&self, path: &str) -> String {
        let Some((path, query)) = path.split_once('?') else { return self.redact(path) };
        let parameters = query.split('&').map(|parameter| match parameter.split_once('=') {
            Some((name, _)) if SECRET_PARAMETERS.contains(&name) => format!("{name}={REDACTED}"),
            _ => parameter.to_owned(),
        });
        self.redact(&format!("{path}?{}", parameters.collect::<Vec<_>>().join("&")))
    }

    /// The response headers to record.
    pub(super) fn recorded_headers(&self, headers: &HeaderMap) -> Vec<(String, String)> {
        let is_recorded = |name: &str| RECORDED_HEADERS.contains(&name) || name.contains("ratelimit");
        let headers = headers.iter().filter(|(name, _)| is_recorded(name.as_str()));
        headers
            .filter_map(|(name, value)| Some((name.as_str().to_owned(), self.redact(value.to_str().ok()?))))
            .collect()
    }
}
