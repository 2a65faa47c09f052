//! What the machine wants done.

use reknit_dialogue::{Purpose, Request, TargetName};
use reknit_protocol::{CallTool, EffectId, StepId};
use serde::{Deserialize, Serialize};

use crate::Answer;
use crate::digest::digest_of;
use crate::session::Report;

/// Something the driver is to do, and to answer with an event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Ask one model, once.
    AskModel(AskModel),
    /// Count how many tokens a question has for a target.
    CountTokens(Box<CountTokens>),
    /// Call a tool, once.
    CallTool(CallTool),
    /// Wait until a moment.
    Sleep {
        /// Which effect.
        id: EffectId,
        /// Milliseconds since 1970.
        until_ms: i64,
    },
    /// Ask a person, who may take days.
    AskPerson(AskPerson),
    /// Stop an effect that is under way; it is answered all the same, by its result or as interrupted.
    Abort {
        /// The effect to stop.
        effect: EffectId,
        /// How long its result may still be waited for: stopping a call that changes something is worse than waiting.
        grace_ms: u64,
    },
    /// Nothing is left to do.
    Finish(Box<Answer>),
    /// Nothing is left to do: a session has its report.
    Report(Box<Report>),
}

/// One attempt on one target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AskModel {
    /// Which effect.
    pub id: EffectId,
    /// Who is asked.
    pub target: TargetName,
    /// What for.
    pub purpose: Purpose,
    /// What is asked.
    pub request: Request,
}

/// A question that may be too long for a target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CountTokens {
    /// Which effect.
    pub id: EffectId,
    /// Who would be asked.
    pub target: TargetName,
    /// What would be asked.
    pub request: Request,
}

/// A question that only a person can decide.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AskPerson {
    /// Which effect.
    pub id: EffectId,
    /// For which step.
    pub step: StepId,
    /// What is asked.
    pub question: Question,
    /// What a decision must name: it binds the decision to just this question, this call and these parameters.
    pub hash: String,
    /// When the question counts as denied, in milliseconds since 1970.
    pub expires_ms: i64,
}

/// Why a person is asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Question {
    /// A call that must not happen twice may have happened. Approve: send it again. Deny: leave it.
    SendAgain {
        /// The call.
        call: Box<CallTool>,
    },
    /// A call that must not happen twice has values that a model gave. Approve: send it so.
    SendCorrected {
        /// The call as it would be sent.
        call: Box<CallTool>,
        /// Why the model thinks so.
        reason: String,
    },
}

impl Effect {
    /// Which effect; a finished run and the stopping of an effect have no answer and so no id of their own.
    pub fn id(&self) -> Option<&EffectId> {
        match self {
            Self::AskModel(AskModel { id, .. })
            | Self::CallTool(CallTool { id, .. })
            | Self::Sleep { id, .. }
            | Self::AskPerson(AskPerson { id, .. }) => Some(id),
            Self::CountTokens(count) => Some(&count.id),
            Self::Abort { .. } | Self::Finish(_) | Self::Report(_) => None,
        }
    }

    /// A hash of all of it. A run that is read back must want just what it wanted before.
    pub fn digest(&self) -> String {
        digest_of(self)
    }
}
