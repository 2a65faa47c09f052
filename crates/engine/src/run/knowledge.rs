//! What a run knows, for decisions that change nothing, in layers: a decision belongs to the first layer that has what it needs.
//!
//! ```text
//!   Started       the request, the policy, the tools
//!   PlanContext   and the plan
//!   StepContext   and the steps with their results
//!   Knowledge     and the time, what was spent, what is ruled out
//! ```
//!
//! Each layer dereferences to the one before it.

use std::ops::Deref;

use reknit_plan::{Catalogue, CheckedPlan, PlanAuthor};
use reknit_protocol::{CallTool, CapabilityName, EffectId, Object, SideEffect, StepId, ToolName, Value};

use super::Run;
use super::run_clock::RunClock;
use super::state::{Account, Planning, RuledOut, Stop};
use super::steps::LoopLists;
use super::steps::Steps;
use crate::event::Started;
use crate::policy::Policy;

/// The plan of a run, and what it was written for. No step changes this.
#[derive(Clone, Copy)]
pub(super) struct PlanContext<'a> {
    pub(super) started: &'a Started,
    /// The request as models see it.
    pub(super) request: &'a str,
    pub(super) plan: &'a CheckedPlan,
    pub(super) inputs: Option<&'a Value>,
    pub(super) planning: &'a Planning,
}

/// The steps of a plan, with their results so far.
#[derive(Clone, Copy)]
pub(super) struct StepContext<'a> {
    pub(super) context: PlanContext<'a>,
    pub(super) steps: &'a Steps,
    pub(super) loops: &'a LoopLists,
}

/// What a run was given, and what it has found out so far. It does not know the phase, the open questions or the records.
#[derive(Clone, Copy)]
pub(super) struct Knowledge<'a> {
    pub(super) context: StepContext<'a>,
    pub(super) account: &'a Account,
    pub(super) ruled_out: &'a RuledOut,
    pub(super) clock: RunClock<'a>,
}

impl Deref for PlanContext<'_> {
    type Target = Started;

    fn deref(&self) -> &Started {
        self.started
    }
}

impl<'a> Deref for StepContext<'a> {
    type Target = PlanContext<'a>;

    fn deref(&self) -> &PlanContext<'a> {
        &self.context
    }
}

impl<'a> Deref for Knowledge<'a> {
    type Target = StepContext<'a>;

    fn deref(&self) -> &StepContext<'a> {
        &self.context
    }
}

/// Whether a call may be sent, and what a person has to approve.
#[derive(Clone, Copy)]
pub(super) struct CallJudge<'a> {
    pub(super) known: StepContext<'a>,
}

/// What became of the steps, for the answer and for people.
#[derive(Clone, Copy)]
pub(super) struct Reports<'a> {
    pub(super) known: StepContext<'a>,
}

/// What a second plan may do.
#[derive(Clone, Copy)]
pub(super) struct SecondPlan<'a> {
    pub(super) known: StepContext<'a>,
    pub(super) ruled_out: &'a RuledOut,
    /// Why no new work starts.
    pub(super) stop: Option<&'a Stop>,
}

impl Run {
    pub(super) fn plan_context(&self) -> PlanContext<'_> {
        PlanContext {
            started: &self.started,
            request: &self.shown_request,
            plan: &self.plan,
            inputs: self.inputs.as_ref(),
            planning: &self.state.planning,
        }
    }

    pub(super) fn known(&self) -> Knowledge<'_> {
        Knowledge {
            context: StepContext { context: self.plan_context(), steps: &self.state.steps, loops: &self.loops },
            account: &self.state.account,
            ruled_out: &self.state.ruled_out,
            clock: self.state.run_clock(&self.started.policy.limits),
        }
    }
}

impl Started {
    /// The author of the plan: a model, unless the run started with the plan of a person.
    pub(super) fn author(&self) -> PlanAuthor {
        if self.plan.is_some() { self.plan_author } else { PlanAuthor::Model }
    }
}

impl<'a> PlanContext<'a> {
    pub(super) fn policy(&self) -> &'a Policy {
        &self.started.policy
    }

    pub(super) fn catalogue(&self) -> &'a Catalogue {
        &self.started.catalogue
    }
}

impl<'a> StepContext<'a> {
    pub(super) fn judge(self) -> CallJudge<'a> {
        CallJudge { known: self }
    }

    pub(super) fn reports(self) -> Reports<'a> {
        Reports { known: self }
    }
}

impl<'a> Knowledge<'a> {
    pub(super) fn second_plan(self) -> SecondPlan<'a> {
        SecondPlan { known: self.context, ruled_out: self.ruled_out, stop: self.account.stop.as_ref() }
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
