//! Effects: the work that a machine requests from its driver.

use std::sync::Arc;

use reknit_expressions::Provenance;
use reknit_model_api::{ModelRequest, Money, Purpose, Rotation, TargetName};
use reknit_protocol::{CallTool, CapabilityName, EffectId, Object, ScopeLevel, SideEffect, StepId, ToolName, exact};
use serde::{Deserialize, Serialize};

use crate::answer::Answer;
use crate::digest::digest_of;
use crate::gate::GateRow;
use crate::report::Report;

/// A request to the driver. The driver reports the outcome as an event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    AskModel(AskModel),
    /// Count the tokens of a question for a target.
    CountTokens(Box<CountTokens>),
    CallTool(Arc<CallTool>),
    Sleep {
        id: EffectId,
        /// Until when, in milliseconds since 1970.
        until_ms: i64,
    },
    /// Ask a person. This may take days.
    AskPerson(Arc<AskPerson>),
    /// Stop an effect in progress. Its outcome is still reported: its result, or that it was interrupted.
    Abort {
        effect: EffectId,
        /// How long to wait for its result first: interrupting a call with side effects is worse than waiting.
        grace_ms: u64,
    },
    Finish(Box<Answer>),
    Report(Box<Report>),
}

/// One question to one model target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AskModel {
    pub id: EffectId,
    pub target: TargetName,
    pub purpose: Purpose,
    pub request: Arc<ModelRequest>,
    /// Whether it is asked although the target's circuit breaker is open.
    #[serde(default)]
    pub breaker: OpenBreakerPolicy,
}

/// Whether a question is asked although the target's circuit breaker is open or the target is cooling down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OpenBreakerPolicy {
    /// It is not asked; the driver answers with `BreakerOpen`.
    #[default]
    Respect,
    /// It is asked: there is no time to wait and it is the last question of its session, or the longest wait is over.
    Ignore,
}

impl OpenBreakerPolicy {
    /// The policy for the question to the current target of a rotation.
    pub(crate) fn for_current_target(rotation: &Rotation) -> Self {
        if rotation.asks_while_blocked() { Self::Ignore } else { Self::Respect }
    }
}

/// A question that may be too long for its target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CountTokens {
    pub id: EffectId,
    pub target: TargetName,
    pub request: ModelRequest,
}

/// A question to a person.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AskPerson {
    pub id: EffectId,
    /// The step; `plan` for a whole plan.
    pub step: StepId,
    pub question: Question,
    /// Where each parameter of the call comes from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub provenance: Vec<(String, Provenance)>,
    /// The hash that a decision must state: it binds the decision to this call with these parameters.
    pub hash: String,
    /// When the question expires and counts as denied, in milliseconds since 1970.
    pub expires_ms: i64,
}

impl AskPerson {
    /// Whether the time for a decision is over: the answer is no, and a later decision counts no more.
    pub fn has_expired(&self, now_ms: i64) -> bool {
        self.expires_ms <= now_ms
    }

    /// Whether an agent wrote the call, and no plan: a value that is no result is what the agent wrote.
    pub fn is_of_agent(&self) -> bool {
        matches!(self.id.scope().last(), Some(ScopeLevel::Turn(_)))
    }
}

/// The reason for a question to a person.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Question {
    /// A rule says that a person approves the call before it is sent.
    SendCall {
        /// The call as it would be sent.
        call: Box<CallTool>,
        /// The rules that it matches.
        reason: String,
        /// How it differs from what was written; empty if it does not.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        change: String,
    },
    /// A whole plan is approved before its first call. Its calls are then sent as the preview shows them.
    RunPlan {
        calls: Vec<PreviewedCall>,
        /// How many tool calls the run may make.
        tool_calls: u32,
        /// The cost limit of its model calls.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        money: Option<Money>,
    },
    /// Rules say that a person approves several calls of a loop before they are sent. The answer counts for all of them.
    SendItems {
        #[serde(rename = "agent")]
        tool: ToolName,
        capability: CapabilityName,
        side_effect: SideEffect,
        /// The calls as they would be sent.
        calls: Vec<ItemCall>,
        /// The rules that they match.
        reason: String,
    },
    /// A call may have taken effect. Approve: send it again. Deny: do not. The outcome can also be settled: it happened, or
    /// it did not.
    SendAgain {
        call: Box<CallTool>,
        /// How the call before it failed.
        error: String,
        /// What the check of the outcome found, if there is one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        check: Option<String>,
    },
    /// A call was corrected, and only a person may decide that it is sent. Approve: send it with these values.
    SendCorrected {
        /// The call as it would be sent.
        call: Box<CallTool>,
        /// Why the call before it was refused.
        error: String,
        /// The parameters that changed: `amount: 0 -> 5`.
        change: String,
        /// The reason for the change, and why a person is asked.
        reason: String,
        #[serde(default)]
        asked_by: AskedBy,
        /// The row of the gate that asks.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        row: Option<GateRow>,
    },
}

