//! The invariants of every run, in every world. The message of each assertion states its invariant.

use std::collections::{HashMap, HashSet};

use reknit_engine::{AskPerson, Decision, Effect, EventKind, Outcome, Question, Run, StepState, StepView};
use reknit_expressions::{Backing, Provenance, ResolvedBy};
use reknit_mend::{MendEffect, Rung};
use reknit_model_api::ModelAnswer;
use reknit_protocol::{CallTool, CapabilityName, Delivery, EffectId, EffectKind, EffectOwner};
use reknit_protocol::{Object, SideEffect, StepId, Value};

use super::hostile::{BANK, hostile_texts, is_reference_of_first_plan};
use super::reply_meaning::{AdviceMeaning, ReplyMeaning, advice_meaning, reply_meaning, supplied_names};
use super::world_generator::{SECOND, written_id};
use super::{RandomWorld, world_generator};

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
}

/// Whether a call of a step may have taken effect without a known outcome.
#[derive(Default, Clone, Copy, PartialEq, Eq)]
enum Uncertainty {
    #[default]
    None,
    /// The process ended before it read the answer: a refusal of the same call under the same key tells the outcome.
    Interrupted,
    Open,
    /// A person approved that the call is sent again, once.
    Approved,
}

impl Uncertainty {
    fn is_open(self) -> bool {
        matches!(self, Self::Open | Self::Interrupted)
    }
}

/// How late the driver may deliver an event.
const MAX_LATENESS_MS: u64 = 7;

/// A call that a person approved, by the text of its parameters.
enum ApprovedCall {
    /// With its idempotency key.
    AsAsked(String, Option<String>),
    /// It gets a new key.
    Edited(String),
    /// With the other calls of its loop.
    Item(String),
}

