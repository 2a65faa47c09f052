//! Which model is meant.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Which configured model on which server: `local`, `groq-70b`. The name people gave it, not the provider's.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TargetName(String);

impl TargetName {
    /// Takes the text as it is; any text is allowed.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&str> for TargetName {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

impl From<String> for TargetName {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl AsRef<str> for TargetName {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl std::borrow::Borrow<str> for TargetName {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for TargetName {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(&self.0)
    }
}

impl fmt::Debug for TargetName {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}
