//! Sources of an answer.

use serde::{Deserialize, Serialize};

/// A source that a provider names for a part of an answer. At least one field is set.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Citation {
    /// The address of the source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Its title, or the name of the document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The text that the provider quotes: of the source, or of the answer that rests on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

impl Citation {
    /// Whether no field is set.
    pub const fn is_empty(&self) -> bool {
        self.url.is_none() && self.title.is_none() && self.text.is_none()
    }
}