/// What happened to one step.
#[derive(Default)]
struct StepLog {
    is_done: bool,
    /// The tool denied access, which ends the step.
    is_access_denied: bool,
    /// The parameters that the tool rejected, and whether a model has advised to send them again since.
    rejected: Vec<(Object, bool)>,
    last_call: Option<CallTool>,
    /// Whether a call was due, also one without an outcome, because the run ended before.
    was_due: bool,
    /// What the tool answered to it, in lower case.
    last_error: String,
    /// The parameters of calls that a person approved.
    approved: Vec<Object>,
    /// The calls that a person approved.
    approved_calls: Vec<ApprovedCall>,
    /// The parameters that a correction after the last call named; `None` if anything may change.
    named: Option<Vec<String>>,
    uncertainty: Uncertainty,
    /// How often a model has looked for missing values.
    resolutions: u32,
}

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
        }
    }

    /// Remembers an event before the run applies it.
    pub(crate) fn observe(&mut self, event: &EventKind) {
        if *event == EventKind::Retried {
            self.observe_retry();
        }
        let Some(id) = event.effect() else { return };
        let call = self.pending_calls.get(id).cloned();
        match (event, call) {
            (
                EventKind::ToolAnswered { .. } | EventKind::ToolFailed { .. } | EventKind::Interrupted { .. },
                Some(call),
            ) => {
                self.started_calls.insert(id.clone());
                self.observe_call(&call, event);
            }
            (EventKind::ModelAnswered { .. } | EventKind::ModelFailed { .. }, None)
                if self.pending_questions.contains(id) =>
            {
                self.started_questions.insert(id.clone());
                if let EventKind::ModelAnswered { answer, .. } = event {
                    self.observe_answer(id, answer);
                }
            }
            (EventKind::PersonDecided { decision, hash, .. }, None)
                if decision.settles_outcome() && hash != "another" =>
            {
                // After a retry, a person may also settle a call that was approved and not sent.
                if let Some(log) = id.step().and_then(|step| self.steps.get_mut(step))
                    && log.uncertainty != Uncertainty::None
                {
                    log.uncertainty = Uncertainty::None;
                    log.is_done = matches!(decision, Decision::Happened { .. });
                }
            }
            (EventKind::PersonDecided { decision: Decision::Edit { parameters }, hash, .. }, None) => {
                let asked = self.pending_approvals.get(id).filter(|asked| asked.hash == *hash);
                let Some(ask) = asked.filter(|ask| !matches!(ask.question, Question::SendAgain { .. })) else { return };
                let log = self.steps.entry(ask.step.clone()).or_default();
                log.approved.push(parameters.clone());
                log.approved_calls.push(ApprovedCall::Edited(parameters.to_string()));
                // A person may write anything, also what was rejected before.
                (log.last_call, log.named) = (None, None);
                log.rejected.retain(|(rejected, _)| rejected != parameters);
            }
            (EventKind::PersonDecided { decision: Decision::Approve, hash, .. }, None) => {
                self.observe_approval(id, hash);
            }
            _ => {}
        }
    }

    fn observe_approval(&mut self, id: &EffectId, hash: &str) {
        let asked = self.pending_approvals.get(id).filter(|asked| asked.hash == hash);
        if let Some(Question::SendItems { calls, .. }) = asked.map(|ask| &ask.question) {
            for call in calls {
                let log = self.steps.entry(call.step.clone()).or_default();
                log.approved.push(call.parameters.clone());
                log.approved_calls.push(ApprovedCall::Item(call.parameters.to_string()));
            }
            return;
        }
        self.is_plan_approved |= asked.is_some_and(|ask| matches!(ask.question, Question::RunPlan { .. }));
        let Some(call) = asked.and_then(|ask| ask.question.call()) else { return };
        let log = self.steps.entry(call.step.clone()).or_default();
        log.approved.push(call.parameters.clone());
        let key = call.idempotency_key.clone();
        log.approved_calls.push(ApprovedCall::AsAsked(call.parameters.to_string(), key));
        if let Some(log) = id.step().and_then(|step| self.steps.get_mut(step))
            && log.uncertainty.is_open()
        {
            log.uncertainty = Uncertainty::Approved;
        }
    }

    /// What failed may be done again, except that a call with an unknown outcome stays what it is.
    fn observe_retry(&mut self) {
        self.retries += 1;
        self.active_before_ms = self.active_ms;
        for log in self.steps.values_mut() {
            log.is_access_denied = false;
            log.rejected.clear();
            log.named = None;
            log.approved_calls.clear();
            let only_reads = log.last_call.as_ref().is_none_or(|call| call.side_effect == SideEffect::Read);
            if only_reads || !log.uncertainty.is_open() {
                log.last_call = None;
            }
        }
    }

    fn observe_call(&mut self, call: &CallTool, event: &EventKind) {
        let log = self.steps.entry(call.step.clone()).or_default();
        log.last_call = Some(call.clone());
        log.last_error = match event {
            EventKind::ToolAnswered { reply, .. } => reply.body.to_value().to_string().to_lowercase(),
            _ => String::new(),
        };
        log.named = None;
        match event {
            EventKind::ToolAnswered { reply, .. } => match reply_meaning(reply, call.side_effect) {
                ReplyMeaning::Success => log.is_done = true,
                ReplyMeaning::AccessDenied => log.is_access_denied = true,
                ReplyMeaning::Rejected => {
                    let may_follow =
                        call.side_effect == SideEffect::Idempotent && matches!(reply.status, 404 | 409 | 410 | 412);
                    let has_key = matches!(call.side_effect, SideEffect::Idempotent | SideEffect::Keyed);
                    if log.uncertainty == Uncertainty::Interrupted && has_key && !may_follow {
                        log.uncertainty = Uncertainty::None;
                    }
                    log.rejected.retain(|(parameters, _)| *parameters != call.parameters);
                    log.rejected.push((call.parameters.clone(), false));
                }
                ReplyMeaning::Uncertain => log.uncertainty = Uncertainty::Open,
                ReplyMeaning::NotNow => {}
            },
            EventKind::ToolFailed { failure, .. } if failure.delivery == Delivery::Possible => {
                log.uncertainty = Uncertainty::Open;
            }
            EventKind::Interrupted { .. } if log.uncertainty == Uncertainty::None => {
                log.uncertainty = Uncertainty::Interrupted;
            }
            _ => {}
        }
        let was_sent = !matches!(event, EventKind::ToolFailed { failure, .. } if failure.delivery == Delivery::NotSent);
        if was_sent && log.uncertainty == Uncertainty::Approved {
            log.uncertainty = Uncertainty::Open;
        }
    }

    /// Remembers what a model's answer may change at most.
    fn observe_answer(&mut self, id: &EffectId, answer: &ModelAnswer) {
        let has_text = answer.require_text().is_ok();
        if has_text && *id.owner() == EffectOwner::Plan && id.kind() == EffectKind::Ask {
            self.plans += 1;
            // A call that was sent again under its key and answered has a known outcome.
            let open = self.steps.values().filter(|log| log.uncertainty.is_open() && !log.is_done);
            let calls = open.filter_map(|log| log.last_call.as_ref());
            let changing = calls.filter(|call| call.side_effect != SideEffect::Read);
            self.uncertain_when_planned = changing.map(|call| call.capability.clone()).collect();
        }
        let Some(step) = id.step() else { return };
        if !has_text {
            self.last_answer = Some((step.clone(), Vec::new()));
            return;
        }
        let advice = advice_meaning(&answer.text);
        let names = if id.kind() == EffectKind::Resolution {
            self.steps.entry(step.clone()).or_default().resolutions += 1;
            // The question does not ask for parameters that the plan gives.
            let given = self.parameters.get(step);
            let is_missing = |name: &String| !given.is_some_and(|given| given.contains_key(name));
            supplied_names(&answer.text).into_iter().filter(is_missing).collect()
        } else {
            match &advice {
                Some(AdviceMeaning::Changes(names)) => names.clone(),
                Some(AdviceMeaning::SameCall) | None => Vec::new(),
            }
        };
        self.last_answer = Some((step.clone(), names));
        self.observe_advice(step, id.kind(), advice);
    }

    fn observe_advice(&mut self, step: &StepId, kind: EffectKind, advice: Option<AdviceMeaning>) {
        let Some(log) = self.steps.get_mut(step) else { return };
        match advice {
            Some(AdviceMeaning::SameCall) => {
                let last = log.last_call.as_ref().map(|call| &call.parameters);
                for (parameters, is_allowed) in &mut log.rejected {
                    *is_allowed |= Some(&*parameters) == last;
                }
            }
            Some(AdviceMeaning::Changes(names)) if kind != EffectKind::Resolution => log.named = Some(names),
            Some(AdviceMeaning::Changes(_)) => {}
            None => log.named = Some(Vec::new()),
        }
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
        if !is_second_plan(&call.step) && differs_from_plan(&self.world, call) {
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
            check_hostile_values(&self.world, call, view);
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

/// Checks that a person has approved a call that a rule or the plan holds back.
fn check_approval(world: &RandomWorld, log: &StepLog, call: &CallTool) {
    let policy = &world.started.policy;
    let planned = world.written_step(&call.step);
    let by_plan = planned.is_some_and(|step| step.metadata.contains_key("approve"));
    let is_covered = policy.approvals.ask == reknit_engine::AskScope::Plan;
    if by_plan && !is_covered || world_generator::needs_approval(policy, call) {
        let text = call.parameters.to_string();
        let is_this = |approved: &ApprovedCall| match approved {
            ApprovedCall::AsAsked(parameters, key) => *parameters == text && *key == call.idempotency_key,
            ApprovedCall::Edited(parameters) | ApprovedCall::Item(parameters) => *parameters == text,
        };
        assert!(
            log.approved_calls.iter().any(is_this),
            "no call that matches a rule is sent without an approval of exactly that call: {} {text}",
            call.id
        );
    }
}

fn is_second_plan(step: &StepId) -> bool {
    step.as_str().split('[').next().is_some_and(|id| id.ends_with(SECOND))
}

/// Whether a call lacks a value that the plan writes out.
fn differs_from_plan(world: &RandomWorld, call: &CallTool) -> bool {
    let written = world.written_step(&call.step).and_then(|step| step.parameters());
    let mut literals =
        written.into_iter().flat_map(Object::iter).filter(|(_, value)| !value.to_string().contains("{{"));
    literals.any(|(name, value)| call.parameters.get(name).map(ToString::to_string) != Some(value.to_string()))
}

/// No text that only tools wrote is in a payment, unless a reference of the first plan or a person chose it.
fn check_hostile_values(world: &RandomWorld, call: &CallTool, view: &StepView) {
    if call.tool.as_str() != BANK {
        return;
    }
    for (name, text) in hostile_texts(&call.parameters) {
        let origin = view.provenance.iter().find(|(known, _)| known == name).map(|(_, origin)| origin);
        let is_chosen = is_reference_of_first_plan(world, &call.step, name)
            && origin.is_some_and(|origin| {
                matches!(
                    origin,
                    Provenance::Reference { .. }
                        | Provenance::Expression { .. }
                        | Provenance::Text { .. }
                        | Provenance::Nested { .. }
                )
            });
        assert!(
            is_chosen,
            "no value that only a tool wrote is sent without a person: {name} = {text} in {}, {origin:?}",
            call.id
        );
    }
}

/// Compares a new call of a step with the last one: its idempotency key, and what a correction has changed.
fn check_change(log: &StepLog, call: &CallTool) {
    let Some(last) = &log.last_call else { return };
    if last.parameters == call.parameters {
        assert_eq!(last.idempotency_key, call.idempotency_key, "the same call has the same key");
        return;
    }
    if let Some(named) = &log.named {
        for name in changed_names(&last.parameters, &call.parameters) {
            assert!(
                contains_name(named, &name),
                "a correction changes only the parameters that it names: {name} in {}, named: {named:?}",
                call.id
            );
        }
    }
    if call.side_effect != SideEffect::Read {
        assert!(!log.uncertainty.is_open(), "a call that may have taken effect is not changed: {}", call.id);
        assert_ne!(last.idempotency_key, call.idempotency_key, "a corrected call has a new key");
    }
}

/// Every changed value of a call that does not only read is referred to by the error, or the error refers to no parameter and
/// something supports the value.
fn check_evidence(log: &StepLog, call: &CallTool, provenance: &[(String, Provenance)], evidence: &str) {
    let Some(last) = log.last_call.as_ref().filter(|_| call.side_effect != SideEffect::Read) else { return };
    let refers_to = |name: &str| {
        let mut shown = Vec::new();
        collect_scalars(last.parameters.get(name).unwrap_or(&Value::Null), &mut shown);
        contains_word(&log.last_error, &name.to_lowercase())
            || shown.iter().any(|value| contains_word(&log.last_error, value))
    };
    // A number in an error need not be the value of a parameter, and `to` need not be its name.
    let is_named = |name: &str| name.len() > 2 && contains_word(&log.last_error, &name.to_lowercase());
    let is_about_none = !last.parameters.keys().any(is_named);
    let is_same = |name: &String| spelling(last.parameters.get(name)) == spelling(call.parameters.get(name));
    for name in changed_names(&last.parameters, &call.parameters).into_iter().filter(|name| !is_same(name)) {
        let value = call.parameters.get(&name);
        let origin = provenance.iter().find(|(known, _)| *known == name).map(|(_, origin)| origin);
        let is_known = |backing: &Backing| matches!(backing, Backing::Known | Backing::Explained { .. });
        let is_derived = origin.is_some_and(|origin| match origin {
            Provenance::Corrected { backing, .. } => is_known(backing),
            origin => origin.comes_from_result(),
        });
        let mut scalars = Vec::new();
        collect_scalars(value.unwrap_or(&Value::Null), &mut scalars);
        let is_word = call.side_effect == SideEffect::Undeclared
            && matches!(value, Some(Value::String(_) | Value::Bool(_) | Value::Null));
        // A text that says something, and names nothing, is what the model says. The tool knows which one it wants.
        let is_long = |value: &Value| {
            value.as_str().is_some_and(|text| text.chars().count() > 64 || text.contains('\n')) || *value == Value::Null
        };
        let is_content = value.is_some_and(is_long) && last.parameters.get(&name).is_none_or(is_long);
        let is_supported = |scalar: &String| contains_word(evidence, scalar) || contains_word(&log.last_error, scalar);
        let is_proved = is_derived || is_word || is_content || scalars.iter().all(is_supported);
        assert!(
            refers_to(&name) || (is_about_none && is_proved),
            "a changed value is referred to by the error, supported or approved: {name} = {value:?} in {}: {}, after {}",
            call.id,
            Value::Object(last.parameters.clone()),
            log.last_error
        );
    }
}

/// What may support a value: the request, the results, and the instructions and inputs of a person's plan, as one text in lower case.
fn evidence(world: &RandomWorld, run: &Run) -> String {
    let results = world.plan.steps.iter().filter_map(|step| run.result(step.step_id.as_str()));
    // Instructions and the defaults of inputs are the words of who wrote the plan.
    let of_person = || world.started.plan.iter();
    let instructions = of_person().flat_map(|plan| &plan.steps).map(|step| step.instruction.clone());
    let inputs = of_person().flat_map(|plan| &plan.inputs);
    let inputs = inputs.filter_map(|(_, input)| Some(input.default.as_ref()?.to_string()));
    let texts = results.map(ToString::to_string).chain(instructions);
    texts.chain([world.started.request.clone()]).chain(inputs).collect::<Vec<_>>().join("\n").to_lowercase()
}

/// The texts and numbers in a value, in lower case; `null` and empty texts too.
fn collect_scalars(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect_scalars(item, texts)),
        Value::Object(object) => object.values().for_each(|value| collect_scalars(value, texts)),
        Value::String(text) => texts.push(text.to_lowercase()),
        value => texts.push(value.to_string()),
    }
}

