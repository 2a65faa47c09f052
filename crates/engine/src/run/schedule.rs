//! Scheduling: a step starts as soon as its dependencies are done, a slot is free and the budget lasts.

use std::sync::Arc;

use reknit_expressions::{Binding, BoundParameters, Provenance, ResolvedBy};
use reknit_mend::{CallFault, Mend, MendEffect, ModelRung, PeoplePolicy, ResolutionPolicy, Rung, Verdict};
use reknit_plan::{OnFailure, PlannedStep, StepIndex};
use reknit_protocol::{
    CallTool, CapabilityName, EffectId, EffectKind, Object, SideEffect, StepId, ToolName, Value, join_first,
};

use super::call_repair::CallRepair;
use super::knowledge::{PlanContext, read_call};
use super::parameter_leaves::display_path;
use super::resolve_parameters::found_names;
use super::resolve_parameters::unbound_message;
use super::stage::Stage;
use super::state::{Phase, PlanApproval};
use super::step_handle::StepHandle;
use super::step_machine::StepMachine;
use super::{Run, planned};
use crate::admitted_call::admit;
use crate::event::Started;
use crate::gate::{Finding, GateVerdict, Pass, joined};
use crate::internal_error::Decided;
use crate::record::{MendDetail, RunRecord, StepDescription, StepEnd};
use crate::result_handle::ResultSource;

impl Run {
    /// Moves every step that can move. Skipping one step can decide others, so this repeats until nothing moves.
    pub(super) fn schedule(&mut self) -> Decided {
        let asks_about_plan = matches!(self.state.planning.approval, PlanApproval::Asking(_));
        if !matches!(self.state.phase, Phase::Running) || asks_about_plan {
            return Ok(());
        }
        let max_calls = self.policy().limits.calls_at_once;
        loop {
            let (mut moved, mut from) = (self.advance_loops()?, StepIndex::new(0));
            while let Some(index) = self.state.steps.ready().next_to_move(from, max_calls) {
                moved |= match self.state.steps.get(index)?.stage() {
                    Stage::Waiting => self.at(index).leave_waiting()?,
                    Stage::Queued => {
                        self.at(index).leave_queue()?;
                        true
                    }
                    Stage::Verifying(_) => self.at(index).leave_verify_queue()?,
                    _ => false,
                };
                from = StepIndex::new(index.get() + 1);
            }
            if !moved {
                return Ok(());
            }
        }
    }

    pub fn result(&self, step: &str) -> Option<&Value> {
        match self.state.steps.get(self.plan.index_of(step)?).ok()?.stage() {
            Stage::Done(value) => Some(value.get()),
            _ => None,
        }
    }

    /// The same, without keeping a value in memory that had to be loaded.
    pub fn load_result(&self, step: &str) -> Option<Arc<Value>> {
        match self.state.steps.get(self.plan.index_of(step)?).ok()?.stage() {
            Stage::Done(value) => value.try_load(),
            _ => None,
        }
    }

    /// Drops large results from memory; `source` loads them when they are needed. Call this after each commit of events: the
    /// source must have all of them.
    pub fn release_results(&mut self, source: &Arc<dyn ResultSource>) {
        let fresh = std::mem::take(&mut self.fresh_results);
        for index in fresh.into_iter().chain(self.loaded_results.take()) {
            let is_loop = self.plan.get(index).is_some_and(|planned| planned.foreach().is_some());
            let of_items: Option<Arc<dyn ResultSource>> =
                is_loop.then(|| Arc::new(self.known().loop_results(index)) as _);
            self.state.steps.release_result(index, of_items.as_ref().unwrap_or(source), &self.loaded_results);
        }
    }
}

