//! What must hold in every world, whatever happens: each law has its words.

use std::collections::{HashMap, HashSet};

use reknit_dialogue::Answer;
use reknit_engine::{Decision, Effect, Outcome, Run, StepState, What};
use reknit_mend::{MendEffect, Rung};
use reknit_protocol::{CallTool, Delivery};
use reknit_protocol::{Object, SideEffect, Value};

use super::World;
use super::verdict::{Advised, Answered, advised, answered, supplied};

/// Looks at a run after every event, and knows what became of its calls.
pub(crate) struct Watch {
    world: World,
    /// The calls that were due at the last look, by their effects.
    due: HashMap<String, CallTool>,
    /// The questions that were due.
    asked: HashSet<String>,
    /// What was really begun: outcomes came for it other than a closed gate.
    calls_made: HashSet<String>,
    questions_made: HashSet<String>,
    steps: HashMap<String, Seen>,
    /// The parameters of each step at the last look.
    parameters: HashMap<String, Object>,
    /// Which step a model has just spoken about, and which of its parameters it may change.
    spoken: Option<(String, Vec<String>)>,
    /// How often a planner has spoken.
    plans: u32,
    active_ms: u64,
}

/// Whether a call of a step may have happened without being known to have.
#[derive(Default, Clone, Copy, PartialEq, Eq)]
enum Doubt {
    #[default]
    None,
    Open,
    /// A person has said that it may be sent again, once.
    Allowed,
}

/// How late an event may be.
const LATE_MS: u64 = 7;

/// What was seen of one step.
#[derive(Default)]
struct Seen {
    done: bool,
    /// It is over, for nobody lets us in.
    shut_out: bool,
    /// What the tool refused, and whether an analysis has allowed it since.
    refused: Vec<(Object, bool)>,
    /// The call that was made last.
    last: Option<CallTool>,
    /// What may have changed since: the names that a correction gave, or anything.
    named: Option<Vec<String>>,
    doubt: Doubt,
    /// How often a model has looked for its values.
    resolutions: u32,
}

impl Watch {
    pub(crate) fn new(world: &World) -> Self {
        Self {
            world: world.clone(),
            due: HashMap::new(),
            asked: HashSet::new(),
            calls_made: HashSet::new(),
            questions_made: HashSet::new(),
            steps: HashMap::new(),
            parameters: HashMap::new(),
            spoken: None,
            plans: 0,
            active_ms: 0,
        }
    }

    /// What is about to happen, before the run knows.
    pub(crate) fn before(&mut self, what: &What) {
        let Some(id) = what.effect().map(ToString::to_string) else { return };
        let call = self.due.get(&id).cloned();
        match (what, call) {
            (What::ToolAnswered { .. } | What::ToolFailed { .. } | What::Interrupted { .. }, Some(call)) => {
                self.calls_made.insert(id);
                self.call_answered(&call, what);
            }
            (What::ModelAnswered { .. } | What::ModelFailed { .. }, None) if self.asked.contains(&id) => {
                self.questions_made.insert(id.clone());
                if let (What::ModelAnswered { answer, .. }, Some(step)) = (what, id.split('/').next()) {
                    self.spoke(step, &id, answer);
                }
            }
            (What::PersonDecided { decision: Decision::Approve, .. }, None) => {
                if let Some(seen) = id.split('/').next().and_then(|step| self.steps.get_mut(step))
                    && seen.doubt == Doubt::Open
                {
                    seen.doubt = Doubt::Allowed;
                }
            }
            _ => {}
        }
    }

    fn call_answered(&mut self, call: &CallTool, what: &What) {
        let seen = self.steps.entry(call.step.to_string()).or_default();
        seen.last = Some(call.clone());
        seen.named = None;
        match what {
            What::ToolAnswered { reply, .. } => match answered(reply) {
                Answered::Success => seen.done = true,
                Answered::ShutOut => seen.shut_out = true,
                Answered::Refused => {
                    seen.refused.retain(|(parameters, _)| *parameters != call.parameters);
                    seen.refused.push((call.parameters.clone(), false));
                }
                Answered::InDoubt => seen.doubt = Doubt::Open,
                Answered::Later => {}
            },
            What::ToolFailed { failure, .. } if failure.delivery == Delivery::Possible => seen.doubt = Doubt::Open,
            What::Interrupted { .. } => seen.doubt = Doubt::Open,
            _ => {}
        }
        let has_left = !matches!(what, What::ToolFailed { failure, .. } if failure.delivery == Delivery::NotSent);
        if has_left && seen.doubt == Doubt::Allowed {
            seen.doubt = Doubt::Open;
        }
    }

