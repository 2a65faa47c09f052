//! What has happened. The state of a run is the fold of its events and of nothing else.

use std::sync::Arc;

use reknit_bind::Mapping;
use reknit_dialogue::{Answer as ModelAnswer, Failure as ModelFailure, TargetName};
use reknit_plan::Catalogue;
use reknit_protocol::{EffectId, Object, Plan, RunId, exact};
use serde::{Deserialize, Serialize};

use crate::session::SessionStarted;
use crate::telemetry::TraceParent;
use crate::{Policy, Templates};
use reknit_protocol::{ToolReply, TransportFailure};

/// The version of the machine: an event list written by another version may want other effects.
pub const MACHINE_VERSION: u32 = 4;

/// Something that happened, and when.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// Milliseconds since 1970.
    pub at_ms: i64,
    /// What happened.
    pub what: What,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum What {
    /// The run began. Event 0; everything the machine will ever know besides events is in here.
    Started(Box<Started>),
    /// A session began. Event 0 of a session.
    SessionStarted(Box<SessionStarted>),
    /// A process took the run over; the time since the last event does not count as active.
    Resumed,
    /// A model answered.
    ModelAnswered {
        /// The effect that asked.
        effect: EffectId,
        /// What it said.
        answer: ModelAnswer,
    },
    /// A model did not answer.
    ModelFailed {
        /// The effect that asked.
        effect: EffectId,
        /// Why not.
        failure: ModelFailure,
    },
    /// A tool answered, well or badly.
    ToolAnswered {
        /// The effect that called.
        effect: EffectId,
        /// What it said.
        reply: ToolReply,
    },
    /// A call brought no answer.
    ToolFailed {
        /// The effect that called.
        effect: EffectId,
        /// Why not.
        failure: TransportFailure,
    },
    /// An effect was not begun: what it needs rests, or is at its limit, for all who want it. Nothing was sent.
    GateClosed {
        /// The effect.
        effect: EffectId,
        /// When it may be tried again, in milliseconds since 1970.
        until_ms: i64,
    },
    /// Somebody has counted how many tokens a question has.
    TokensCounted {
        /// The effect that wanted to know.
        effect: EffectId,
        /// How many; none if nobody can count for this target.
        tokens: Option<u64>,
    },
    /// A wait is over.
    Woke {
        /// The effect that waited.
        effect: EffectId,
    },
    /// A person decided.
    PersonDecided {
        /// The effect that asked.
        effect: EffectId,
        /// The hash of the question that was decided.
        hash: String,
        /// What was decided.
        decision: Decision,
    },
    /// An effect was under way when its process died or was told to stop: nobody knows how far it got.
    Interrupted {
        /// The effect.
        effect: EffectId,
    },
    /// Somebody wants the run to end.
    Cancelled,
    /// Somebody wants it to come to its end soon: a session still writes its report.
    Stopped,
    /// Somebody sent something that cannot be understood. It changes nothing, but it is not lost.
    NotUnderstood {
        /// What it was, in words.
        words: String,
    },
}

/// The one list of what answers effects; for a shared and for a mutable view.
macro_rules! effect_of {
    ($what:expr) => {
        match $what {
            Self::ModelAnswered { effect, .. }
            | Self::ModelFailed { effect, .. }
            | Self::ToolAnswered { effect, .. }
            | Self::ToolFailed { effect, .. }
            | Self::GateClosed { effect, .. }
            | Self::TokensCounted { effect, .. }
            | Self::Woke { effect }
            | Self::PersonDecided { effect, .. }
            | Self::Interrupted { effect } => Some(effect),
            Self::Started(_)
            | Self::SessionStarted(_)
            | Self::Resumed
            | Self::Cancelled
            | Self::Stopped
            | Self::NotUnderstood { .. } => None,
        }
    };
}

impl What {
    /// The name of the variant as it is written.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Started(_) => "started",
            Self::SessionStarted(_) => "session_started",
            Self::Resumed => "resumed",
            Self::ModelAnswered { .. } => "model_answered",
            Self::ModelFailed { .. } => "model_failed",
            Self::ToolAnswered { .. } => "tool_answered",
            Self::ToolFailed { .. } => "tool_failed",
            Self::GateClosed { .. } => "gate_closed",
            Self::TokensCounted { .. } => "tokens_counted",
            Self::Woke { .. } => "woke",
            Self::PersonDecided { .. } => "person_decided",
            Self::Interrupted { .. } => "interrupted",
            Self::Cancelled => "cancelled",
            Self::Stopped => "stopped",
            Self::NotUnderstood { .. } => "not_understood",
        }
    }

    /// The effect that it answers, if it answers one.
    pub fn effect(&self) -> Option<&EffectId> {
        effect_of!(self)
    }

    pub(crate) fn effect_mut(&mut self) -> Option<&mut EffectId> {
        effect_of!(self)
    }
}

/// What a person decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// Do it.
    Approve,
    /// Leave it.
    Deny,
}

impl Decision {
    /// What was done to the question: `approved` or `denied`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Approve => "approved",
            Self::Deny => "denied",
        }
    }
}

/// How a run begins.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Started {
    /// Which run.
    pub run: RunId,
    /// What the user asked for, in the user's words.
    pub request: String,
    /// The plan, if somebody wrote one; otherwise a model makes it.
    #[serde(with = "exact::option")]
    pub plan: Option<Plan>,
    /// What the plan is given, by the names of its inputs; for the rest their defaults count.
    #[serde(with = "exact", default)]
    pub inputs: Object,
    /// What tools there are.
    pub catalogue: Arc<Catalogue>,
    /// The models that may be asked, the preferred one first.
    pub targets: Vec<TargetName>,
    /// The rules.
    pub policy: Arc<Policy>,
    /// The words in which models are asked.
    pub templates: Arc<Templates>,
    /// Where earlier runs found values that their plans left open.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mappings: Vec<Mapping>,
    /// What chance is made of.
    pub seed: u64,
    /// The span of somebody else that it is a part of, for as long as it lasts and whoever drives it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace_parent: Option<TraceParent>,
    /// The version of the machine that began it.
    pub machine_version: u32,
}
