//! The invariants of every run, in every world. The message of each assertion states its invariant.

mod observe;
mod sent_values;
mod step_log;

use std::collections::{HashMap, HashSet};

use reknit_engine::{AskPerson, Effect, Outcome, Run, StepState, StepView};
use reknit_expressions::{Provenance, ResolvedBy};
use reknit_mend::{MendEffect, Rung};
use reknit_protocol::{CallTool, CapabilityName, EffectId, Object, SideEffect, StepId, Value};

use super::world_generator::{SECOND, written_id};
use super::{RandomWorld, world_generator};
use sent_values::{
    assert_no_template, changed_names, check_approval, check_change, check_evidence, check_hostile_values,
    contains_name, differs_from_plan, evidence, is_second_plan, spelling,
};
use step_log::StepLog;

/// Checks a run after every event, and remembers what happened to its calls.
pub(crate) struct InvariantChecker {
    world: RandomWorld,
    /// The calls that were pending at the last check.
    pending_calls: HashMap<EffectId, CallTool>,
    /// The questions that people were asked at the last check.
    pending_approvals: HashMap<EffectId, AskPerson>,
    /// The questions to models that were pending at the last check.
    pending_questions: HashSet<EffectId>,
    /// The calls and questions that got an outcome other than an open breaker.
    started_calls: HashSet<EffectId>,
    started_questions: HashSet<EffectId>,
    steps: HashMap<StepId, StepLog>,
    /// The parameters of each step at the last check.
    parameters: HashMap<StepId, Object>,
    /// The step that a model has just answered about, and the parameters that the answer may change.
    last_answer: Option<(StepId, Vec<String>)>,
    /// How many plans models have written.
    plans: u32,
    /// The capabilities whose calls may have happened when the last plan was written.
    uncertain_when_planned: HashSet<CapabilityName>,
    active_ms: u64,
    /// How often the run was retried, and the active time until then.
    retries: u32,
    active_before_ms: u64,
    /// The parameters of each call with an idempotency key, by key.
    keyed: HashMap<String, String>,
    /// Whether a person approved a whole plan.
    is_plan_approved: bool,
    /// The calls that were judged, and those of them that are not as they were written.
    judged: [usize; 2],
}

/// How late the driver may deliver an event.
const MAX_LATENESS_MS: u64 = 7;

impl InvariantChecker {
    pub(crate) fn new(world: &RandomWorld) -> Self {
        Self {
            world: world.clone(),
            pending_calls: HashMap::new(),
            pending_approvals: HashMap::new(),
            pending_questions: HashSet::new(),
            started_calls: HashSet::new(),
            started_questions: HashSet::new(),
            steps: HashMap::new(),
            parameters: HashMap::new(),
            last_answer: None,
            plans: 0,
            uncertain_when_planned: HashSet::new(),
            active_ms: 0,
            retries: 0,
            active_before_ms: 0,
            keyed: HashMap::new(),
            is_plan_approved: false,
            judged: [0, 0],
        }
    }

    pub(crate) fn judged_calls(&self) -> [usize; 2] {
        self.judged
    }

    pub(crate) fn is_approved(&self, step: &StepId, parameters: &Object) -> bool {
        self.steps.get(step).is_some_and(|log| log.approved.contains(parameters))
    }

    /// Checks the run after an event.
    pub(crate) fn check(&mut self, run: &Run) {
        let limits = self.world.started.policy.limits.clone();
        let (spent, rounds) = (run.spent(), self.retries + 1);
        assert_eq!(run.retries(), self.retries, "a run that can be retried is retried");
        let limit = limits.tool_calls + self.added_calls(run);
        assert!(spent.tool_calls <= limit * rounds, "the limit of tool calls holds: {spent:?}");
        assert!(spent.model_calls <= limits.model_calls * rounds, "the limit of model calls holds: {spent:?}");
        assert!(spent.active_ms >= self.active_ms, "active time never decreases: {spent:?}");
        self.active_ms = spent.active_ms;
        let planning = &self.world.started.policy.planning;
        let most = (planning.retries + 1) * (rounds + planning.replans);
        assert!(self.plans <= most, "the limits of planning retries and of second plans hold");
        self.check_parameters(run);
        self.check_loops(run);
        let effects = run.pending();
        let calls: Vec<&CallTool> = effects.iter().filter_map(as_call).collect();
        assert!(calls.len() <= limits.calls_at_once as usize, "the limit of concurrent calls holds");
        for call in &calls {
            if !self.pending_calls.contains_key(&call.id) {
                self.check_new_call(run, call);
            }
        }
        self.check_questions(&effects);
        self.pending_approvals = effects.iter().filter_map(as_approval).collect();
        self.pending_calls = calls.into_iter().map(|call| (call.id.clone(), call.clone())).collect();
        assert!(self.started_calls.len() <= (limit * rounds) as usize, "no call is made beyond the limit");
    }

