//! The keys of the registry.

use std::fmt;

use crate::service_record::ServiceRecord;

/// The first part of all keys of a registry, so that several can share one database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Namespace(String);

/// A text is not a namespace.
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

    /// The text of the namespace.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The key of a record.
    pub(crate) fn record_key(&self, id: &str) -> String {
        format!("{self}:services:{id}")
    }

    /// The pattern that the keys of all records match.
    pub(crate) fn record_pattern(&self) -> String {
        self.record_key("*")
    }

    /// The id in the key of a record.
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
}
