//! One call of a tool's capability, as the engine requests it.

use serde::{Deserialize, Serialize};

use crate::{BusinessKey, CapabilityName, EffectId, JobRequest, Object, SideEffect, StepId, ToolName, exact};

/// A request to call one capability once.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CallTool {
    /// The effect that requests the call.
    pub id: EffectId,
    /// The step that needs the result.
    pub step: StepId,
    /// The tool.
    #[serde(rename = "agent")]
    pub tool: ToolName,
    /// The tool's capability.
    pub capability: CapabilityName,
    /// The parameters to send.
    #[serde(with = "exact")]
    pub parameters: Object,
    /// What the call changes outside Reknit.
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
            SideEffect::Idempotent | SideEffect::Keyed | SideEffect::Undeclared | SideEffect::Unsafe => true,
        }
    }
}
