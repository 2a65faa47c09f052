//! The address of a Redis server, which may contain a password.

use std::fmt;

use reknit_protocol::redact_url;
use secrecy::{ExposeSecret as _, SecretString};

/// The URL of a Redis server. `Display` and `Debug` redact the credentials.
#[derive(Clone)]
pub struct RedisUrl(SecretString);

/// A text is not the address of a Redis server.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not the address of a Redis server; write it like `redis://127.0.0.1:6379`")]
pub struct RedisUrlError {
    /// The text, redacted.
    pub text: String,
}

impl RedisUrl {
    /// Accepts `redis://`, `rediss://` (with TLS) and `redis+unix://`.
    pub fn parse(text: &str) -> Result<Self, RedisUrlError> {
        if is_address(text) { Ok(Self(text.into())) } else { Err(RedisUrlError { text: redact_url(text) }) }
    }

    /// The URL with its credentials.
    pub fn expose(&self) -> &str {
        self.0.expose_secret()
    }
}

#[cfg(feature = "redis")]
fn is_address(text: &str) -> bool {
    redis::IntoConnectionInfo::into_connection_info(text).is_ok()
}

/// Without a client only the scheme is checked.
#[cfg(not(feature = "redis"))]
fn is_address(text: &str) -> bool {
    ["redis://", "rediss://", "redis+unix://"].iter().any(|scheme| text.starts_with(scheme))
}

impl PartialEq for RedisUrl {
    fn eq(&self, other: &Self) -> bool {
        self.expose() == other.expose()
    }
}

impl Eq for RedisUrl {}

impl fmt::Display for RedisUrl {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&redact_url(self.expose()))
    }
}

impl fmt::Debug for RedisUrl {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "RedisUrl({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neither_an_address_nor_its_errors_show_the_password() {
        let url = RedisUrl::parse("rediss://me:hunter2@host:6380/3").unwrap();
        assert_eq!(
            format!("{url} {url:?}"),
            "rediss://[redacted]@host:6380/3 RedisUrl(rediss://[redacted]@host:6380/3)"
        );
        assert_eq!(url.expose(), "rediss://me:hunter2@host:6380/3");
        for wrong in ["http://me:hunter2@host", "redis://me:hunter2@host/first", "hunter2@host"] {
            let error = RedisUrl::parse(wrong).unwrap_err();
            assert!(!format!("{error} {error:?}").contains("hunter2"), "{error}");
        }
    }
}