    /// A model has spoken: what its words may change at most.
    fn spoke(&mut self, step: &str, id: &str, answer: &Answer) {
        if answer.words().is_err() {
            self.spoken = Some((step.to_owned(), Vec::new()));
            return;
        }
        self.plans += u32::from(id.starts_with("plan/ask/"));
        let names = if id.contains("/resolution/") {
            self.steps.entry(step.to_owned()).or_default().resolutions += 1;
            // What the plan gives is not asked for.
            let given = self.parameters.get(step);
            let is_open = |name: &String| !given.is_some_and(|given| given.contains_key(name));
            supplied(&answer.text).into_iter().filter(is_open).collect()
        } else {
            match advised(&answer.text) {
                Some(Advised::Changes(names)) => names,
                Some(Advised::Same) | None => Vec::new(),
            }
        };
        self.spoken = Some((step.to_owned(), names));
        self.advised(step, id, &answer.text);
    }

    fn advised(&mut self, step: &str, id: &str, text: &str) {
        let Some(seen) = self.steps.get_mut(step) else { return };
        match advised(text) {
            Some(Advised::Same) => {
                let last = seen.last.as_ref().map(|call| &call.parameters);
                for (parameters, allowed) in &mut seen.refused {
                    *allowed |= Some(&*parameters) == last;
                }
            }
            Some(Advised::Changes(names)) if !id.contains("/resolution/") => seen.named = Some(names),
            Some(Advised::Changes(_)) => {}
            None => seen.named = Some(Vec::new()),
        }
    }

    /// The run as it is after an event.
    pub(crate) fn look(&mut self, run: &Run) {
        let limits = self.world.started.policy.limits.clone();
        let spent = run.spent();
        assert!(spent.tool_calls <= limits.tool_calls, "no more tools are called than allowed: {spent:?}");
        assert!(spent.model_calls <= limits.model_calls, "no more questions are asked than allowed: {spent:?}");
        assert!(spent.active_ms >= self.active_ms, "time that was spent stays spent: {spent:?}");
        self.active_ms = spent.active_ms;
        assert!(self.plans <= self.world.started.policy.planning.retries + 1, "no more plans are read than allowed");
        self.look_at_parameters(run);
        let effects = run.pending();
        let calls: Vec<&CallTool> = effects.iter().filter_map(as_call).collect();
        assert!(calls.len() <= limits.calls_at_once as usize, "no more calls are under way at once than allowed");
        for call in &calls {
            if !self.due.contains_key(&call.id.to_string()) {
                self.call_is_due(run, call);
            }
        }
        self.look_at_questions(&effects);
        self.due = calls.into_iter().map(|call| (call.id.to_string(), call.clone())).collect();
        let made = u32::try_from(self.calls_made.len()).expect("a small number");
        assert!(made <= limits.tool_calls, "no more calls are made than allowed");
    }

    /// What a model has said changes only what it names, also in a call that was not made yet.
    fn look_at_parameters(&mut self, run: &Run) {
        let spoken = self.spoken.take();
        for view in run.steps() {
            let before = self.parameters.insert(view.id.to_string(), view.parameters.clone()).unwrap_or_default();
            let Some((_, named)) = spoken.as_ref().filter(|(step, _)| *step == view.id.to_string()) else { continue };
            // What did not fit and was not sent is made to fit with the rest: that changes only how it is written.
            let is_fitted = |name: &String| written(before.get(name)) == written(view.parameters.get(name));
            for name in changed(&before, &view.parameters).into_iter().filter(|name| !is_fitted(name)) {
                assert!(
                    named.iter().any(|known| alike(known, &name)),
                    "a model changes only what it names: {name} of {}, named were {named:?}",
                    view.id
                );
            }
        }
    }

    fn look_at_questions(&mut self, effects: &[Effect]) {
        let asks: Vec<String> = effects
            .iter()
            .filter_map(|effect| match effect {
                Effect::AskModel(ask) => Some(ask.id.to_string()),
                _ => None,
            })
            .collect();
        for id in &asks {
            let step = id.split('/').next().and_then(|step| self.steps.get(step));
            assert!(!step.is_some_and(|seen| seen.shut_out), "401, 403 and 405 never cause a question: {id}");
            assert!(!step.is_some_and(|seen| seen.done), "nobody is asked about what is done: {id}");
            if !self.asked.contains(id) {
                self.assert_in_time(id);
            }
        }
        self.asked = asks.into_iter().collect();
        let made = u32::try_from(self.questions_made.len()).expect("a small number");
        assert!(made <= self.world.started.policy.limits.model_calls, "no more questions are asked than allowed");
    }

    fn assert_in_time(&self, id: &str) {
        let limit_ms = self.world.started.policy.limits.active_ms;
        assert!(self.active_ms <= limit_ms + LATE_MS, "nothing begins when the time is over: {id}");
    }

