//! The calls of an answer, and what they give to the model.

use reknit_mend::{Mend, Rung};
use reknit_model_api::{Money, ToolCall};
use reknit_protocol::{CapabilityName, Object, ScopeLevel, ToolName, exact};
use serde::{Deserialize, Serialize};

use crate::answer::StepReport;
use crate::business_key::UncertainCall;

/// A call that can be made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Call {
    /// The call as it is kept in the history.
    pub(super) for_history: ToolCall,
    pub(super) callee: Callee,
    #[serde(with = "exact")]
    pub(super) parameters: Object,
    /// How the call differs from what the model wrote.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) changes: Vec<String>,
    /// Why the model makes a call again that succeeded before, if it says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) repeat_reason: Option<String>,
}

/// The target of a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Callee {
    /// A capability of a tool in the catalogue.
    Capability {
        tool: ToolName,
        capability: CapabilityName,
    },
    StoredResult,
    /// A call that succeeded before: its index in the session's list of completed calls.
    EarlierResult(usize),
    /// A call that the same answer has before: its index among the calls of the turn.
    SameTurn(usize),
    /// The tool that runs a whole plan.
    Plan,
    /// Another agent: its index in the session's list of agents.
    Agent(usize),
}

impl Call {
    /// The call as it is compared with uncertain calls; `None` unless it calls a tool of the catalogue.
    pub(super) fn identity(&self) -> Option<UncertainCall> {
        let Callee::Capability { tool: agent, capability } = &self.callee else { return None };
        let (agent, capability) = (agent.clone(), capability.clone());
        Some(UncertainCall { tool: agent, capability, parameters: self.parameters.clone() })
    }
}

/// A call with a side effect that succeeded, and its result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct CompletedCall {
    /// The call as the model wrote it and as it was sent.
    pub(super) written: UncertainCall,
    pub(super) sent: UncertainCall,
    pub(super) turn: u32,
    pub(super) call: String,
    /// The result, without notes.
    pub(super) text: String,
}

/// The state of a call that is not a step of the run for the calls.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ChildState {
    NotStarted,
    Running(BudgetShare),
    Ended(ToolOutput),
}

/// The output of a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ToolOutput {
    pub(super) text: String,
    pub(super) is_error: bool,
    /// How the call was changed before it was sent.
    pub(super) note: Option<String>,
}

impl ToolOutput {
    pub(super) fn failure(reason: &str) -> Self {
        Self { text: format!("(tool failed: {reason})"), is_error: true, note: None }
    }

    pub(super) fn success(text: String) -> Self {
        Self { text, is_error: false, note: None }
    }
}

/// The sentence about a call that failed and may have taken effect.
pub(super) fn in_doubt(agent: &ToolName, capability: &CapabilityName, parameters: &Object) -> String {
    format!("`{capability}` of `{agent}` with {parameters} failed, and may have taken effect")
}

/// The scope of the machine that a call started.
pub(super) fn call_scope(index: usize) -> ScopeLevel {
    ScopeLevel::Call(u32::try_from(index).unwrap_or(u32::MAX).saturating_add(1))
}

pub(super) fn call_name(index: usize) -> String {
    call_scope(index).to_string()
}

pub(super) fn approved_calls(report: &StepReport) -> impl Iterator<Item = String> + '_ {
    report.approvals.iter().map(|approval| format!("`{}` of `{}`: {approval}", report.capability, report.tool))
}

/// All changes of a call, for the model that wrote it; `None` if it was sent as written.
pub(super) fn changes_text(mends: &[Mend]) -> Option<String> {
    let is_change = |mend: &&Mend| mend.is_applied() && mend.rung != Rung::Resend;
    let changes: Vec<&str> = mends.iter().filter(is_change).map(|mend| mend.description.as_str()).collect();
    (!changes.is_empty()).then(|| changes.join("; "))
}

/// The budget of a child. The session is charged for all of it when the child starts; the unused part is refunded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct BudgetShare {
    pub(super) tool_calls: u32,
    pub(super) model_calls: u32,
    #[serde(default)]
    pub(super) money: Money,
}