/// Whether a text has another one as whole words.
fn contains_word(text: &str, word: &str) -> bool {
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    !word.is_empty()
        && text.match_indices(word).any(|(at, found)| {
            let before = text[..at].chars().next_back();
            let after = text[at + found.len()..].chars().next();
            !before.is_some_and(is_part) && !after.is_some_and(is_part)
        })
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

fn changed_names(before: &Object, after: &Object) -> Vec<String> {
    let names: HashSet<&str> = before.keys().chain(after.keys()).collect();
    names.into_iter().filter(|name| before.get(name) != after.get(name)).map(str::to_owned).collect()
}

/// The text of a value without quotes and capitals.
fn spelling(value: Option<&Value>) -> Option<String> {
    value.map(|value| value.to_string().replace('"', "").to_lowercase())
}

fn contains_name(names: &[String], name: &str) -> bool {
    names.iter().any(|known| known.eq_ignore_ascii_case(name))
}

/// Tools and escapes may put braces into values; all of those contain `evil`. Any other braces are an unresolved template.
fn assert_no_template(value: &Value, call: &CallTool) {
    match value {
        Value::String(text) => {
            let rest = text.replace("{{evil", "").replace("}}{{", "");
            assert!(!rest.contains("{{"), "no template is ever sent: {text} in {}", call.id);
        }
        Value::Array(items) => items.iter().for_each(|item| assert_no_template(item, call)),
        Value::Object(object) => {
            for (key, item) in object {
                assert!(!key.contains("{{"), "no template is ever sent as a key: {key} in {}", call.id);
                assert_no_template(item, call);
            }
        }
        _ => {}
    }
}