    /// How many calls the items of loops add to the limit, at most: only those of a person's plan do.
    fn added_calls(&self, run: &Run) -> u32 {
        const LONGEST_LIST: u32 = 8;
        let loops = self.world.plan.steps.iter().filter(|step| step.has_foreach());
        if run.started().plan.is_some() { u32::try_from(loops.count()).expect("few loops") * LONGEST_LIST } else { 0 }
    }

    /// No more items run at once than the plan says, each item is there once and in order, and the list has their results.
    fn check_loops(&self, run: &Run) {
        let views = run.steps();
        for step in self.world.plan.steps.iter().filter(|step| step.has_foreach()) {
            let items: Vec<&StepView> =
                views.iter().filter(|view| view.item_of.as_ref() == Some(&step.step_id)).collect();
            for (position, item) in items.iter().enumerate() {
                assert_eq!(item.id.as_str(), format!("{}[{position}]", step.step_id), "items are in order");
            }
            let at_once = step.metadata.get("at_once").and_then(|value| value.as_number()?.as_u64());
            let is_open = |item: &&&StepView| !matches!(item.state, StepState::Waiting) && !is_over(&item.state);
            let open = items.iter().filter(is_open).count();
            if let Some(at_once) = at_once {
                assert!(
                    open <= usize::try_from(at_once).expect("a small number"),
                    "the limit of items holds: {items:?}"
                );
            }
            let Some(result) = run.result(step.step_id.as_str()) else { continue };
            let list = result.as_array().expect("the result of a loop is a list");
            assert_eq!(list.len(), items.len(), "each item has a place in the list");
            for (item, value) in items.iter().zip(list).filter(|(item, _)| item.state == StepState::Done) {
                let own = run.result(item.id.as_str()).expect("an item that is done has a result");
                assert!(own == value || own.get("data") == Some(value), "the list has the results: {own} {value}");
            }
        }
    }

    /// An answer of a model changes only the parameters that it names, also in a call that was not made yet.
    fn check_parameters(&mut self, run: &Run) {
        let last_answer = self.last_answer.take();
        for view in run.steps() {
            let before = self.parameters.insert(view.id.clone(), view.parameters.clone()).unwrap_or_default();
            let Some((_, named)) = last_answer.as_ref().filter(|(step, _)| *step == view.id) else { continue };
            // Parameters that were not sent because they do not fit are coerced with the rest: only their spelling changes.
            let is_coerced = |name: &String| spelling(before.get(name)) == spelling(view.parameters.get(name));
            for name in changed_names(&before, &view.parameters).into_iter().filter(|name| !is_coerced(name)) {
                assert!(
                    contains_name(named, &name),
                    "an answer changes only the parameters that it names: {name} of {}, named: {named:?}",
                    view.id
                );
            }
        }
    }

    fn check_questions(&mut self, effects: &[Effect]) {
        let questions: HashSet<EffectId> = effects
            .iter()
            .filter_map(|effect| match effect {
                Effect::AskModel(ask) => Some(ask.id.clone()),
                _ => None,
            })
            .collect();
        for id in &questions {
            let log = id.step().and_then(|step| self.steps.get(step));
            assert!(!log.is_some_and(|log| log.is_access_denied), "no model is asked about a 401, 403 or 405: {id}");
            assert!(!log.is_some_and(|log| log.is_done), "no model is asked about a step that is done: {id}");
            if !self.pending_questions.contains(id) {
                self.assert_in_time(id);
            }
        }
        self.pending_questions = questions;
        let limit = (self.world.started.policy.limits.model_calls * (self.retries + 1)) as usize;
        assert!(self.started_questions.len() <= limit, "no model is asked beyond the limit");
    }

