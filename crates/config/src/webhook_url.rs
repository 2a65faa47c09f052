//! The address of a webhook.

use std::fmt;

use reknit_protocol::redact_url;

/// The address of a webhook. What may be a secret in it is not shown.
#[derive(Clone, PartialEq, Eq)]
pub struct WebhookUrl(String);

impl WebhookUrl {
    /// Reads an address of http or https.
    pub fn parse(text: &str) -> Option<Self> {
        let (scheme, rest) = text.split_once("://")?;
        let is_http = ["http", "https"].iter().any(|known| known.eq_ignore_ascii_case(scheme));
        let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let is_host = !host.is_empty() && !host.ends_with('@') && !host.starts_with(':');
        let has_space = text.contains(|c: char| c.is_whitespace() || c.is_control());
        (is_http && is_host && !has_space).then(|| Self(text.to_owned()))
    }

    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for WebhookUrl {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&redact_url(&self.0))
    }
}

impl fmt::Debug for WebhookUrl {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{self}")
    }
}