/// A call of an item of a loop before it is sent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ItemCall {
    pub step: StepId,
    #[serde(with = "exact")]
    pub parameters: Object,
}

/// A call of a plan before it runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PreviewedCall {
    pub step: StepId,
    #[serde(rename = "agent")]
    pub tool: ToolName,
    pub capability: CapabilityName,
    pub side_effect: SideEffect,
    /// The parameters of the plan: values, and references to earlier results as `{{step.field}}`.
    #[serde(with = "exact")]
    pub parameters: Object,
    /// The list of a loop: the call is made once for each of its items.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub foreach: Option<String>,
}

/// What asks about a corrected call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AskedBy {
    /// The side effect of the call, or a value without evidence.
    #[default]
    Correction,
    /// Only an approval rule.
    Rules,
}

impl Question {
    /// The call that is asked about; `None` for a whole plan and for the items of a loop.
    pub fn call(&self) -> Option<&CallTool> {
        match self {
            Self::RunPlan { .. } | Self::SendItems { .. } => None,
            Self::SendCall { call, .. } | Self::SendAgain { call, .. } | Self::SendCorrected { call, .. } => Some(call),
        }
    }

    /// The rule that asks, for metrics and lists: `gate-8`, `approve`, `plan` or `unknown-outcome`.
    pub fn rule(&self) -> String {
        match self {
            Self::RunPlan { .. } => "plan".to_owned(),
            Self::SendAgain { .. } => "unknown-outcome".to_owned(),
            Self::SendCorrected { row: Some(row), .. } => format!("gate-{}", row.number()),
            Self::SendCall { .. } | Self::SendItems { .. } | Self::SendCorrected { row: None, .. } => {
                "approve".to_owned()
            }
        }
    }

    /// Whether only approval rules ask, and nothing is wrong with the call.
    pub fn is_asked_by_rules(&self) -> bool {
        matches!(
            self,
            Self::RunPlan { .. }
                | Self::SendItems { .. }
                | Self::SendCall { .. }
                | Self::SendCorrected { asked_by: AskedBy::Rules, .. }
        )
    }
}

impl Effect {
    /// The id of the effect; `None` for effects without an outcome of their own.
    pub fn id(&self) -> Option<&EffectId> {
        match self {
            Self::AskModel(AskModel { id, .. }) | Self::Sleep { id, .. } => Some(id),
            Self::AskPerson(ask) => Some(&ask.id),
            Self::CallTool(call) => Some(&call.id),
            Self::CountTokens(count) => Some(&count.id),
            Self::Abort { .. } | Self::Finish(_) | Self::Report(_) => None,
        }
    }

    /// The same effect with its ids prefixed with `scope`, so that the machine that encloses its own can request it.
    pub(crate) fn nested_in(mut self, scope: &[ScopeLevel]) -> Self {
        let nest = |id: &mut EffectId| *id = id.clone().nested_in(scope);
        match &mut self {
            Self::AskModel(ask) => nest(&mut ask.id),
            Self::CountTokens(count) => nest(&mut count.id),
            Self::CallTool(call) => nest(&mut Arc::make_mut(call).id),
            Self::Sleep { id, .. } | Self::Abort { effect: id, .. } => nest(id),
            Self::AskPerson(ask) => {
                let ask = Arc::make_mut(ask);
                match &mut ask.question {
                    Question::SendCall { call, .. }
                    | Question::SendAgain { call, .. }
                    | Question::SendCorrected { call, .. } => nest(&mut call.id),
                    Question::RunPlan { .. } | Question::SendItems { .. } => {}
                }
                nest(&mut ask.id);
            }
            Self::Finish(_) | Self::Report(_) => {}
        }
        self
    }

    /// A hash of the whole effect. A replayed run must request exactly the same effects.
    pub fn digest(&self) -> String {
        digest_of(self)
    }
}
