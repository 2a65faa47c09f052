//! A second plan: if a step failed that no rung could mend, the planner is asked once more, for a plan of what is missing.
//!
//! The steps of the first plan stay as they ended. Those of the second one are added behind them, and may refer to the results
//! there are. A call whose outcome is unknown is not planned again in any form, and a call that was answered is not made again.

use std::collections::BTreeSet;
use std::sync::Arc;

use reknit_expressions::abridge;
use reknit_mend::CallFault;
use reknit_model_api::Message;
use reknit_plan::{
    CheckedPlan, LoopItem, PlanProblem, PlannedStep, StepIndex, TolerablePlan, append_steps, check_tolerantly,
    correct_plan,
};
use reknit_protocol::{Plan, SideEffect, StepId};

use super::finish::left_out_report;
use super::knowledge::{PlanContext, SecondPlan, StepContext};
use super::stage::Stage;
use super::state::{Phase, PlanApproval};
use super::step_run::StepRun;
use super::{Run, planned};
use crate::answer::{Outcome, Replanning, limit_items};
use crate::internal_error::{Decided, InternalError};
use crate::record::RunRecord;
use crate::result_handle::{ResultHandle, response_data};
use crate::templates::{TemplateError, render};

/// How much of a result, and of the parameters of a call, the planner is shown, in bytes of JSON.
const SHOWN_RESULT: usize = 2_000;
const SHOWN_PARAMETERS: usize = 500;

impl Run {
    /// The times that the planner was asked for a plan of what is missing.
    pub fn replannings(&self) -> &[Replanning] {
        &self.state.planning.replannings
    }

    /// Asks for a plan of what is missing, if steps failed for which there may be another way. Returns whether it did.
    pub(super) fn replan(&mut self) -> Decided<bool> {
        if !self.known().second_plan().may_replan() {
            return Ok(false);
        }
        let replaceable = self.known().second_plan().replaceable_steps()?;
        let mut failed = Vec::new();
        for (index, planned) in self.plan.indices().zip(self.plan.written_steps()) {
            let has_failed = matches!(self.state.steps.get(index)?.stage(), Stage::Failed { .. });
            if has_failed && replaceable.contains(&index) {
                failed.push(planned.id.clone());
            }
        }
        if failed.is_empty() {
            return Ok(false);
        }
        self.record(RunRecord::Replanning { times: self.state.planning.replannings.len() + 1, failed: failed.clone() });
        self.state.planning.replannings.push(Replanning { failed, ..Replanning::default() });
        self.request_plan(None)?;
        // If no model can be paid, the run ends with what it has.
        Ok(matches!(self.state.phase, Phase::Planning { .. }))
    }

    /// The text of a model is a plan of what is missing. Fails with its problems.
    pub(super) fn accept_second_plan(
        &mut self,
        mut second: Plan,
        mut repairs: Vec<String>,
        is_last: bool,
    ) -> Decided<Result<(), Vec<String>>> {
        let first =
            self.state.planning.plan.clone().ok_or_else(|| InternalError::new("a second plan without a first one"))?;
        let is_done = |id: &StepId| {
            let step = self.plan.index_of(id.as_str()).and_then(|index| self.state.steps.get(index).ok());
            step.is_some_and(|step| matches!(step.stage(), Stage::Done(_)))
        };
        // The first plan was corrected. A planner that repeats a done step word for word repeats its mistakes, too.
        let mut corrected = second.clone();
        correct_plan(&mut corrected, self.catalogue(), self.known().author());
        for (step, corrected) in second.steps.iter_mut().zip(corrected.steps) {
            if is_done(&step.step_id) {
                *step = corrected;
            }
        }
        let extended = match append_steps(&first, second, is_done) {
            Ok(extended) => extended,
            Err(problems) => return Ok(Err(problems.iter().map(ToString::to_string).collect())),
        };
        repairs.extend(extended.changes);
        if extended.added.is_empty() {
            self.give_up_replanning("the planner found no other way".to_owned());
            return Ok(Ok(()));
        }
        let mut plan = extended.plan;
        let is_added = |step: &StepId| extended.added.contains(step);
        let written = plan.clone();
        let mut fixes = correct_plan(&mut plan, self.catalogue(), self.known().author());
        fixes.retain(|fix| is_added(&fix.step));
        repairs.extend(fixes.iter().map(ToString::to_string));
        self.known().add_confirmations(&mut plan);
        // The first steps have run as they are.
        for (step, known) in plan.steps.iter_mut().zip(&first.steps) {
            step.clone_from(known);
        }
        let is_new = |problem: &&PlanProblem| problem.location.step.as_ref().is_none_or(is_added);
        let tolerable = match check_tolerantly(&plan, self.catalogue(), self.known().author(), |step| {
            self.known().only_reads(step)
        }) {
            Ok(tolerable) => tolerable,
            Err(problems) => {
                let new: Vec<String> = problems.iter().filter(is_new).map(ToString::to_string).collect();
                let all = || problems.iter().map(ToString::to_string).collect();
                return Ok(Err(if new.is_empty() { all() } else { new }));
            }
        };
        let TolerablePlan { kept, left_out, dropped, .. } = &tolerable;
        let tolerated = kept.iter().chain(left_out).chain(dropped.iter().map(|(_, problem)| problem));
        let tolerated: Vec<String> = tolerated.filter(is_new).map(ToString::to_string).collect();
        let mut problems = self.known().second_plan().second_plan_problems(&tolerable.checked, first.steps.len());
        problems
            .extend(self.known().read_call_problems(&tolerable.plan).iter().filter(is_new).map(ToString::to_string));
        if !is_last {
            problems.extend(tolerated.iter().cloned());
        }
        if !problems.is_empty() {
            return Ok(Err(problems));
        }
        repairs.extend(tolerated.into_iter().map(|problem| format!("accepted with a problem: {problem}")));
        self.note_corrected(&fixes, &tolerable.plan);
        self.note_lost_parameters(&written, &tolerable.plan);
        self.extend_plan(tolerable, repairs)?;
        Ok(Ok(()))
    }