    fn call_is_due(&mut self, run: &Run, call: &CallTool) {
        self.assert_in_time(&call.id.to_string());
        let step = call.step.to_string();
        for need in &self.world.needs[&step] {
            assert!(run.result(need).is_some(), "no step runs before its inputs: {} needs {need}", call.id);
        }
        assert_no_template(&Value::Object(call.parameters.clone()), call);
        let seen = self.steps.entry(step).or_default();
        assert!(!seen.done, "no step runs again after its success: {}", call.id);
        assert!(!seen.shut_out, "nothing is sent to who does not let us in: {}", call.id);
        assert!(
            !seen.refused.iter().any(|(parameters, allowed)| *parameters == call.parameters && !allowed),
            "what was refused is not sent again unchanged: {} {}",
            call.id,
            Value::Object(call.parameters.clone()),
        );
        if call.side_effect == SideEffect::Unsafe {
            assert!(
                seen.doubt != Doubt::Open,
                "an unsafe call that may have happened is not sent again unseen: {}",
                call.id
            );
        }
        let Some(last) = &seen.last else { return };
        let same = last.parameters == call.parameters;
        if same {
            assert_eq!(last.idempotency_key, call.idempotency_key, "the same call has the same key");
        }
        if let (false, Some(named)) = (same, &seen.named) {
            for name in changed(&last.parameters, &call.parameters) {
                assert!(
                    named.iter().any(|known| alike(known, &name)),
                    "a correction touches only what it names: {name} in {}, named were {named:?}",
                    call.id
                );
            }
        }
        if !same && !matches!(call.side_effect, SideEffect::Read | SideEffect::Idempotent) {
            assert!(seen.doubt != Doubt::Open, "a call that may have happened is not changed: {}", call.id);
            assert_ne!(last.idempotency_key, call.idempotency_key, "a corrected call has a new key");
        }
    }

    /// The run has ended.
    pub(crate) fn look_at_answer(&self, run: &Run) {
        let answer = run.answer().expect("it has ended");
        let mending = &self.world.started.policy.mending;
        for report in &answer.steps {
            if let Outcome::Failed { reason, .. } | Outcome::Skipped { reason } = &report.outcome {
                assert!(!reason.trim().is_empty(), "no failure is without its reason: {report:?}");
            }
            let applied = |rung: Rung| report.mends.iter().filter(|mend| mend.rung == rung).count();
            let applied = |rung: Rung| u32::try_from(applied(rung)).expect("a small number");
            assert!(applied(Rung::Resend) <= self.world.started.policy.resend.times, "resends have their budget");
            let by_facts =
                report.mends.iter().filter(|mend| mend.rung == Rung::Facts && mend.effect == MendEffect::Applied);
            assert!(by_facts.count() <= mending.facts as usize, "facts have their budget: {:?}", report.mends);
            assert!(applied(Rung::Feedback) <= mending.feedback, "feedback has its budget: {:?}", report.mends);
            assert!(applied(Rung::Context) <= mending.context, "context has its budget: {:?}", report.mends);
        }
        for (step, seen) in &self.steps {
            assert!(seen.resolutions <= 1, "values are looked for once: {step}");
        }
        assert!(!answer.text.trim().is_empty(), "every run says how it ended");
        for view in run.steps() {
            let over = matches!(view.state, StepState::Done | StepState::Failed { .. } | StepState::Skipped { .. });
            assert!(over, "nothing is left when a run has ended: {view:?}");
        }
    }
}

fn as_call(effect: &Effect) -> Option<&CallTool> {
    match effect {
        Effect::CallTool(call) => Some(call),
        _ => None,
    }
}

/// The parameters that differ, by name.
fn changed(before: &Object, after: &Object) -> Vec<String> {
    let names: HashSet<&str> = before.keys().chain(after.keys()).collect();
    names.into_iter().filter(|name| before.get(name) != after.get(name)).map(str::to_owned).collect()
}

/// A value without its quotes and capitals.
fn written(value: Option<&Value>) -> Option<String> {
    value.map(|value| value.to_string().replace('"', "").to_lowercase())
}

fn alike(one: &str, other: &str) -> bool {
    one.eq_ignore_ascii_case(other)
}

/// Braces are only ever sent where a tool or an escape brought them, and all of those say `evil`.
fn assert_no_template(value: &Value, call: &CallTool) {
    match value {
        Value::String(text) => {
            let rest = text.replace("{{evil", "").replace("}}{{", "");
            assert!(!rest.contains("{{"), "no template is ever sent: {text} in {}", call.id);
        }
        Value::Array(items) => items.iter().for_each(|item| assert_no_template(item, call)),
        Value::Object(object) => {
            for (key, item) in object {
                assert!(!key.contains("{{"), "no template is ever sent, nor as a key: {key} in {}", call.id);
                assert_no_template(item, call);
            }
        }
        _ => {}
    }
}
