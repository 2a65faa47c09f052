//! Which step starts when: as soon as its own inputs are there, a place is free and the budget lasts.

use std::sync::Arc;

use reknit_bind::Binding;
use reknit_protocol::EffectKind;
use reknit_protocol::{Object, SideEffect, StepId, Value};

use super::Run;
use super::resolving::note_learned;
use super::state::{Phase, Stage, Stop};
use super::steps::StepRun;
use crate::digest::idempotency_key;
use reknit_mend::Resolution;
use reknit_mend::{Fault, Verdict};
use reknit_mend::{Mend, MendEffect, Rung};
use reknit_plan::Planned;
use reknit_protocol::join_first;
use reknit_protocol::{CallTool, EffectId};

impl Run {
    /// Starts what can start. Skipping one step can decide others, so it goes round until nothing moves.
    pub(super) fn schedule(&mut self) {
        if !matches!(self.state.phase, Phase::Running) {
            return;
        }
        let at_once = self.policy().limits.calls_at_once;
        loop {
            let (mut moved, mut from) = (false, 0);
            while let Some(index) = self.state.steps.next_to_move(from, at_once) {
                moved |= self.move_on(index);
                from = index + 1;
            }
            if !moved {
                return;
            }
        }
    }

    fn move_on(&mut self, index: usize) -> bool {
        match self.state.steps.get(index).map(StepRun::stage) {
            Some(Stage::Waiting) => self.leave_waiting(index),
            Some(Stage::Queued) => self.leave_queue(index),
            _ => false,
        }
    }

    /// A step whose needs are met is bound; one whose needs cannot be met is skipped.
    fn leave_waiting(&mut self, index: usize) -> bool {
        let plan = Arc::clone(&self.plan);
        let Some(planned) = plan.steps.get(index) else { return false };
        let needs: Vec<(&StepId, &Stage)> = planned
            .needs
            .iter()
            .zip(&planned.needs_at)
            .filter_map(|(id, at)| Some((id, self.state.steps.get(*at)?.stage())))
            .collect();
        let lost = needs.iter().find_map(|(id, stage)| match stage {
            Stage::Failed { .. } => Some(format!("it needs `{id}`, which failed")),
            Stage::Skipped { .. } => Some(format!("it needs `{id}`, which was skipped")),
            _ => None,
        });
        if let Some(reason) = lost {
            self.set_stage(index, Stage::Skipped { reason });
            return true;
        }
        if !needs.iter().all(|(_, stage)| matches!(stage, Stage::Done(_))) {
            return false;
        }
        self.start_time_of(index, planned);
        self.bind_step(index, planned);
        true
    }

    fn bind_step(&mut self, index: usize, planned: &Planned) {
        let binding = self.binding(planned);
        let Some(step) = self.state.steps.get_mut(index) else { return };
        match binding {
            Binding::Bound(bound) => {
                if !bound.changes.is_empty() {
                    let words = bound
                        .changes
                        .iter()
                        .map(|change| format!("{}: {} -> {}", change.path, change.before, change.after));
                    let words = words.collect::<Vec<_>>().join("; ");
                    step.mends.push(Mend { rung: Rung::Schema, effect: MendEffect::Applied, words });
                }
                step.parameters = bound.parameters;
                step.provenance = bound.provenance;
                note_learned(step);
                self.set_stage(index, Stage::Queued);
            }
            Binding::Unbound { partial, unbound } => {
                step.parameters = partial.parameters;
                step.provenance = partial.provenance;
                note_learned(step);
                let words: Vec<String> = unbound.iter().map(ToString::to_string).collect();
                self.on_unbound(index, format!("not every parameter has a value: {}", words.join("; ")));
            }
            Binding::Misfit { bound, problems } => {
                step.parameters = bound.parameters;
                step.provenance = bound.provenance;
                self.reject_locally(
                    index,
                    format!("the parameters do not fit their schema: {}", join_first(&problems)),
                );
            }
        }
    }

    /// Before anything is sent, a model may say where the missing values are.
    fn on_unbound(&mut self, index: usize, message: String) {
        if self.mend_by_facts(index, &Fault::local(message.clone(), Object::new())) {
            return;
        }
        let asked = self.state.steps.get(index).is_none_or(|step| step.resolution_asked > 0);
        match self.policy().mending.resolution {
            Resolution::Once if !asked && !self.started.targets.is_empty() => {
                let fault = Fault::local(message, Object::new());
                self.ask_for_advice(index, fault, Rung::Resolution);
            }
            Resolution::Once | Resolution::Off => self.reject_locally(index, message),
        }
    }

    /// What we can see to be wrong is not sent; it is mended as if the tool had refused it.
    pub(super) fn reject_locally(&mut self, index: usize, message: String) {
        let fault = Fault::local(message, Object::new());
        self.on_verdict(index, Verdict::Mend(fault));
    }

    /// A call that is ready, and has a place, begins if the budget lasts.
    fn leave_queue(&mut self, index: usize) -> bool {
        if self.is_avoided(index) {
            let reason = "not made: an earlier call with the same arguments may have happened".to_owned();
            self.set_stage(index, Stage::Failed { reason, fault: None });
            return true;
        }
        if let Some(reason) = self.too_late(index, self.state.now_ms) {
            self.fail_late(index, reason, None);
            return true;
        }
        let started = Arc::clone(&self.started);
        if let Err(exhausted) = self.state.spent.take_tool_call(&started.policy.limits) {
            let reason = exhausted.to_string();
            self.state.stop.get_or_insert(Stop::Exhausted(exhausted));
            let untouched = self.state.steps.get(index).is_some_and(|step| step.sent() == 0);
            let stage = if untouched { Stage::Skipped { reason } } else { Stage::Failed { reason, fault: None } };
            self.set_stage(index, stage);
            return true;
        }
        let Some(call) = self.next_call(index) else { return false };
        if let Some(step) = self.state.steps.get_mut(index) {
            step.calls += 1;
        }
        self.set_stage(index, Stage::Calling(Box::new(call)));
        true
    }

    /// The call that a step would make next.
    pub(super) fn next_call(&self, index: usize) -> Option<CallTool> {
        let (planned, step) = (self.plan.steps.get(index)?, self.state.steps.get(index)?);
        let class = self.class(planned);
        let key = || idempotency_key(self.started.run.as_str(), planned.id.as_str(), step.correction);
        Some(CallTool {
            id: EffectId::of_step(&planned.id, EffectKind::Call, step.calls + 1),
            step: planned.id.clone(),
            agent: planned.agent.clone(),
            capability: planned.capability.clone(),
            parameters: step.parameters.clone(),
            side_effect: class,
            idempotency_key: (class != SideEffect::Read).then(key),
            timeout_ms: self.call_limit_ms(step),
        })
    }

    /// Whether a call may be made twice without harm.
    pub(super) fn is_harmless(&self, planned: &Planned) -> bool {
        matches!(self.class(planned), SideEffect::Read | SideEffect::Idempotent)
    }

    pub(super) fn class(&self, planned: &Planned) -> SideEffect {
        self.policy().effects.class(planned.agent.as_str(), planned.capability.as_str(), planned.declared)
    }

    pub(super) fn set_stage(&mut self, index: usize, stage: Stage) {
        self.note_progress(index, &stage);
        self.state.steps.set_stage(index, stage);
    }

    /// The result of a step, for tests and views.
    pub fn result(&self, step: &str) -> Option<&Value> {
        match self.state.steps.get(self.plan.place(step)?)?.stage() {
            Stage::Done(value) => Some(value),
            _ => None,
        }
    }
}