    /// Adds the steps of a checked second plan behind those that were written before, and before the items of loops.
    fn extend_plan(&mut self, tolerable: TolerablePlan, repairs: Vec<String>) -> Decided {
        for index in self.known().second_plan().replaceable_steps()? {
            self.state.steps.get_mut(index)?.replaced = true;
        }
        let kept = self.plan.written_steps().len();
        let items: Vec<LoopItem> = self.plan.steps.iter().filter_map(|step| step.item).collect();
        let mut plan = tolerable.checked;
        let added: Vec<StepId> = plan.written_steps().iter().skip(kept).map(|step| step.id.clone()).collect();
        for item in items {
            plan.add_item(item).ok_or_else(|| InternalError::new("an item of a step that does not exist"))?;
        }
        self.note_dropped_filters(&tolerable.plan, |step| added.contains(step));
        self.state.steps.insert(kept, added.len(), &plan);
        self.plan = Arc::new(plan);
        self.state.planning.plan = Some(tolerable.plan);
        // The items of loops have other indices now, under which their results are released again.
        self.fresh_results = self.plan.indices().filter(|index| self.known().is_done(*index)).collect();
        self.state.planning.left_out.extend(tolerable.dropped.iter().map(left_out_report));
        self.record(RunRecord::PlanAccepted { steps: added.len(), repairs: repairs.clone() });
        self.state.planning.repairs.extend(repairs);
        if let Some(last) = self.state.planning.replannings.last_mut() {
            last.added = added;
        }
        self.note_plan_questions();
        self.state.phase = Phase::Running;
        self.state.planning.approval = PlanApproval::NotAsked;
        self.ask_about_plan()
    }

    /// There is no second plan: the run ends with what it has.
    pub(super) fn give_up_replanning(&mut self, reason: String) {
        self.record(RunRecord::ReplanningGivenUp { reason: reason.clone() });
        if let Some(last) = self.state.planning.replannings.last_mut() {
            last.gave_up = Some(reason);
        }
        self.note_plan_questions();
        self.state.phase = Phase::Running;
    }

    /// Keeps the ordinal of the last question for a plan, so that a later one gets another.
    pub(super) fn note_plan_questions(&mut self) {
        if let Phase::Planning { consultation, .. } = &self.state.phase {
            self.state.asked.plan = consultation.asked();
        }
    }
}

impl<'a> SecondPlan<'a> {
    /// A person's plan is never replaced, and neither is one that a person or a limit has stopped.
    fn may_replan(&self) -> bool {
        let by_model = self.known.started.plan.is_none() && self.known.planning.plan.is_some();
        let is_allowed = self.known.planning.replannings.len() < self.known.policy().planning.replans as usize;
        let gave_up = self.known.planning.replannings.last().is_some_and(|last| last.gave_up.is_some());
        by_model && is_allowed && !gave_up && self.stop.is_none() && !self.known.started.targets.is_empty()
    }

