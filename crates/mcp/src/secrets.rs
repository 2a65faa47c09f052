//! Secrets that were given to a server, and must not come back.

use std::borrow::Cow;
use std::sync::Arc;

use reknit_protocol::{ToolReply, TransportFailure, Value};
use reknit_tools::KnownSecrets;
use secrecy::{ExposeSecret as _, SecretString};

use crate::options::McpConnection;

/// Secrets that a server knows. Cloning shares them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Secrets(Arc<KnownSecrets>);

impl Secrets {
    pub(crate) fn new<'a>(secrets: impl IntoIterator<Item = &'a SecretString>) -> Self {
        let mut known = KnownSecrets::default();
        for secret in secrets {
            known.add(secret.expose_secret());
        }
        Self(Arc::new(known))
    }

    /// The secrets of a connection.
    pub(crate) fn of(connection: &McpConnection) -> Self {
        match connection {
            McpConnection::Stdio(program) => Self::new(program.secrets.iter().map(|(_, value)| value)),
            McpConnection::Http(endpoint) => {
                Self::new(endpoint.headers.iter().map(|(_, value)| value).chain(&endpoint.bearer))
            }
        }
    }

    /// These secrets and one more.
    pub(crate) fn and(&self, secret: &str) -> Self {
        let mut known = KnownSecrets::clone(&self.0);
        known.add(secret);
        Self(Arc::new(known))
    }

    /// A text without the secrets.
    pub(crate) fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.0.redact(text)
    }

    /// The same for bytes. Bytes that are not UTF-8 are left as they are: they are not read either.
    pub(crate) fn redact_bytes<'a>(&self, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        match std::str::from_utf8(bytes).map(|text| self.redact(text)) {
            Ok(Cow::Owned(text)) => Cow::Owned(text.into_bytes()),
            _ => Cow::Borrowed(bytes),
        }
    }

    /// A value without the secrets.
    pub(crate) fn redact_value(&self, value: Value) -> Value {
        self.0.redact_value(value)
    }

    /// The outcome of a call without the secrets, which the escapes of JSON may have hidden before.
    pub(crate) fn redact_outcome(
        &self,
        outcome: Result<ToolReply, TransportFailure>,
    ) -> Result<ToolReply, TransportFailure> {
        match outcome {
            Ok(reply) => Ok(self.0.redact_reply(reply)),
            Err(failure) => {
                let message = self.redact(&failure.message).into_owned();
                Err(TransportFailure { message, ..failure })
            }
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
        assert!(!format!("{secrets:?}").contains("hunter22"));
    }
}
