//! What the machine wants done.

use std::fmt;

use reknit_dialogue::{Purpose, Request, TargetName};
use reknit_protocol::{AgentName, CapabilityName, Effect as Class, Object, StepId, exact};
use serde::{Deserialize, Serialize};

use crate::Answer;
use crate::digest::digest_of;
use crate::session::Report;

/// How the wait for a decision ends, behind the name of the question.
const EXPIRY: &str = "/expiry";

/// Which effect: who wants it, on which rung, the how-manieth: `step-1/call/2`, `plan/ask/1`.
///
/// It follows from the events alone, so that a run that is read back asks for the same effects under the same names.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EffectId(String);

impl EffectId {
    pub(crate) fn new(owner: &str, rung: &str, ordinal: u32) -> Self {
        Self(format!("{owner}/{rung}/{ordinal}"))
    }

    /// Who wants it: all before the rung and the number. A wait for a decision has one word more.
    pub(crate) fn owner(&self) -> &str {
        let id = self.0.strip_suffix(EXPIRY).unwrap_or(&self.0);
        id.rsplitn(3, '/').nth(2).unwrap_or_default()
    }

    /// The wait after which this question counts as denied.
    pub(crate) fn expiry(&self) -> Self {
        Self(format!("{}{EXPIRY}", self.0))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&str> for EffectId {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl fmt::Display for EffectId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(&self.0)
    }
}

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

/// One call of a capability.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CallTool {
    /// Which effect.
    pub id: EffectId,
    /// For which step.
    pub step: StepId,
    /// The tool.
    pub agent: AgentName,
    /// Its capability.
    pub capability: CapabilityName,
    /// What is sent.
    #[serde(with = "exact")]
    pub parameters: Object,
    /// What the call does to the world.
    pub class: Class,
    /// The idempotency key; none for a read.
    pub key: Option<String>,
    /// How long it may take.
    pub limit_ms: u64,
}

impl CallTool {
    /// Whether the call must be claimed before it is made, so that after a crash it is known that it may have happened.
    pub fn needs_claim(&self) -> bool {
        match self.class {
            Class::Read | Class::Idempotent => false,
            Class::Keyed | Class::Undeclared | Class::Unsafe => true,
        }
    }
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