    /// The failed and skipped steps that a second plan may replace.
    fn replaceable_steps(&self) -> Decided<BTreeSet<StepIndex>> {
        let mut found = BTreeSet::new();
        for (index, planned) in self.known.plan.indices().zip(&self.known.plan.steps) {
            let of_item =
                matches!(self.known.steps.get(index)?.stage(), Stage::Skipped { .. }) && planned.item.is_some();
            if of_item || self.can_be_replaced(index, planned)? {
                found.insert(index);
            }
        }
        for index in self.known.plan.indices() {
            let items = &self.known.steps.items(index).indices;
            let is_kept = |item: &StepIndex| {
                let stage = self.known.steps.get(*item).map(StepRun::stage);
                !found.contains(item) && !matches!(stage, Ok(Stage::Done(_) | Stage::SkippedByCondition { .. }))
            };
            if items.iter().any(is_kept) {
                found.remove(&index);
            }
        }
        // A skipped step is replaced together with all the steps whose results it lacks.
        loop {
            let before = found.len();
            for (index, planned) in self.known.plan.indices().zip(self.known.plan.written_steps()) {
                if !matches!(self.known.steps.get(index)?.stage(), Stage::Skipped { .. }) {
                    continue;
                }
                let mut lost = Vec::new();
                for needed in &planned.dependency_indices {
                    if matches!(
                        self.known.steps.get(*needed)?.stage(),
                        Stage::Failed { .. } | Stage::Unconfirmed { .. } | Stage::Skipped { .. }
                    ) {
                        lost.push(*needed);
                    }
                }
                if !lost.is_empty() && lost.iter().all(|needed| found.contains(needed)) {
                    found.insert(index);
                }
            }
            if found.len() == before {
                return Ok(found);
            }
        }
    }

    /// Whether another plan may do in another way what a step failed to do: nobody decided against its call, nothing denies
    /// access to it, and it has surely had no effect.
    fn can_be_replaced(&self, index: StepIndex, planned: &PlannedStep) -> Decided<bool> {
        let step = self.known.steps.get(index)?;
        let Stage::Failed { fault, .. } = step.stage() else { return Ok(false) };
        let fault = fault.as_deref().or_else(|| step.last_fault().map(AsRef::as_ref));
        Ok(!step.replaced
            && !step.approval.withheld
            && step.key_holder.is_none()
            && !planned.controls.on_failure.keeps_dependents()
            && !step.may_have_happened(self.known.side_effect(planned), fault)
            && !fault.is_some_and(CallFault::denies_access)
            && !self.ruled_out.avoids(planned, step))
    }

    /// The steps whose calls do not only read and may have had an effect nobody knows.
    fn uncertain(self) -> Vec<(&'a PlannedStep, &'a StepRun)> {
        let reports = self.known.reports().step_reports();
        let steps = self.known.steps_in_order().zip(&reports);
        let uncertain = steps.filter(|((planned, _), report)| {
            let is_unknown = match &report.outcome {
                Outcome::Failed { fate, .. } => *fate == reknit_mend::Fate::Unknown,
                Outcome::Unconfirmed { .. } => true,
                Outcome::Done(_) | Outcome::Skipped { .. } => false,
            };
            is_unknown && self.known.side_effect(planned) != SideEffect::Read
        });
        uncertain.map(|(step, _)| step).collect()
    }

    /// The prompt for a plan, with what became of the first one.
    pub(super) fn with_progress(&self, mut messages: Vec<Message>) -> Result<Vec<Message>, TemplateError> {
        let done = self.shown_steps(|stage| matches!(stage, Stage::Done(_)));
        let failed = self.shown_steps(|stage| matches!(stage, Stage::Failed { .. } | Stage::Skipped { .. }));
        let uncertain: Vec<String> =
            self.uncertain().iter().map(|(planned, step)| format!("- {}", shown_call(planned, step))).collect();
        let next = format!("step-{}", self.known.plan.written_steps().len() + 1);
        let values = [
            ("done", if done.is_empty() { "nothing" } else { &done }),
            ("failed", failed.as_str()),
            ("uncertain", &uncertain.join("\n")),
            ("next", next.as_str()),
        ];
        let progress = render(&self.known.started.templates.replan, &values)?;
        let progress = progress.iter().map(Message::text).collect::<Vec<_>>().join("\n\n");
        if let Some(last) = messages.pop() {
            messages.push(Message::user(format!("{}\n\n{progress}", last.text())));
        }
        Ok(messages)
    }

    /// The steps in some stages, one line each; of the items of a loop the first ones.
    fn shown_steps(&self, is_shown: impl Fn(&Stage) -> bool) -> String {
        let lines =
            self.known.steps_in_order().filter(|(_, step)| is_shown(step.stage())).filter_map(|(planned, step)| {
                let is_in_list = planned.item.is_some_and(|item| {
                    self.known.steps.get(item.of).is_ok_and(|of| matches!(of.stage(), Stage::Done(_)))
                });
                let call = shown_call(planned, step);
                let words = match step.stage() {
                    Stage::Done(result) => abridge(&response_data(&result.load()), SHOWN_RESULT, &[]).to_string(),
                    Stage::Failed { fault, .. } if fault.as_deref().is_some_and(CallFault::denies_access) => {
                        "access was denied".to_owned()
                    }
                    Stage::Failed { reason, fault } => match fault {
                        Some(fault) => format!("failed: {fault}; {reason}"),
                        None => format!("failed: {reason}"),
                    },
                    Stage::Skipped { reason } => format!("not made: {reason}"),
                    _ => return None,
                };
                (!is_in_list).then(|| (self.known.loop_of(planned), format!("- {call}: {words}")))
            });
        limit_items(lines, |of, more| format!("- {of}: {more} more items")).join("\n")
    }

