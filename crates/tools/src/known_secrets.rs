//! Secrets that were sent to a service, and must not be shown when it returns them.

use std::borrow::Cow;
use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use reknit_protocol::{Object, ReplyBody, ToolReply, Value, percent_encoded};

/// A secret in what a service returned is replaced only if it is at least this long; shorter ones occur by chance.
const MIN_REDACTED: usize = 6;

const REDACTED: &str = "[redacted]";

/// Secrets in every form in which a service usually returns them: as they are, percent-encoded, in base64 and in JSON.
#[derive(Clone, Default)]
pub struct KnownSecrets {
    /// The longest first: one may be a part of another.
    texts: Vec<String>,
}

impl fmt::Debug for KnownSecrets {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} forms of secrets", self.texts.len())
    }
}

impl KnownSecrets {
    /// Adds a secret.
    pub fn add(&mut self, secret: &str) {
        let json = Value::from(secret).to_string();
        let json = json.trim_matches('"');
        let encoded = percent_encoded(secret);
        let encoded = [with_small_digits(&encoded), encoded];
        let others = [json.to_owned(), json.replace('/', "\\/"), BASE64.encode(secret)];
        for form in std::iter::once(secret.to_owned()).chain(encoded).chain(others) {
            if form.len() >= MIN_REDACTED && !self.texts.contains(&form) {
                self.texts.push(form);
            }
        }
        self.texts.sort_by_key(|text| std::cmp::Reverse(text.len()));
    }

    /// Adds all secrets of another list.
    pub fn extend(&mut self, other: &Self) {
        self.texts.extend(other.texts.iter().filter(|text| !self.texts.contains(text)).cloned().collect::<Vec<_>>());
        self.texts.sort_by_key(|text| std::cmp::Reverse(text.len()));
    }

    /// A text without the secrets.
    pub fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.texts.iter().fold(Cow::Borrowed(text), |text, secret| {
            if text.contains(secret.as_str()) { Cow::Owned(text.replace(secret.as_str(), REDACTED)) } else { text }
        })
    }

    /// Bytes without the secrets.
    pub fn redact_bytes(&self, bytes: Vec<u8>) -> Vec<u8> {
        self.texts.iter().fold(bytes, |bytes, secret| replace(bytes, secret.as_bytes()))
    }

    /// A reply without the secrets. A parsed body has them without the escapes of JSON.
    pub fn redact_reply(&self, reply: ToolReply) -> ToolReply {
        ToolReply { body: self.redact_body(reply.body), ..reply }
    }

    /// A body without the secrets.
    pub fn redact_body(&self, body: ReplyBody) -> ReplyBody {
        if self.texts.is_empty() {
            return body;
        }
        match body {
            ReplyBody::Json(value) => ReplyBody::Json(self.redact_value(value)),
            ReplyBody::Repaired { value, fixes } => ReplyBody::Repaired { value: self.redact_value(value), fixes },
            ReplyBody::Text(text) => ReplyBody::Text(self.redact(&text).into_owned()),
            ReplyBody::Empty => ReplyBody::Empty,
        }
    }

    /// A value without the secrets, in its keys as well.
    pub fn redact_value(&self, value: Value) -> Value {
        match value {
            Value::String(text) => match self.redact(&text) {
                Cow::Borrowed(_) => Value::String(text),
                Cow::Owned(redacted) => Value::String(redacted),
            },
            Value::Array(items) => Value::Array(items.into_iter().map(|item| self.redact_value(item)).collect()),
            Value::Object(object) => {
                let members = object.into_iter();
                let redacted =
                    |(key, value): (String, Value)| (self.redact(&key).into_owned(), self.redact_value(value));
                Value::Object(members.map(redacted).collect::<Object>())
            }
            other => other,
        }
    }
}

/// A percent-encoded text with small letters in its digits, which is the same: `%2F` and `%2f`.
fn with_small_digits(encoded: &str) -> String {
    let mut parts = encoded.split('%');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| {
        let (digits, rest) = part.split_at_checked(2).unwrap_or((part, ""));
        format!("{text}%{}{rest}", digits.to_ascii_lowercase())
    })
}

fn replace(bytes: Vec<u8>, secret: &[u8]) -> Vec<u8> {
    let Some(first) = memchr::memmem::find(&bytes, secret) else { return bytes };
    let mut out = Vec::with_capacity(bytes.len());
    let (mut rest, mut next) = (bytes.as_slice(), Some(first));
    while let Some(at) = next {
        let (before, after) = rest.split_at(at);
        out.extend_from_slice(before);
        out.extend_from_slice(REDACTED.as_bytes());
        rest = after.get(secret.len()..).unwrap_or_default();
        next = memchr::memmem::find(rest, secret);
    }
    out.extend_from_slice(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_replaced_in_every_form_that_encoders_give_it() {
        let mut secrets = KnownSecrets::default();
        secrets.add("sk+S3cr3t/Key=99");
        for returned in [
            "sk+S3cr3t/Key=99",
            "sk%2BS3cr3t%2FKey%3D99",
            "sk%2bS3cr3t%2fKey%3d99",
            "c2srUzNjcjN0L0tleT05OQ==",
            "sk+S3cr3t\\/Key=99",
        ] {
            assert_eq!(secrets.redact(&format!("<{returned}>")), "<[redacted]>");
        }
        let escaped = Value::parse(r#"{"h": ["sk\u002BS3cr3t\/Key=99"], "sk+S3cr3t\u002fKey=99": 1}"#).expect("JSON");
        let body = secrets.redact_body(ReplyBody::Json(escaped)).to_value().to_string();
        assert_eq!(body, r#"{"h":["[redacted]"],"[redacted]":1}"#);
    }

    #[test]
    fn a_short_secret_is_not_looked_for() {
        let mut secrets = KnownSecrets::default();
        secrets.add("abc");
        assert_eq!(secrets.redact("abc abcdef"), "abc abcdef");
    }
}