    fn assert_in_time(&self, id: &EffectId) {
        let limit_ms = self.world.started.policy.limits.active_ms;
        assert!(
            self.active_ms - self.active_before_ms <= limit_ms.unwrap_or(u64::MAX).saturating_add(MAX_LATENESS_MS),
            "no effect starts after the deadline: {id}"
        );
    }

    fn check_key(&mut self, call: &CallTool) {
        let Some(key) = &call.idempotency_key else { return };
        let text = call.parameters.to_string();
        let known = self.keyed.entry(key.clone()).or_insert_with(|| text.clone());
        assert_eq!(*known, text, "a key stands for one call: {}", call.id);
    }

    fn check_dependencies(&self, run: &Run, call: &CallTool) {
        // A call that is sent again needs nothing new: a retry of the run may have opened a step before it.
        let log = self.steps.get(&call.step);
        let was_due = log.is_some_and(|log| log.was_due);
        let is_sent_again = self.retries > 0 && was_due && call.side_effect != SideEffect::Read;
        let is_first = !is_sent_again && log.is_none_or(|log| log.last_call.is_none());
        for dependency in self.world.dependencies[written_id(&call.step)].iter().filter(|_| is_first) {
            let planned = self.world.plan.steps.iter().find(|step| step.step_id.as_str() == dependency);
            let on_failure = planned.and_then(|step| step.metadata.get("on_failure"));
            let goes_on = |id: &str| match run.step(id).map(|(_, view)| view.state) {
                Some(StepState::Failed { .. }) => on_failure.is_some_and(|value| value.as_str() != Some("stop")),
                Some(StepState::Skipped { reason }) => reason.contains("condition"),
                Some(StepState::Done) => true,
                _ => false,
            };
            assert!(
                goes_on(dependency) || goes_on(&format!("{dependency}{SECOND}")),
                "no step runs before its dependencies: {} needs {dependency}",
                call.id
            );
        }
    }

    /// A second plan repeats no call that succeeded, and nothing that may have taken effect.
    fn check_second_plan(&self, call: &CallTool) {
        if !is_second_plan(&call.step) || self.steps.get(&call.step).is_some_and(|log| log.was_due) {
            return;
        }
        for (step, log) in self.steps.iter().filter(|(step, _)| !is_second_plan(step)) {
            let Some(last) = log.last_call.as_ref().filter(|last| last.capability == call.capability) else { continue };
            let is_repeated = log.is_done && last.parameters == call.parameters;
            assert!(!is_repeated, "a call that was answered is not made again: {} repeats {step}", call.id);
            // A retry opens steps of both plans: what becomes uncertain then was planned before.
            let was_known = self.uncertain_when_planned.contains(&call.capability);
            let is_open = log.uncertainty.is_open() && !log.is_done;
            let may_have_happened = is_open && last.side_effect != SideEffect::Read && was_known;
            assert!(!may_have_happened, "a call that may have happened is not planned again: {} {step}", call.id);
        }
    }