    /// What the steps of a second plan must not do: call what may have happened, or need a result that there is not.
    fn second_plan_problems(&self, checked: &CheckedPlan, kept: usize) -> Vec<String> {
        let uncertain = self.uncertain();
        let mut problems = Vec::new();
        for new in checked.written_steps().iter().skip(kept) {
            let is_same = |(step, _): &&(&PlannedStep, &StepRun)| {
                !new.computed && step.tool == new.tool && step.capability == new.capability
            };
            if let Some((step, _)) = uncertain.iter().find(is_same) {
                problems.push(format!(
                    "step `{}`: `{}/{}` may have happened in step `{}`, so it is not planned again (leave it out)",
                    new.id, new.tool, new.capability, step.id
                ));
            }
            for (needed, at) in new.dependencies.iter().zip(&new.dependency_indices) {
                let stage = self.known.steps.get(*at).map(StepRun::stage);
                let has_value = matches!(stage, Ok(Stage::Done(_) | Stage::SkippedByCondition { .. }));
                if at.get() < kept && !has_value {
                    problems.push(format!("step `{}` needs `{needed}`, which has no result (plan it anew)", new.id));
                }
            }
        }
        problems
    }
}

impl PlanContext<'_> {
    /// Whether the planner is asked, or was asked, for a plan of what is missing.
    pub(super) fn is_replanning(&self) -> bool {
        self.planning.plan.is_some()
    }

    /// Whether a step belongs to a second plan, also as an item of a loop.
    pub(super) fn is_of_second_plan(&self, planned: &PlannedStep) -> bool {
        let id = self.loop_of(planned).unwrap_or_else(|| planned.id.clone());
        self.planning.replannings.iter().any(|replanning| replanning.added.contains(&id))
    }
}

impl<'a> StepContext<'a> {
    fn is_done(&self, index: StepIndex) -> bool {
        self.steps.get(index).is_ok_and(|step| matches!(step.stage(), Stage::Done(_)))
    }

    /// The failed step of the first plan that a step of a second plan replaces: it has the same capability, if possible of the
    /// same tool.
    pub(super) fn replaced_step(self, planned: &PlannedStep) -> Option<(&'a PlannedStep, &'a StepRun)> {
        if !self.is_of_second_plan(planned) {
            return None;
        }
        let steps = self.plan.steps.iter().zip(self.steps.iter());
        let replaced = |(other, step): &(&PlannedStep, &StepRun)| {
            step.replaced && other.capability == planned.capability && !self.is_of_second_plan(other)
        };
        let mut replaced: Vec<_> = steps.filter(replaced).collect();
        replaced.sort_by_key(|(other, _)| other.tool != planned.tool);
        replaced.into_iter().next()
    }

    /// The result of the same call in the first plan: a second plan makes it only once more if it polls.
    pub(super) fn earlier_result(&self, index: StepIndex) -> Decided<Option<ResultHandle>> {
        if self.planning.replannings.is_empty() {
            return Ok(None);
        }
        let (planned, step) = (planned(self.plan, index)?, self.steps.get(index)?);
        if step.counts.calls > 0 || planned.controls.until.is_some() || !self.is_of_second_plan(planned) {
            return Ok(None);
        }
        let wanted = step.as_call(planned);
        let steps = self.plan.steps.iter().zip(self.steps.iter());
        Ok(steps
            .filter(|(other, _)| other.tool == planned.tool && other.capability == planned.capability)
            .filter(|(other, step)| step.sent() > 0 && !self.is_of_second_plan(other))
            .find_map(|(other, step)| match step.stage() {
                Stage::Done(result) if wanted.is_same_as(&step.as_call(other)) => Some(result.clone()),
                _ => None,
            }))
    }
}

/// A step with its call: `pay (bank/transfer with {"amount": 5})`.
fn shown_call(planned: &PlannedStep, step: &StepRun) -> String {
    if planned.computed {
        return format!("{} (compute)", planned.id);
    }
    let parameters = abridge(&step.parameters.clone().into(), SHOWN_PARAMETERS, &[]);
    format!("{} ({}/{} with {parameters})", planned.id, planned.tool, planned.capability)
}
