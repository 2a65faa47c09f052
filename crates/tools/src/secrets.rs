//! Secrets that were sent to a service, and must not be shown when it returns them; and what looks like a secret.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use reknit_protocol::{Object, ReplyBody, ToolReply, TransportFailure, Value, percent_encoded};
use secrecy::{ExposeSecret as _, SecretString};

/// A secret in what a service returned is replaced only if it is at least this long; shorter ones occur by chance.
const MIN_REDACTED: usize = 6;

const REDACTED: &str = "[redacted]";

/// Secrets in every form in which a service usually returns them: as they are, percent-encoded, in base64 and in JSON. Cloning is
/// cheap.
#[derive(Clone, Default)]
pub struct KnownSecrets {
    /// The longest first: one may be a part of another.
    texts: Arc<Vec<String>>,
}

impl fmt::Debug for KnownSecrets {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} forms of secrets", self.texts.len())
    }
}

impl<'a> FromIterator<&'a SecretString> for KnownSecrets {
    fn from_iter<I: IntoIterator<Item = &'a SecretString>>(secrets: I) -> Self {
        let mut known = Self::default();
        secrets.into_iter().for_each(|secret| known.add(secret.expose_secret()));
        known
    }
}

impl KnownSecrets {
    pub fn add(&mut self, secret: &str) {
        let json = Value::from(secret).to_string();
        let json = json.trim_matches('"');
        let encoded = percent_encoded(secret);
        let small = with_small_digits(&encoded);
        let forms =
            [secret.to_owned(), small, encoded, json.to_owned(), json.replace('/', "\\/"), BASE64.encode(secret)];
        self.add_forms(forms.into_iter().filter(|form| form.len() >= MIN_REDACTED));
    }

    pub fn extend(&mut self, other: &Self) {
        self.add_forms(other.texts.iter().cloned());
    }

    fn add_forms(&mut self, forms: impl Iterator<Item = String>) {
        let texts = Arc::make_mut(&mut self.texts);
        for form in forms {
            if !texts.contains(&form) {
                texts.push(form);
            }
        }
        texts.sort_by_key(|text| std::cmp::Reverse(text.len()));
    }

    pub fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.texts.iter().fold(Cow::Borrowed(text), |text, secret| {
            if text.contains(secret.as_str()) { Cow::Owned(text.replace(secret.as_str(), REDACTED)) } else { text }
        })
    }

    pub fn redact_bytes(&self, bytes: Vec<u8>) -> Vec<u8> {
        self.texts.iter().fold(bytes, |bytes, secret| replace(bytes, secret.as_bytes()))
    }

    /// A reply without the secrets. A parsed body has them without the escapes of JSON.
    pub fn redact_reply(&self, reply: ToolReply) -> ToolReply {
        ToolReply { body: self.redact_body(reply.body), ..reply }
    }

    /// The outcome of a call without the secrets.
    pub fn redact_outcome(&self, outcome: Result<ToolReply, TransportFailure>) -> Result<ToolReply, TransportFailure> {
        outcome.map(|reply| self.redact_reply(reply)).map_err(|failure| {
            let message = self.redact(&failure.message).into_owned();
            TransportFailure { message, ..failure }
        })
    }

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
    let (mut out, mut end) = (Vec::new(), 0);
    for at in memchr::memmem::find_iter(&bytes, secret) {
        out.extend_from_slice(bytes.get(end..at).unwrap_or_default());
        out.extend_from_slice(REDACTED.as_bytes());
        end = at + secret.len();
    }
    if end == 0 {
        return bytes;
    }
    out.extend_from_slice(bytes.get(end..).unwrap_or_default());
    out
}

/// Words in the names of headers and environment variables whose values are secrets.
const ANYWHERE: &str = "key token secret password passwd passphrase credential cookie authorization signature";

/// The same, as whole words: `SMTP_PASS` is a secret, `COMPASS` is not.
const WHOLE_WORDS: [&str; 7] = ["pass", "pwd", "pw", "dsn", "auth", "session", "pat"];

/// Names of addresses that usually contain a password.
const ADDRESSES: [&str; 3] = ["database_url", "redis_url", "mongodb_uri"];

/// Whether the name of a header or of an environment variable says that its value is a secret.
///
/// ```
/// use reknit_tools::is_secret_name;
///
/// assert!(is_secret_name("X-Api-Key") && is_secret_name("SMTP_PASS") && is_secret_name("SENTRY_DSN"));
/// assert!(!is_secret_name("COMPASS") && !is_secret_name("Accept-Language"));
/// ```
pub fn is_secret_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase().replace('-', "_");
    ANYWHERE.split(' ').any(|word| name.contains(word))
        || name.split('_').any(|word| WHOLE_WORDS.contains(&word))
        || ADDRESSES.iter().any(|address| name.ends_with(address))
}

/// Whether a value looks like a secret, whatever its name is: a token of a usual form, or an address with a password.
pub fn is_secret_value(value: &str) -> bool {
    let lower = value.trim().to_ascii_lowercase();
    ["bearer ", "basic ", "digest ", "sk-", "ghp_", "github_pat_", "xoxb-", "eyj"]
        .iter()
        .any(|start| lower.starts_with(start))
        || password_in_url(value).is_some()
}

/// The password of an address like `postgres://user:password@host/name`.
pub fn password_in_url(value: &str) -> Option<&str> {
    let (_, rest) = value.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let (user, _) = authority.rsplit_once('@')?;
    let (_, password) = user.split_once(':')?;
    (!password.is_empty()).then_some(password)
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
        let secrets: KnownSecrets = [&"a\"b\nsecret".into(), &"hunter22".into()].into_iter().collect();
        let json = Object::from([("echo", "a\"b\nsecret".into()), ("other", "hunter22".into())]).to_string();
        assert_eq!(secrets.redact(&json), r#"{"echo":"[redacted]","other":"[redacted]"}"#);
        assert_eq!(secrets.redact("x a\"b\nsecret"), "x [redacted]");
        assert_eq!(secrets.redact_bytes(b"\xff hunter22".to_vec()), b"\xff [redacted]");
        assert!(!format!("{secrets:?}").contains("hunter22"));
    }

    #[test]
    fn a_short_secret_is_not_looked_for() {
        let mut secrets = KnownSecrets::default();
        secrets.add("abc");
        assert_eq!(secrets.redact("abc abcdef"), "abc abcdef");
    }

    #[test]
    fn names_and_values_of_secrets_are_recognised() {
        for name in
            ["SMTP_PASS", "DATABASE_URL", "APP_DATABASE_URL", "PGPASSWORD", "SENTRY_DSN", "DB_PWD", "x-auth", "Cookie"]
        {
            assert!(is_secret_name(name), "{name}");
        }
        for name in ["PATH", "HOME", "LANG", "COMPASS_MODE", "AUTHOR", "BASE_URL", "Accept", "X-Request-Source"] {
            assert!(!is_secret_name(name), "{name}");
        }
        assert_eq!(password_in_url("postgres://me:p%40ss@db:5432/x?a=b@c"), Some("p%40ss"));
        for plain in ["postgres://db/x", "https://me@host/", "https://host/a:b@c", "a:b@c"] {
            assert_eq!(password_in_url(plain), None, "{plain}");
        }
        assert!(
            is_secret_value("Bearer abc") && is_secret_value("redis://:hunter22@h") && !is_secret_value("text/html")
        );
    }
}
