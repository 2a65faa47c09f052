//! The repair ladder: its rungs, and the record of what a rung did.

use serde::{Deserialize, Serialize};

/// The rungs of the ladder, cheapest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rung {
    /// The value was made to fit its schema.
    Schema,
    /// What the error states determined the change.
    Facts,
    /// A model said where in the results a missing value is.
    Resolution,
    /// The same call was sent again.
    Resend,
    /// A model saw the error.
    Feedback,
    /// A model saw all that is known.
    Context,
}

impl Rung {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Schema => "schema",
            Self::Facts => "facts",
            Self::Resolution => "resolution",
            Self::Resend => "resend",
            Self::Feedback => "feedback",
            Self::Context => "context",
        }
    }
}

/// One thing that was mended, or tried.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mend {
    /// On which rung.
    pub rung: Rung,
    /// Whether it changed the call.
    pub effect: MendEffect,
    /// What and why, in words.
    pub words: String,
}

/// What a rung came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MendEffect {
    /// The call was changed or sent again.
    Applied,
    /// It could not help.
    NoHelp,
}