impl StepHandle<'_> {
    pub(super) fn record_start(&mut self, planned: &PlannedStep) {
        self.record(RunRecord::StepStarted(StepDescription {
            step: planned.id.clone(),
            tool: planned.tool.clone(),
            capability: planned.capability.clone(),
            instruction: planned.instruction.clone(),
        }));
    }

    /// Records how the text of the call was changed to read it, once.
    fn record_reading(&mut self, planned: &PlannedStep) -> Decided {
        let description = planned.changes_when_read.join("; ");
        let mends = &self.step()?.mends;
        if description.is_empty() || mends.iter().any(|mend| mend.description == description) {
            return Ok(());
        }
        self.add_mend(Rung::Schema, MendEffect::Applied, description, MendDetail::Read)
    }

    pub(super) fn keep_bound(&mut self, planned: &PlannedStep, bound: BoundParameters) -> Decided {
        let coercions = bound.changes.len();
        let step = self.step_mut()?;
        step.parameters = bound.parameters;
        step.number_bound_again();
        step.provenance = bound.provenance;
        step.written = None;
        let provenance = step.provenance.clone();
        self.record(RunRecord::StepBound { step: planned.id.clone(), provenance, coercions });
        Ok(())
    }

    /// Records which values stored mappings found.
    fn record_learned(&mut self) -> Decided {
        for (by, how) in
            [(ResolvedBy::Accepted, "found by an accepted rule"), (ResolvedBy::Learned, "found as in an earlier run")]
        {
            let names = found_names(&self.step()?.provenance, by);
            if !names.is_empty() {
                let description = format!("{names}: {how}");
                self.add_mend(Rung::Resolution, MendEffect::Applied, description, MendDetail::Learned)?;
            }
        }
        Ok(())
    }

    /// Moves a step to another stage, and records it if the step is over.
    pub(super) fn set_stage(&mut self, stage: Stage) -> Decided {
        self.note_repeated_failure(&stage)?;
        let end = match &stage {
            Stage::Done(_) => Some(StepEnd::Done),
            Stage::Failed { reason, fault } => {
                Some(StepEnd::Failed { error: fault.as_ref().map(ToString::to_string), reason: reason.clone() })
            }
            Stage::Unconfirmed { reason, .. } => Some(StepEnd::Unconfirmed { reason: reason.clone() }),
            Stage::Skipped { reason } | Stage::SkippedByCondition { reason } => {
                Some(StepEnd::Skipped { reason: reason.clone() })
            }
            _ => None,
        };
        self.steps.set_stage(self.index, stage)?;
        if let Some(end) = end {
            let step = self.step()?;
            let (calls, mends) = (step.sent(), step.mends.len());
            let planned = self.planned()?;
            let stops = matches!(end, StepEnd::Failed { .. } | StepEnd::Unconfirmed { .. })
                && planned.controls.on_failure == OnFailure::Stop;
            let step = planned.id.clone();
            self.record(RunRecord::StepEnded { step: step.clone(), end, calls, mends });
            self.skip_held_items(&step)?;
            if stops {
                self.stop_after_failure()?;
            }
        }
        Ok(())
    }

    /// Moves another step that ends with this one.
    pub(super) fn set_stage_of(&mut self, index: StepIndex, stage: Stage) -> Decided {
        let own = std::mem::replace(&mut self.index, index);
        let decided = self.set_stage(stage);
        self.index = own;
        decided
    }

    /// Adds to the list of a step's repairs.
    pub(super) fn add_mend(
        &mut self,
        rung: Rung,
        effect: MendEffect,
        description: String,
        detail: MendDetail,
    ) -> Decided {
        let mend = Mend { rung, effect, description };
        let step = self.planned()?.id.clone();
        self.step_mut()?.mends.push(mend.clone());
        self.record(RunRecord::Mended { step, mend, detail });
        Ok(())
    }
}

impl CallRepair<'_> {
    /// Records the values that are sent without a person although they were found by their names, or a second plan chose them.
    fn tell_found(&mut self, findings: &[Finding]) -> Decided {
        let step = self.step()?;
        if step.counts.calls > 0 {
            return Ok(());
        }
        let found = step.provenance.iter().filter_map(|(name, origin)| match origin {
            Provenance::Wired { step, path } if findings.iter().any(|finding| finding.is_about(name)) => {
                Some(format!("{name}: found by its name at {} of `{step}`", display_path(path)))
            }
            _ => None,
        });
        let is_second = self.known().is_of_second_plan(self.planned()?);
        let chosen = findings.iter().filter(|_| is_second).filter_map(|finding| {
            let (name, how) = (finding.parameter.as_deref()?, finding.reason.strip_prefix("is found")?);
            Some(format!("{name}: chosen by the second plan, found{how}"))
        });
        let found = found.chain(chosen).collect::<Vec<_>>().join("; ");
        if found.is_empty() {
            return Ok(());
        }
        self.add_mend(Rung::Resolution, MendEffect::Applied, found, MendDetail::Wired)
    }
}