    fn check_new_call(&mut self, run: &Run, call: &CallTool) {
        self.assert_in_time(&call.id);
        self.check_key(call);
        self.check_dependencies(run, call);
        self.check_second_plan(call);
        assert_no_template(&Value::Object(call.parameters.clone()), call);
        let log = self.steps.entry(call.step.clone()).or_default();
        log.was_due = true;
        assert!(!log.is_done, "no step runs again after its success: {}", call.id);
        assert!(!log.is_access_denied, "no call is repeated after the tool denied access: {}", call.id);
        let is_rejected = log.rejected.iter().any(|(known, is_allowed)| *known == call.parameters && !is_allowed);
        assert!(!is_rejected, "no rejected call is repeated unchanged: {} {}", call.id, call.parameters);
        if call.side_effect.needs_approval_to_resend() {
            assert!(
                !log.uncertainty.is_open(),
                "an unsafe or unknown call that may have taken effect is not repeated without approval: {}",
                call.id
            );
        }
        let is_approved = log.approved.contains(&call.parameters);
        check_approval(&self.world, log, call);
        let views = run.steps();
        let view = views.iter().find(|view| view.id == call.step).expect("the step of a call");
        let is_found = |origin: &Provenance| matches!(origin, Provenance::Resolved { .. } | Provenance::Inferred);
        if call.side_effect == SideEffect::Unsafe && view.provenance.iter().any(|(_, origin)| is_found(origin)) {
            assert!(
                is_approved,
                "no stored mapping and no value of a model reaches an unsafe call unapproved: {}",
                call.id
            );
        }
        let differs = |origin: &Provenance| {
            is_found(origin) || matches!(origin, Provenance::Wired { .. } | Provenance::Corrected { .. })
        };
        if call.side_effect != SideEffect::Read && view.provenance.iter().any(|(_, origin)| differs(origin)) {
            let is_told = view.mends.iter().any(|mend| mend.effect == MendEffect::Applied && mend.rung != Rung::Resend);
            assert!(is_told || is_approved, "a difference from what was written is told: {}", call.id);
        }
        self.judged[0] += 1;
        if !is_second_plan(&call.step) && differs_from_plan(&self.world, call) {
            self.judged[1] += 1;
            let is_told = view.mends.iter().any(|mend| mend.effect == MendEffect::Applied && mend.rung != Rung::Resend);
            assert!(is_told || is_approved, "no call differs from the plan without a record: {}", call.id);
        }
        // A later correction of another parameter leaves the approved value as it is.
        let is_learned = |origin: &Provenance| matches!(origin, Provenance::Resolved { by: ResolvedBy::Learned, .. });
        for (name, _) in view.provenance.iter().filter(|(_, origin)| is_learned(origin)) {
            let value = call.parameters.get(name);
            assert!(
                call.side_effect == SideEffect::Read || log.approved.iter().any(|known| known.get(name) == value),
                "a stored mapping that nobody has accepted needs approval in a call that does not only read: {}",
                call.id
            );
        }
        check_change(log, call);
        if self.world.is_hostile && !is_approved && !self.is_plan_approved {
            check_hostile_values(&self.world, log, call, view);
        }
        if !is_approved {
            check_evidence(log, call, &view.provenance, &evidence(&self.world, run));
        }
    }

    /// Checks the answer of a run that has ended.
    pub(crate) fn check_answer(&self, run: &Run) {
        let answer = run.answer().expect("the run has ended");
        let policy = &self.world.started.policy;
        for report in &answer.steps {
            if let Outcome::Failed { reason, .. } | Outcome::Skipped { reason } = &report.outcome {
                assert!(!reason.trim().is_empty(), "every failure has a reason: {report:?}");
            }
            let planned = self.world.written_step(&report.step);
            let by_facts = |mend: &&reknit_mend::Mend| mend.rung == Rung::Facts && mend.effect == MendEffect::Applied;
            let facts = report.mends.iter().filter(by_facts).count();
            let count = |rung: Rung| report.mends.iter().filter(|mend| mend.rung == rung).count();
            for (rung, count, limit) in [
                (Rung::Resend, count(Rung::Resend), world_generator::max_resends(planned, policy)),
                (Rung::Facts, facts, policy.mending.facts),
                (Rung::Feedback, count(Rung::Feedback), policy.mending.feedback),
                (Rung::Context, count(Rung::Context), policy.mending.context),
            ] {
                assert!(
                    count <= (limit * (self.retries + 1)) as usize,
                    "the budget of {rung:?} holds: {:?}",
                    report.mends
                );
            }
        }
        for (step, log) in &self.steps {
            assert!(log.resolutions <= self.retries + 1, "a model looks for missing values once: {step}");
        }
        assert!(!answer.text.trim().is_empty(), "every run has an answer text");
        for view in run.steps() {
            assert!(is_over(&view.state), "every step is over when the run has ended: {view:?}");
        }
    }
}

fn is_over(state: &StepState) -> bool {
    matches!(
        state,
        StepState::Done | StepState::Failed { .. } | StepState::Unconfirmed { .. } | StepState::Skipped { .. }
    )
}

fn as_approval(effect: &Effect) -> Option<(EffectId, AskPerson)> {
    let Effect::AskPerson(ask) = effect else { return None };
    Some((ask.id.clone(), ask.as_ref().clone()))
}

fn as_call(effect: &Effect) -> Option<&CallTool> {
    match effect {
        Effect::CallTool(call) => Some(call),
        _ => None,
    }
}
