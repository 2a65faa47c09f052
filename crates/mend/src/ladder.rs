//! The repair ladder: its rungs, and the record of what a rung did.

use reknit_protocol::word_enum;
use serde::{Deserialize, Serialize};

word_enum! {
    /// A rung of the repair ladder, cheapest first. The words are the names in events, telemetry and output.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Rung {
        /// Code made the parameters fit their schema.
        Schema = "schema",
        /// Code changed the parameters as the facts in the error determine.
        Facts = "facts",
        /// A rule that was learned in earlier runs changed the parameters.
        Rules = "rules",
        /// A model said where in the results a missing value is.
        Resolution = "resolution",
        /// The same call was sent again.
        Resend = "resend",
        /// A model was shown the error.
        Feedback = "feedback",
        /// A model was shown the error, the request and the results.
        Context = "context",
        /// A check or a person told whether a call with an unknown outcome took effect.
        Settlement = "settlement",
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ModelRung {
    Resolution,
    Feedback,
    Context,
}

impl Rung {
    /// Whether the rung changes the parameters of a call.
    pub fn changes_parameters(self) -> bool {
        !matches!(self, Self::Resend | Self::Settlement)
    }
}

impl ModelRung {
    pub fn as_str(self) -> &'static str {
        Rung::from(self).as_str()
    }
}

impl From<ModelRung> for Rung {
    fn from(rung: ModelRung) -> Self {
        match rung {
            ModelRung::Resolution => Self::Resolution,
            ModelRung::Feedback => Self::Feedback,
            ModelRung::Context => Self::Context,
        }
    }
}

/// One repair of a call, whether it helped or not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mend {
    pub rung: Rung,
    pub effect: MendEffect,
    /// What was changed and why, for people and models.
    #[serde(rename = "words")]
    pub description: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MendEffect {
    /// The call was changed or sent again.
    Applied,
    /// The rung found no change to make.
    NoHelp,
}