impl StepMachine<'_> {
    /// Binds a step whose dependencies are done; skips a step that lost one.
    fn leave_waiting(&mut self) -> Decided<bool> {
        let plan = self.context.plan;
        let planned = self.planned()?;
        let mut dependencies: Vec<(&StepId, &Stage)> = Vec::with_capacity(planned.dependencies.len());
        for (id, at) in planned.dependencies.iter().zip(&planned.dependency_indices) {
            dependencies.push((id, self.steps.get(*at)?.stage()));
        }
        let may_fail =
            |id: &StepId| plan.step(id.as_str()).is_some_and(|step| step.controls.on_failure.keeps_dependents());
        let lost = dependencies.iter().find_map(|(id, stage)| match stage {
            Stage::Failed { .. } | Stage::Unconfirmed { .. } if may_fail(id) => None,
            Stage::Failed { .. } => Some(format!("it needs `{id}`, which failed")),
            Stage::Unconfirmed { .. } => Some(format!("it needs `{id}`, which is unconfirmed")),
            Stage::Skipped { .. } => Some(format!("it needs `{id}`, which was skipped")),
            _ => None,
        });
        if let Some(reason) = lost {
            self.set_stage(Stage::Skipped { reason })?;
            return Ok(true);
        }
        let is_settled = |stage: &Stage| {
            matches!(
                stage,
                Stage::Done(_) | Stage::Failed { .. } | Stage::Unconfirmed { .. } | Stage::SkippedByCondition { .. }
            )
        };
        if !dependencies.iter().all(|(_, stage)| is_settled(stage)) {
            return Ok(false);
        }
        let is_skipped = |gate: &StepId| {
            dependencies.iter().any(|(id, stage)| *id == gate && matches!(stage, Stage::SkippedByCondition { .. }))
        };
        if let Some(gate) = planned.controls.within.as_ref().filter(|gate| is_skipped(gate)) {
            let reason = format!("it needs `{gate}`, which was skipped by its condition");
            self.set_stage(Stage::SkippedByCondition { reason })?;
            return Ok(true);
        }
        let step = self.step_mut()?;
        let (has_begun, reopened) = (step.looping.length.is_some(), step.reopened.take());
        if !has_begun && reopened.is_none() && !self.should_run(planned)? {
            return Ok(true);
        }
        self.record_start(planned);
        if planned.foreach().is_some() {
            self.begin_loop(planned)?;
            return Ok(true);
        }
        self.start_step_deadline(planned)?;
        match reopened {
            Some(reopened) => self.continue_reopened(*reopened)?,
            None if planned.computed => self.compute_step(planned)?,
            None => self.bind_step(planned)?,
        }
        Ok(true)
    }

    fn bind_step(&mut self, planned: &PlannedStep) -> Decided {
        self.record_reading(planned)?;
        let of_loop = planned.item.and_then(|item| self.plan.get(item.of));
        let written = of_loop.map_or(&planned.id, |of_loop| &of_loop.id);
        if let Some(corrected) = self.known().planning.corrected_values.get(written).cloned() {
            self.add_mend(Rung::Schema, MendEffect::Applied, corrected, MendDetail::Coerced { values: 1 })?;
        }
        match self.known().binding(planned) {
            Binding::Bound(bound) => {
                if !bound.changes.is_empty() {
                    let changes = bound.changes.iter();
                    let words = changes.map(|change| format!("{}: {} -> {}", change.path, change.before, change.after));
                    let words = words.collect::<Vec<_>>().join("; ");
                    let detail = MendDetail::Coerced { values: bound.changes.len() };
                    self.add_mend(Rung::Schema, MendEffect::Applied, words, detail)?;
                }
                self.keep_bound(planned, bound)?;
                self.record_learned()?;
                self.set_stage(Stage::Queued)
            }
            Binding::Unbound { unbound, .. } if self.skip_without_source(&unbound)? => Ok(()),
            Binding::Unbound { partial, unbound } => {
                self.keep_bound(planned, partial)?;
                self.record_learned()?;
                self.on_unbound(unbound_message(&unbound))
            }
            Binding::Misfit { bound, problems } => {
                self.keep_bound(planned, bound)?;
                // A call that cannot be sent is repaired as if the tool had rejected it.
                let message = format!("the parameters do not fit their schema: {}", join_first(&problems));
                self.on_verdict(Verdict::Correctable(CallFault::local(message)))
            }
        }
    }

    /// Before anything is sent, a model may say where the missing values are.
    fn on_unbound(&mut self, message: String) -> Decided {
        let fault = Arc::new(CallFault::local(message));
        if self.repair_by_rules(&fault)? || self.repair_by_learned_rule(&fault)? {
            return Ok(());
        }
        let step = self.step()?;
        let asked = step.rungs.resolution_asked > step.before_retry.resolutions;
        match self.policy().mending.resolution {
            ResolutionPolicy::Once
                if !asked
                    && !self.context.started.targets.is_empty()
                    && !self.known().nobody_approves(self.index)? =>
            {
                self.consult_about(fault, ModelRung::Resolution)
            }
            ResolutionPolicy::Once | ResolutionPolicy::Off => {
                self.on_verdict(Verdict::Correctable(fault.as_ref().clone()))
            }
        }
    }

    /// Starts the call of a queued step, if the budget lasts.
    fn leave_queue(&mut self) -> Decided {
        let verdict = self.known().judge_next_call(self.index)?;
        if let GateVerdict::Refuse(findings) = &verdict {
            let (reason, is_denied) = (joined(findings), self.ruled_out.denied_like(self.planned()?, self.step()?).0);
            self.step_mut()?.approval.withheld |= is_denied;
            return self.set_stage(Stage::Failed { reason, fault: None });
        }
        if let Some(result) = self.known().earlier_result(self.index)? {
            return self.confirm(self.planned()?, result);
        }
        if let Some(reason) = self.too_late(self.clock.now_ms)? {
            return self.fail_late(reason, None);
        }
        let pass = match verdict {
            GateVerdict::Send(pass) => pass,
            GateVerdict::SendAndTell(pass, findings) => {
                self.tell_found(&findings)?;
                pass
            }
            GateVerdict::Ask(findings) | GateVerdict::Refuse(findings) => return self.ask_about_findings(&findings),
        };
        if let Some(reason) = self.known().judge().rule_to_ask(self.index)? {
            return self.ask_about_call(reason);
        }
        let charged = match self.reserve_for_session()? {
            Ok(()) => self.charge_tool_call(),
            Err(exhausted) => Err(exhausted),
        };
        if let Err(exhausted) = charged {
            let reason = exhausted.to_string();
            self.account.stop_for(exhausted);
            let untouched = self.step()?.sent() == 0;
            let stage = if untouched { Stage::Skipped { reason } } else { Stage::Failed { reason, fault: None } };
            return self.set_stage(stage);
        }
        self.note_missing_key()?;
        let call = admit(self.next_call()?, pass);
        self.step_mut()?.counts.calls += 1;
        self.record(RunRecord::CallStarted(call.share()));
        self.set_stage(Stage::Calling(call))
    }
}

