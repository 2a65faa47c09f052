//! One call of a tool's capability as the engine requests it, the job that it may start, and methods of HTTP.

use serde::{Deserialize, Serialize};

use crate::{BusinessKey, CapabilityName, EffectId, Object, SideEffect, StepId, ToolName, exact, word_enum};

/// A request to call one capability once.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CallTool {
    pub id: EffectId,
    pub step: StepId,
    #[serde(rename = "agent")]
    pub tool: ToolName,
    pub capability: CapabilityName,
    #[serde(with = "exact")]
    pub parameters: Object,
    pub side_effect: SideEffect,
    /// The idempotency key; `None` for a read.
    pub idempotency_key: Option<String>,
    /// What identifies the deed, if its capability has a rule for it. It is never sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub business_key: Option<BusinessKey>,
    /// The longest time to wait for the reply.
    pub timeout_ms: u64,
    /// A request about the job of an earlier call. The capability itself is not called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job: Option<JobRequest>,
    /// The URL that the tool may call when a job that the call starts has ended. The driver sets it; it is not part of the effect.
    #[serde(skip)]
    pub callback: Option<String>,
}

impl CallTool {
    /// Whether the driver must claim the call in the journal before it makes it, so that a crash leaves evidence that the
    /// call may have happened.
    pub fn needs_claim(&self) -> bool {
        match self.side_effect {
            SideEffect::Read => false,
            SideEffect::Idempotent
            | SideEffect::Keyed
            | SideEffect::Undeclared
            | SideEffect::Unknown
            | SideEffect::Unsafe => true,
        }
    }
}

/// The job that a tool has started for a call, or that it still works on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolJob {
    /// The tool tells the state of the job if it is asked.
    Ask {
        /// What the tool's route needs to ask: a status URL, the id of a task. Other code does not read it.
        handle: String,
    },
    /// The tool calls back when the job has ended.
    CallsBack,
    /// The tool does not know the job any more, so nobody can tell how it ends.
    Lost { reason: String },
    /// The tool works on the job, but its state must not be asked for.
    NotFollowed { reason: String },
}

/// A request about a job, instead of a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JobRequest {
    /// Ask for the state of the job with this handle.
    Ask(String),
    /// Ask the tool to stop working on the job with this handle.
    Cancel(String),
}

word_enum! {
    /// The method of an HTTP request.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum HttpMethod {
        Get = "get",
        Put = "put",
        Post = "post",
        Delete = "delete",
        Options = "options",
        Head = "head",
        Patch = "patch",
        Trace = "trace",
    }
}

impl HttpMethod {
    /// The class of side effect of a request with this method, if nothing else is known.
    pub fn side_effect(self) -> SideEffect {
        match self {
            Self::Get | Self::Head | Self::Options | Self::Trace => SideEffect::Read,
            Self::Put | Self::Delete => SideEffect::Idempotent,
            Self::Post | Self::Patch => SideEffect::Unsafe,
        }
    }
}
