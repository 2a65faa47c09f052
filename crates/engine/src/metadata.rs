//! Metadata of a request: who it is for, such as its tenant and user.

use std::collections::BTreeMap;

use reknit_protocol::{Object, Value};
use serde::{Deserialize, Serialize};

/// The most entries of one request.
const MAX_ENTRIES: usize = 32;
/// The longest key, in bytes.
const MAX_KEY: usize = 64;
/// The longest value, in bytes.
const MAX_VALUE: usize = 512;

/// Texts by key that describe a request, such as `tenant` and `user`. They are part of a run's first event and of its span.
/// Models see only the keys that [`Policy::prompt_metadata`](crate::Policy) names.
///
/// ```
/// use reknit_engine::Metadata;
///
/// let metadata = Metadata::from_pairs([("tenant", "acme"), ("user", "ann")])?;
/// assert_eq!(metadata.get("user"), Some("ann"));
/// let error = Metadata::from_pairs([("the tenant", "acme")]).expect_err("a key has no blanks");
/// assert_eq!(error.to_string(), "the metadata key `the tenant` has other characters than letters, digits, `_`, `-` and `.`");
/// # Ok::<(), reknit_engine::MetadataError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(try_from = "BTreeMap<String, String>", into = "BTreeMap<String, String>")]
pub struct Metadata {
    entries: BTreeMap<String, String>,
}

/// Why metadata was rejected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MetadataError {
    /// The text has no `=`.
    #[error("the metadata `{0}` has no `=`")]
    NoValue(String),
    #[error("a metadata key is empty")]
    EmptyKey,
    /// A key has a character that is not allowed.
    #[error("the metadata key `{0}` has other characters than letters, digits, `_`, `-` and `.`")]
    InvalidKey(String),
    #[error("a metadata key has {0} bytes; the most are {MAX_KEY}")]
    LongKey(usize),
    #[error("the metadata key `{0}` is given twice")]
    DuplicateKey(String),
    #[error("the metadata value of `{key}` has {bytes} bytes; the most are {MAX_VALUE}")]
    LongValue { key: String, bytes: usize },
    #[error("there are more than {MAX_ENTRIES} metadata entries")]
    TooMany,
}

impl Metadata {
    /// The metadata with these keys and values.
    pub fn from_pairs<K: Into<String>, V: Into<String>>(
        pairs: impl IntoIterator<Item = (K, V)>,
    ) -> Result<Self, MetadataError> {
        let mut metadata = Self::default();
        pairs.into_iter().try_for_each(|(key, value)| metadata.insert(key.into(), value.into()))?;
        Ok(metadata)
    }

    /// The metadata of texts such as `tenant=acme`.
    pub fn from_texts<T: AsRef<str>>(texts: impl IntoIterator<Item = T>) -> Result<Self, MetadataError> {
        let mut metadata = Self::default();
        for text in texts {
            let text = text.as_ref();
            let (key, value) = text.split_once('=').ok_or_else(|| MetadataError::NoValue(text.to_owned()))?;
            metadata.insert(key.to_owned(), value.to_owned())?;
        }
        Ok(metadata)
    }

    fn insert(&mut self, key: String, value: String) -> Result<(), MetadataError> {
        Self::check_key(&key)?;
        if value.len() > MAX_VALUE {
            return Err(MetadataError::LongValue { key, bytes: value.len() });
        }
        if self.entries.contains_key(&key) {
            return Err(MetadataError::DuplicateKey(key));
        }
        if self.entries.len() == MAX_ENTRIES {
            return Err(MetadataError::TooMany);
        }
        self.entries.insert(key, value);
        Ok(())
    }

    /// Checks that a text can be a key.
    pub fn check_key(key: &str) -> Result<(), MetadataError> {
        let is_allowed = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-' | '.');
        match key {
            "" => Err(MetadataError::EmptyKey),
            _ if key.len() > MAX_KEY => Err(MetadataError::LongKey(key.len())),
            _ if !key.chars().all(is_allowed) => Err(MetadataError::InvalidKey(key.to_owned())),
            _ => Ok(()),
        }
    }

    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.entries.get(key).map(String::as_str)
    }

    /// The keys and values, in the order of the keys.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.entries.iter().map(|(key, value)| (key.as_str(), value.as_str()))
    }

    /// Whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The keys and values as a JSON object.
    pub fn to_object(&self) -> Object {
        self.iter().map(|(key, value)| (key.to_owned(), Value::from(value))).collect()
    }

    /// The entries with these keys.
    #[must_use]
    pub fn restricted_to(&self, keys: &[String]) -> Self {
        let entries = self.entries.iter().filter(|(key, _)| keys.contains(key));
        Self { entries: entries.map(|(key, value)| (key.clone(), value.clone())).collect() }
    }
}

impl TryFrom<BTreeMap<String, String>> for Metadata {
    type Error = MetadataError;

    fn try_from(entries: BTreeMap<String, String>) -> Result<Self, MetadataError> {
        Self::from_pairs(entries)
    }
}

impl From<Metadata> for BTreeMap<String, String> {
    fn from(metadata: Metadata) -> Self {
        metadata.entries
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_metadata_is_rejected_with_the_cause() {
        let long_key = "k".repeat(65) + "=v";
        let long_value = "k=".to_owned() + &"v".repeat(513);
        for (texts, expected) in [
            (&["tenant"][..], "the metadata `tenant` has no `=`"),
            (&["=acme"], "a metadata key is empty"),
            (&["a b=1"], "the metadata key `a b` has other characters than letters, digits, `_`, `-` and `.`"),
            (&["user=ann", "user=ann"], "the metadata key `user` is given twice"),
            (&[long_key.as_str()], "a metadata key has 65 bytes; the most are 64"),
            (&[long_value.as_str()], "the metadata value of `k` has 513 bytes; the most are 512"),
        ] {
            assert_eq!(Metadata::from_texts(texts).expect_err(expected).to_string(), expected);
        }
        let many = (0..33).map(|number| (format!("k{number}"), "v"));
        assert_eq!(Metadata::from_pairs(many), Err(MetadataError::TooMany));
    }

    #[test]
    fn a_value_may_be_empty_and_contain_an_equals_sign() {
        let metadata = Metadata::from_texts(["note=", "filter=a=b"]).unwrap();
        assert_eq!((metadata.get("note"), metadata.get("filter")), (Some(""), Some("a=b")));
    }

    #[test]
    fn metadata_with_an_invalid_key_cannot_be_read_from_a_journal() {
        assert!(serde_json::from_str::<Metadata>(r#"{"a b": "c"}"#).is_err());
        let metadata: Metadata = serde_json::from_str(r#"{"user": "ann"}"#).unwrap();
        assert_eq!(serde_json::to_string(&metadata).unwrap(), r#"{"user":"ann"}"#);
    }
}