impl Started {
    /// The pass of a call of our own that confirms or checks what another call did. Fails unless the capability only reads.
    pub(super) fn pass_for_own_read(&self, tool: &ToolName, capability: &CapabilityName) -> Result<Pass, String> {
        let (tool, capability) = (tool.as_str(), capability.as_str());
        let Some(entry) = &self.catalogue.entry(tool, capability) else {
            return Err(format!("there is no capability `{tool}/{capability}`"));
        };
        let class = self.policy.effects.class(tool, capability, entry.capability.effect);
        let words = || format!("the side effect class of `{tool}/{capability}` is `{}`, not `read`", class.as_str());
        Pass::for_own_read(class).ok_or_else(words)
    }

    /// A call of a step with these parameters, without what only a step in progress knows.
    pub(super) fn call_of(&self, planned: &PlannedStep, parameters: &Object) -> CallTool {
        let id = EffectId::of_step(&planned.id, EffectKind::Call, 1);
        let (names, timeout_ms) = ((&planned.tool, &planned.capability), self.policy.limits.call_ms);
        let read = read_call(id, &planned.id, names, parameters.clone(), timeout_ms);
        CallTool { side_effect: self.side_effect(planned), ..read }
    }

    /// Whether a call may be made twice without harm.
    pub(super) fn is_harmless(&self, planned: &PlannedStep) -> bool {
        matches!(self.side_effect(planned), SideEffect::Read | SideEffect::Idempotent)
    }

    /// The side effect of a step's call, as declared by the tool or overridden by the policy.
    pub(super) fn side_effect(&self, planned: &PlannedStep) -> SideEffect {
        self.policy.effects.class(planned.tool.as_str(), planned.capability.as_str(), planned.declared)
    }
}

impl PlanContext<'_> {
    /// Whether no model can help: a person approves every value that it finds, and nobody can be asked.
    fn nobody_approves(&self, index: StepIndex) -> Decided<bool> {
        let is_unsafe = self.side_effect(planned(self.plan, index)?) == SideEffect::Unsafe;
        Ok(is_unsafe && self.policy().people == PeoplePolicy::Nobody)
    }
}
