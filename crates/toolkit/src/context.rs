//! What a handler knows about the call it answers.

use std::fmt;

use reknit_protocol::CapabilityName;

/// What a handler knows about the call it answers, besides the arguments.
#[derive(Debug, Clone)]
pub struct CallContext {
    capability: CapabilityName,
    key: Option<IdempotencyKey>,
}

impl CallContext {
    /// A call to a capability; how handlers are tested without a server.
    pub fn new(capability: impl Into<CapabilityName>) -> Self {
        Self { capability: capability.into(), key: None }
    }

    /// The same call under a key.
    #[must_use]
    pub fn with_key(mut self, key: IdempotencyKey) -> Self {
        self.key = Some(key);
        self
    }

    /// The capability that was called: one handler can serve several.
    pub fn capability(&self) -> &CapabilityName {
        &self.capability
    }

    /// The `Idempotency-Key` of the call. Two calls under one key are meant to have one effect.
    pub fn idempotency_key(&self) -> Option<&IdempotencyKey> {
        self.key.as_ref()
    }
}

/// The longest key that is accepted. Longer ones are a mistake, and each is kept for a day.
const MAX_KEY: usize = 255;

/// The name under which a call is to have its effect once: the header `Idempotency-Key`.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct IdempotencyKey(String);

impl IdempotencyKey {
    /// Takes 1 to 255 visible ASCII characters.
    pub fn parse(text: &str) -> Result<Self, KeyError> {
        if text.is_empty() {
            return Err(KeyError::Empty);
        }
        if text.len() > MAX_KEY {
            return Err(KeyError::TooLong { length: text.len() });
        }
        if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(KeyError::NotVisible);
        }
        Ok(Self(text.to_owned()))
    }

    /// The text of the header.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for IdempotencyKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}

impl fmt::Display for IdempotencyKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(&self.0)
    }
}

/// Why a text is no idempotency key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// There is nothing in it.
    #[error("the key is empty")]
    Empty,
    /// It is longer than 255 bytes.
    #[error("the key has {length} bytes; {MAX_KEY} are the most")]
    TooLong {
        /// How many bytes it has.
        length: usize,
    },
    /// It holds something that is no visible ASCII character.
    #[error("the key may only hold visible ASCII characters")]
    NotVisible,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_one_to_255_visible_characters() {
        let longest = "k".repeat(255);
        assert_eq!(IdempotencyKey::parse(&longest).unwrap().as_str(), longest);
        assert_eq!(IdempotencyKey::parse(""), Err(KeyError::Empty));
        assert_eq!(IdempotencyKey::parse(&"k".repeat(256)), Err(KeyError::TooLong { length: 256 }));
        for odd in ["two words", "tab\t", "é"] {
            assert_eq!(IdempotencyKey::parse(odd), Err(KeyError::NotVisible), "key: {odd}");
        }
    }
}
