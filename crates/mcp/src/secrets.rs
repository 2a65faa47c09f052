//! Secrets that were given to a server, and must not come back.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use secrecy::{ExposeSecret as _, SecretString};

/// A secret in what a server returned is replaced only if it is at least this long; shorter ones occur by chance.
const MIN_REDACTED: usize = 6;

const REDACTED: &str = "[redacted]";

/// Secrets that a server knows. Cloning shares them.
#[derive(Clone, Default)]
pub(crate) struct Secrets(Arc<Vec<String>>);

impl fmt::Debug for Secrets {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} secrets", self.0.len())
    }
}

impl Secrets {
    pub(crate) fn new<'a>(secrets: impl IntoIterator<Item = &'a SecretString>) -> Self {
        let mut texts = Vec::new();
        for secret in secrets {
            let secret = secret.expose_secret();
            // Messages are JSON, in which quotes and line breaks are escaped.
            let escaped = serde_json::Value::from(secret).to_string();
            texts.push(escaped.trim_matches('"').to_owned());
            texts.push(secret.to_owned());
        }
        texts.retain(|text| text.len() >= MIN_REDACTED);
        // The longest first: one secret may be a part of another.
        texts.sort_by_key(|text| std::cmp::Reverse(text.len()));
        texts.dedup();
        Self(Arc::new(texts))
    }

    /// A text without the secrets.
    pub(crate) fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.0.iter().fold(Cow::Borrowed(text), |text, secret| {
            if text.contains(secret.as_str()) { Cow::Owned(text.replace(secret.as_str(), REDACTED)) } else { text }
        })
    }

    /// The same for bytes. Bytes that are not UTF-8 are left as they are: they are not read either.
    pub(crate) fn redact_bytes<'a>(&self, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        match std::str::from_utf8(bytes).map(|text| self.redact(text)) {
            Ok(Cow::Owned(text)) => Cow::Owned(text.into_bytes()),
            _ => Cow::Borrowed(bytes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_replaced_as_it_is_and_as_it_is_in_json() {
        let secrets = Secrets::new(&["a\"b\nsecret".into(), "tiny".into(), "hunter22".into()]);
        let json = serde_json::json!({"echo": "a\"b\nsecret", "tiny": "hunter22"}).to_string();
        assert_eq!(secrets.redact(&json), r#"{"echo":"[redacted]","tiny":"[redacted]"}"#);
        assert_eq!(secrets.redact("x a\"b\nsecret"), "x [redacted]");
        assert_eq!(format!("{secrets:?}"), "3 secrets");
    }
}
