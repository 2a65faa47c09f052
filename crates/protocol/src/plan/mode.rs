//! How a plan came to be.

use std::fmt;

/// How a plan came to be. Carried along; nothing depends on it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Mode {
    /// `autonomous`: a model made it.
    Autonomous,
    /// `workflow`: it was written down beforehand.
    Workflow,
    /// A word the protocol does not know, as written.
    Other(String),
}

impl Mode {
    /// The word on the wire.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Autonomous => "autonomous",
            Self::Workflow => "workflow",
            Self::Other(word) => word,
        }
    }
}

impl From<String> for Mode {
    fn from(word: String) -> Self {
        match word.as_str() {
            "autonomous" => Self::Autonomous,
            "workflow" => Self::Workflow,
            _ => Self::Other(word),
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(self.as_str())
    }
}
