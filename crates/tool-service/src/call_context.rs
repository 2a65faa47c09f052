//! What a handler knows about the call it answers, besides the arguments.

use std::fmt;

use reknit_protocol::CapabilityName;

/// What a handler knows about the call it answers, besides the arguments.
#[derive(Debug, Clone)]
pub struct CallContext {
    capability: CapabilityName,
    key: Option<IdempotencyKey>,
}

impl CallContext {
    /// A call to a capability. Unit tests use it to call a handler without a server.
    pub fn new(capability: impl Into<CapabilityName>, key: Option<IdempotencyKey>) -> Self {
        Self { capability: capability.into(), key }
    }

    /// The capability that was called: one handler can serve several.
    pub fn capability(&self) -> &CapabilityName {
        &self.capability
    }

    /// The `Idempotency-Key` header of the call. All calls under one key are meant to have one effect.
    pub fn idempotency_key(&self) -> Option<&IdempotencyKey> {
        self.key.as_ref()
    }
}

/// The service keeps each key for a day, so their length is limited.
const MAX_KEY_BYTES: usize = 255;

/// The value of the header `Idempotency-Key`: all calls with the same key have one effect.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct IdempotencyKey(String);

impl IdempotencyKey {
    /// Accepts 1 to 255 visible ASCII characters.
    pub fn parse(text: &str) -> Result<Self, IdempotencyKeyError> {
        if text.is_empty() {
            return Err(IdempotencyKeyError::Empty);
        }
        if text.len() > MAX_KEY_BYTES {
            return Err(IdempotencyKeyError::TooLong { length: text.len() });
        }
        if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(IdempotencyKeyError::NotVisible);
        }
        Ok(Self(text.to_owned()))
    }

    /// The text of the header.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for IdempotencyKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(&self.0)
    }
}

/// Why a text is not an idempotency key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IdempotencyKeyError {
    /// The text is empty.
    #[error("the key is empty")]
    Empty,
    /// The text is longer than 255 bytes.
    #[error("the key has {length} bytes, but at most {MAX_KEY_BYTES} are allowed")]
    TooLong {
        /// The length of the text in bytes.
        length: usize,
    },
    /// The text has a character that is not visible ASCII.
    #[error("the key may only contain visible ASCII characters")]
    NotVisible,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_has_one_to_255_visible_characters() {
        let longest = "k".repeat(255);
        assert_eq!(IdempotencyKey::parse(&longest).unwrap().as_str(), longest);
        assert_eq!(IdempotencyKey::parse(""), Err(IdempotencyKeyError::Empty));
        assert_eq!(IdempotencyKey::parse(&"k".repeat(256)), Err(IdempotencyKeyError::TooLong { length: 256 }));
        for invalid in ["two words", "tab\t", "é"] {
            assert_eq!(IdempotencyKey::parse(invalid), Err(IdempotencyKeyError::NotVisible), "key: {invalid}");
        }
    }
}
