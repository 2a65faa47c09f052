//! Taking keys out of what is written down.

use axum::http::HeaderMap;

/// Headers that hold a key, in lower case.
const SECRET: &[&str] = &["authorization", "proxy-authorization", "x-api-key", "x-goog-api-key", "api-key", "cookie"];

/// What stands behind a `?` and holds a key.
const SECRET_PARAMETERS: &[&str] = &["key", "api_key", "api-key", "access_token"];

/// Headers of a response that tell a client something. All others may tell something about the account.
const KEPT: &[&str] = &["content-type", "retry-after", "retry-after-ms", "request-id", "x-request-id"];

/// What stands instead.
const MARK: &str = "[redacted]";

/// The keys that a request carries.
#[derive(Debug, Default)]
pub(super) struct Secrets(Vec<String>);

impl Secrets {
    pub(super) fn of(headers: &HeaderMap) -> Self {
        let values = SECRET.iter().flat_map(|name| headers.get_all(*name)).filter_map(|value| value.to_str().ok());
        // `Bearer sk-1`: the scheme is no secret.
        let keys = values.filter_map(|value| value.split_whitespace().next_back());
        Self(keys.map(str::to_owned).collect())
    }

    /// The text without them.
    pub(super) fn hide(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, secret| text.replace(secret, MARK))
    }

    /// The path without keys behind its `?`.
    pub(super) fn hide_in_path(&self, path: &str) -> String {
        let Some((path, query)) = path.split_once('?') else { return self.hide(path) };
        let parameters = query.split('&').map(|parameter| match parameter.split_once('=') {
            Some((name, _)) if SECRET_PARAMETERS.contains(&name) => format!("{name}={MARK}"),
            _ => parameter.to_owned(),
        });
        self.hide(&format!("{path}?{}", parameters.collect::<Vec<_>>().join("&")))
    }

    /// The headers of a response that may be kept.
    pub(super) fn kept(&self, headers: &HeaderMap) -> Vec<(String, String)> {
        let known = |name: &str| KEPT.contains(&name) || name.contains("ratelimit");
        let headers = headers.iter().filter(|(name, _)| known(name.as_str()));
        headers.filter_map(|(name, value)| Some((name.as_str().to_owned(), self.hide(value.to_str().ok()?)))).collect()
    }
}
