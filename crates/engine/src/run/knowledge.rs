//! What a run knows, for decisions that change nothing.

use reknit_plan::{Catalogue, CheckedPlan, PlanAuthor};
use reknit_protocol::{CallTool, CapabilityName, EffectId, Object, SideEffect, StepId, ToolName, Value};

use super::Run;
use super::state::{Account, ActiveClock, Planning, RuledOut};
use super::steps::LoopLists;
use super::steps::Steps;
use crate::event::Started;
use crate::policy::Policy;

/// What a run was given, and what it has found out so far. It cannot change anything, and it does not know the phase, the open
/// questions or the records.
#[derive(Clone, Copy)]
pub(super) struct Knowledge<'a> {
    pub(super) started: &'a Started,
    /// The request as models see it.
    pub(super) request: &'a str,
    pub(super) plan: &'a CheckedPlan,
    pub(super) inputs: Option<&'a Value>,
    pub(super) planning: &'a Planning,
    pub(super) steps: &'a Steps,
    pub(super) loops: &'a LoopLists,
    pub(super) account: &'a Account,
    pub(super) ruled_out: &'a RuledOut,
    pub(super) clock: &'a ActiveClock,
    pub(super) now_ms: i64,
}

/// Whether a call may be sent, and what a person has to approve.
#[derive(Clone, Copy)]
pub(super) struct CallJudge<'a> {
    pub(super) known: Knowledge<'a>,
}

/// What became of the steps, for the answer and for people.
#[derive(Clone, Copy)]
pub(super) struct Reports<'a> {
    pub(super) known: Knowledge<'a>,
}

/// What a second plan may do.
#[derive(Clone, Copy)]
pub(super) struct SecondPlan<'a> {
    pub(super) known: Knowledge<'a>,
}

impl Run {
    pub(super) fn known(&self) -> Knowledge<'_> {
        Knowledge {
            started: &self.started,
            request: &self.shown_request,
            plan: &self.plan,
            inputs: self.inputs.as_ref(),
            planning: &self.state.planning,
            steps: &self.state.steps,
            loops: &self.loops,
            account: &self.state.account,
            ruled_out: &self.state.ruled_out,
            clock: &self.state.clock,
            now_ms: self.state.now_ms,
        }
    }
}

impl<'a> Knowledge<'a> {
    pub(super) fn judge(self) -> CallJudge<'a> {
        CallJudge { known: self }
    }

    pub(super) fn reports(self) -> Reports<'a> {
        Reports { known: self }
    }

    pub(super) fn second_plan(self) -> SecondPlan<'a> {
        SecondPlan { known: self }
    }

    pub(super) fn policy(&self) -> &'a Policy {
        &self.started.policy
    }

    pub(super) fn catalogue(&self) -> &'a Catalogue {
        &self.started.catalogue
    }

    /// The author of the plan: a model, unless the run started with the plan of a person.
    pub(super) fn author(&self) -> PlanAuthor {
        if self.started.plan.is_some() { self.started.plan_author } else { PlanAuthor::Model }
    }
}

/// A call of a step that changes nothing.
pub(super) fn read_call(
    id: EffectId,
    step: &StepId,
    (tool, capability): (&ToolName, &CapabilityName),
    parameters: Object,
    timeout_ms: u64,
) -> CallTool {
    CallTool {
        id,
        step: step.clone(),
        tool: tool.clone(),
        capability: capability.clone(),
        parameters,
        side_effect: SideEffect::Read,
        idempotency_key: None,
        business_key: None,
        timeout_ms,
        job: None,
        callback: None,
    }
}
