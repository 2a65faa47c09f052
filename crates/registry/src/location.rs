//! Where a registry is: the Redis server, whose address may contain a password, and the keys in it.

use std::fmt;

use reknit_protocol::redact_url;
use secrecy::{ExposeSecret as _, SecretString};

use crate::service_record::ServiceRecord;

/// The URL of a Redis server. `Display` and `Debug` redact the credentials.
#[derive(Clone)]
pub struct RedisUrl(SecretString);

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

/// The first part of all keys of a registry, so that several can share one database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Namespace(String);

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a namespace: use letters, digits, `_`, `-`, `.` and `:`")]
pub struct NamespaceError(String);

impl Default for Namespace {
    /// `gomind`, which all services of `GoMind` use.
    fn default() -> Self {
        Self("gomind".to_owned())
    }
}

impl Namespace {
    /// Accepts letters, digits, `_`, `-`, `.` and `:`.
    pub fn parse(text: &str) -> Result<Self, NamespaceError> {
        // Also because a pattern of Redis gives other characters a meaning.
        let is_allowed = |letter: char| letter.is_ascii_alphanumeric() || "_-.:".contains(letter);
        if text.is_empty() || text.len() > 128 || !text.chars().all(is_allowed) {
            return Err(NamespaceError(text.to_owned()));
        }
        Ok(Self(text.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub(crate) fn record_key(&self, id: &str) -> String {
        format!("{self}:services:{id}")
    }

    /// The pattern that the keys of all records match.
    pub(crate) fn record_pattern(&self) -> String {
        self.record_key("*")
    }

    pub(crate) fn id_in<'a>(&self, key: &'a str) -> Option<&'a str> {
        key.strip_prefix(self.as_str())?.strip_prefix(":services:")
    }

    /// The keys of the sets that list a service: by each capability, by name and by type.
    pub(crate) fn index_keys(&self, record: &ServiceRecord) -> Vec<String> {
        let capabilities = record.capability_names().map(|name| format!("{self}:capabilities:{name}"));
        let name = format!("{self}:names:{}", record.name);
        let kind = format!("{self}:types:{}", record.service_type);
        capabilities.chain([name, kind]).collect()
    }
}

impl fmt::Display for Namespace {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_those_of_gomind() {
        let record = r#"{"id":"shop-1a2b3c4d","name":"shop","type":"agent","address":"h","port":80,
            "capabilities":[{"name":"price"},{"name":"order"}]}"#;
        let record = ServiceRecord::parse(record).unwrap();
        let namespace = Namespace::default();
        assert_eq!(namespace.record_key(&record.id), "gomind:services:shop-1a2b3c4d");
        assert_eq!(namespace.id_in("gomind:services:shop-1a2b3c4d"), Some("shop-1a2b3c4d"));
        assert_eq!(namespace.id_in("gomind:names:shop"), None);
        let indexes =
            ["gomind:capabilities:price", "gomind:capabilities:order", "gomind:names:shop", "gomind:types:agent"];
        assert_eq!(namespace.index_keys(&record), indexes);
    }

    #[test]
    fn a_namespace_has_no_character_with_a_meaning_in_patterns() {
        assert_eq!(Namespace::parse("team-1:gomind").unwrap().as_str(), "team-1:gomind");
        for text in ["", "a*", "a?", "[a]", "a b", "a\\", "ä", &"a".repeat(129)] {
            assert!(Namespace::parse(text).is_err(), "{text}");
        }
    }

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
