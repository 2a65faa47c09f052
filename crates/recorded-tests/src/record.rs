//! Makes a test of a run in a journal.

mod budgets;

use std::collections::HashMap;
use std::path::Path;

use reknit_engine::{
    AskModel, Effect, Event, EventKind, LlmDebug, Machine, Overview, Policy, SessionRequest, SessionRules,
    SessionStarted, Started, SubAgent, Templates,
};
use reknit_journal::Journal;
use reknit_model_api::{ModelAnswer, ModelFailure, TargetName};
use reknit_plan::{AGENT_TOOL, Catalogue, CatalogueEntry, CatalogueTool, Document, write_plan_file};
use reknit_protocol::{
    CallTool, Delivery, EffectId, Object, Plan, ReplyBody, RunId, ToolReply, TransportFailure, TransportKind, Value,
};
use reknit_runtime::{DriveError, RestoreError, run_overview};
use reknit_telemetry::redact_object;

use crate::drive::TestRun;
use crate::expectations::{Expectations, Mismatch};
use crate::facts::ObservedRun;
use crate::json::{difference, to_value};
use crate::recording::{
    CallRecording, DecisionRecording, ModelMatch, ModelRecording, PlayCount, call_name, prompt_digest,
};
use crate::start::TestStartError;
use crate::test_file::{AgentSource, PlanSource, TestAgent, TestFile, TestStart};
use budgets::Budgets;

/// What a recorded test refers to, and what it shows.
#[derive(Debug, Clone, Default)]
pub struct RecordOptions {
    /// The plan file of the run, relative to the test; without one the test has the plan itself.
    pub plan: Option<String>,
    /// The agent file of the session, relative to the test; without one the test has the agent itself.
    pub agent: Option<String>,
    /// Whether the answers of models are written although the policy of the run hides them.
    pub with_model_texts: bool,
}

/// Why a run cannot become a test.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordRunError {
    #[error("the run cannot be read")]
    Read(#[from] DriveError),
    #[error("run `{0}` has not ended")]
    NotEnded(RunId),
    #[error("the test needs the answers of models, and the policy of run `{0}` hides them")]
    HiddenTexts(RunId),
    #[error("run `{run}` cannot become a test: {reason}")]
    Unsupported { run: RunId, reason: &'static str },
}

/// The test of a run, without assertions: [`propose_expectations`] adds them. Secrets are redacted as in an export.
pub async fn record_run(journal: &Journal, run: &RunId, options: &RecordOptions) -> Result<TestFile, RecordRunError> {
    let mut recorder = Recorder::default();
    let first = recorder.add_run(journal, run, None).await?;
    let mut sessions = std::mem::take(&mut recorder.sessions);
    while let Some((session, step)) = sessions.pop() {
        recorder.add_run(journal, &session, Some(&step)).await?;
        sessions.append(&mut recorder.sessions);
    }
    if recorder.hides_models && !recorder.models.is_empty() && !options.with_model_texts {
        return Err(RecordRunError::HiddenTexts(run.clone()));
    }
    let unsupported = |reason: &'static str| Err(RecordRunError::Unsupported { run: run.clone(), reason });
    let mut file = match &first.kind {
        EventKind::Started(_) if options.agent.is_some() => {
            return unsupported("it is no session of an agent; leave out the agent file");
        }
        EventKind::SessionStarted(_) if options.plan.is_some() => {
            return unsupported("it is a session of an agent, without a plan; leave out the plan file");
        }
        EventKind::Started(started) => of_run(started, options, &recorder),
        EventKind::SessionStarted(started) => of_session(started, options, &recorder),
        _ => return unsupported("its first event is unknown"),
    };
    file.at_ms = first.at_ms;
    recorder.calls.sort_by_key(|(due, _)| *due);
    recorder.models.sort_by_key(|(due, _)| *due);
    file.calls = recorder.calls.into_iter().map(|(_, recording)| recording).collect();
    file.models = recorder.models.into_iter().map(|(_, recording)| recording).collect();
    file.decisions = recorder.decisions;
    file.token_counts = recorder.token_counts;
    Ok(file)
}

/// Plays a recorded test once, and writes what its run did into it as assertions, and the digests of its prompts. Returns where the
/// played run differs from the recorded one, which `recorded` describes: such a test is not what it seems.
pub fn propose_expectations(
    file: &mut TestFile,
    folder: &Path,
    recorded: &Overview,
) -> Result<Vec<Mismatch>, TestStartError> {
    let run = file.run_with_any_prompt(folder)?;
    file.expect = Expectations::default();
    let mut differences = file.mismatches(&run);
    let TestRun { facts, digests, .. } = run;
    let before = ObservedRun::of(recorded);
    let (outputs, answer) = (Value::Object(before.outputs), before.answer);
    for (what, expected, actual) in [
        ("status", before.status, facts.status.clone()),
        ("outputs", redact(&outputs).to_string(), redact(&Value::Object(facts.outputs.clone())).to_string()),
        ("answer", answer, facts.answer.clone()),
    ] {
        if expected != actual {
            differences.push(Mismatch::new(what, expected, actual));
        }
    }
    for (recording, digest) in file.models.iter_mut().zip(digests) {
        recording.digest = digest.or(recording.digest.take());
    }
    file.expect = Expectations::proposed(&facts);
    Ok(differences)
}

/// The overview of a run, for [`propose_expectations`].
pub async fn recorded_overview(journal: &Journal, run: &RunId) -> Result<Overview, RecordRunError> {
    Ok(run_overview(journal, run).await?)
}

/// When an effect became due: the time, and its place among those of the same event.
type Due = (i64, usize);

/// Collects what models, tools and people answered.
#[derive(Debug, Default)]
struct Recorder {
    calls: Vec<(Due, CallRecording)>,
    models: Vec<(Due, ModelRecording)>,
    decisions: Vec<DecisionRecording>,
    token_counts: Vec<Option<u64>>,
    messages: Vec<String>,
    /// The sessions of steps, each with its step.
    sessions: Vec<(RunId, String)>,
    budgets: Budgets,
    hides_models: bool,
}

impl Recorder {
    /// Adds what a run, or the session of the step `within`, was answered, and returns its first event.
    async fn add_run(&mut self, journal: &Journal, run: &RunId, within: Option<&str>) -> Result<Event, RecordRunError> {
        let events = read_events(journal, run).await?;
        let unsupported = |reason| RecordRunError::Unsupported { run: run.clone(), reason };
        let (first, rest) = events.split_first().ok_or_else(|| unsupported("it has no events"))?;
        let refused = |source| DriveError::from(RestoreError::Refused { seq: 0, source });
        let (mut machine, _) = Machine::begin(first).map_err(refused)?;
        self.hides_models |= machine.policy().llm_debug == LlmDebug::Off;
        let mut due: HashMap<EffectId, (Due, Effect)> = HashMap::new();
        self.add_due(&machine, first.at_ms, &mut due);
        if within.is_none() {
            self.budgets.add(&machine, None);
        }
        for event in rest {
            if within.is_none() {
                self.budgets.add(&machine, Some(&event.kind));
            }
            self.add_event(event, &mut due, within).map_err(unsupported)?;
            machine.apply(event).map_err(refused)?;
            self.add_due(&machine, event.at_ms, &mut due);
        }
        if machine.ending().is_none() && !machine.is_waiting_for_person() {
            return Err(RecordRunError::NotEnded(run.clone()));
        }
        if within.is_none() {
            self.budgets.add_ending(&machine);
        }
        if self.budgets.contradict() {
            return Err(unsupported("a message has used up the budget, which was another one for each message"));
        }
        Ok(first.clone())
    }

    /// Notes the effects that have become due.
    fn add_due(&mut self, machine: &Machine, at_ms: i64, due: &mut HashMap<EffectId, (Due, Effect)>) {
        for (index, effect) in machine.pending().into_iter().enumerate() {
            let Some(id) = effect.id().cloned() else { continue };
            if due.contains_key(&id) {
                continue;
            }
            if let Effect::CallTool(call) = &effect
                && let Some(session) = machine.session_call(call)
            {
                if let SessionRequest::Start(started) = session.request {
                    self.sessions.push((started.run.clone(), call.step.to_string()));
                }
                continue;
            }
            due.insert(id, ((at_ms, index), effect));
        }
    }

    fn add_event(
        &mut self,
        event: &Event,
        due: &mut HashMap<EffectId, (Due, Effect)>,
        within: Option<&str>,
    ) -> Result<(), &'static str> {
        let known = event.kind.effect().and_then(|id| due.get(id));
        let took_ms =
            known.map_or(0, |((due_ms, _), _)| u64::try_from(event.at_ms.saturating_sub(*due_ms)).unwrap_or_default());
        match (&event.kind, known) {
            (EventKind::ToolAnswered { reply, .. }, Some((at, Effect::CallTool(call)))) => {
                self.calls.push((*at, call_recording(call, took_ms, Ok(redacted_reply(reply)))));
            }
            (EventKind::ToolFailed { failure, .. }, Some((at, Effect::CallTool(call)))) => {
                self.calls.push((*at, call_recording(call, took_ms, Err(failure.clone()))));
            }
            (EventKind::Interrupted { .. }, Some((at, Effect::CallTool(call)))) => {
                let message = "the process ended during the call".to_owned();
                let failure = TransportFailure { kind: TransportKind::Reset, delivery: Delivery::Possible, message };
                self.calls.push((*at, call_recording(call, took_ms, Err(failure))));
            }
            (EventKind::ModelAnswered { answer, .. }, Some((at, Effect::AskModel(ask)))) => {
                self.models.push((*at, model_recording(ask, took_ms, Ok(answer.clone()))));
            }
            (EventKind::ModelFailed { failure, .. }, Some((at, Effect::AskModel(ask)))) => {
                self.models.push((*at, model_recording(ask, took_ms, Err(failure.clone()))));
            }
            (EventKind::TokensCounted { tokens, .. }, _) => self.token_counts.push(*tokens),
            (EventKind::PersonDecided { decision, .. }, Some((_, Effect::AskPerson(question)))) => {
                let (within, step) = (within.map(str::to_owned), question.step.to_string());
                self.decisions.push(DecisionRecording { within, step, decision: decision.clone() });
            }
            (EventKind::FollowedUp { input }, _) => self.messages.push(input.clone()),
            (EventKind::Retried, _) => return Err("it was retried after it had ended"),
            (EventKind::Cancelled, _) => return Err("it was cancelled"),
            (EventKind::Stopped, _) => return Err("it was stopped"),
            _ => {}
        }
        Ok(())
    }
}

async fn read_events(journal: &Journal, run: &RunId) -> Result<Vec<Event>, RecordRunError> {
    let stored = journal.events(run, 0).await.map_err(DriveError::from)?;
    let read = stored.iter().map(|event| {
        serde_json::from_str(&event.body)
            .map_err(|source| DriveError::from(RestoreError::Unreadable { seq: event.seq, source }).into())
    });
    read.collect()
}

fn call_recording(call: &CallTool, took_ms: u64, outcome: Result<ToolReply, TransportFailure>) -> CallRecording {
    CallRecording {
        call: call_name(call),
        step: Some(call.step.to_string()),
        parameters: redact_object(&call.parameters),
        asks: call.job.clone(),
        took_ms,
        outcome,
        plays: PlayCount::Times(1),
    }
}

fn model_recording(ask: &AskModel, took_ms: u64, outcome: Result<ModelAnswer, ModelFailure>) -> ModelRecording {
    let outcome = outcome.map(|answer| ModelAnswer { timings: None, request_id: None, ..answer });
    ModelRecording {
        purpose: ask.purpose,
        target: Some(ask.target.to_string()),
        digest: Some(prompt_digest(&ask.request)),
        matching: ModelMatch::Digest,
        took_ms,
        outcome,
        plays: PlayCount::Times(1),
    }
}

fn redact(value: &Value) -> Value {
    let wrapped = redact_object(&Object::from([("value", value.clone())]));
    wrapped.get("value").cloned().unwrap_or_default()
}

fn redacted_reply(reply: &ToolReply) -> ToolReply {
    let body = match &reply.body {
        ReplyBody::Json(value) => ReplyBody::Json(redact(value)),
        ReplyBody::Repaired { value, fixes } => ReplyBody::Repaired { value: redact(value), fixes: fixes.clone() },
        other => other.clone(),
    };
    ToolReply { body, ..reply.clone() }
}

fn empty_file(start: TestStart, seed: u64, policy: &Policy, templates: &Templates) -> TestFile {
    TestFile {
        about: None,
        start,
        at_ms: 0,
        seed,
        metadata: Object::new(),
        targets: Vec::new(),
        policy: difference(&to_value(policy), &to_value(&Policy::default())),
        prompts: difference(&to_value(templates), &to_value(&Templates::default())),
        mappings: Vec::new(),
        tools: Catalogue::default(),
        calls: Vec::new(),
        models: Vec::new(),
        decisions: Vec::new(),
        token_counts: Vec::new(),
        expect: Expectations::default(),
    }
}

fn of_run(started: &Started, options: &RecordOptions, recorder: &Recorder) -> TestFile {
    let outer = Outer { policy: &started.policy, targets: names(&started.targets), tools: Vec::new() };
    let start = match &started.plan {
        None => TestStart::Request(started.request.clone()),
        Some(plan) => TestStart::Plan {
            plan: options.plan.clone().map_or_else(|| inline_plan(plan), PlanSource::File),
            request: (started.request != plan.original_request).then(|| started.request.clone()),
            inputs: redact_object(&started.inputs),
            agents: match &options.plan {
                Some(_) => Vec::new(),
                None => started.agents.iter().map(|agent| test_agent(agent, &outer)).collect(),
            },
        },
    };
    let mut file = empty_file(start, started.seed, &started.policy, &started.templates);
    file.metadata = started.metadata.to_object();
    file.targets = names(&started.targets);
    file.mappings.clone_from(&started.mappings);
    let mut tools = started.catalogue.as_ref().clone();
    tools.tools.retain(|tool| started.agents.is_empty() || tool.name.as_str() != AGENT_TOOL);
    if recorder.models.is_empty() && started.plan.is_some() {
        let policy = to_value(started.policy.as_ref()).to_string();
        let plan = started.plan.as_ref().map(|plan| plan.to_value().to_string()).unwrap_or_default();
        let calls: Vec<&str> = recorder.calls.iter().map(|(_, recording)| recording.call.as_str()).collect();
        tools = used_tools(&tools, &calls, &[&plan, &policy]);
    }
    add_tools_of(&mut tools, &started.agents);
    file.tools = tools;
    file
}

fn inline_plan(plan: &Plan) -> PlanSource {
    PlanSource::Inline(Document::read(&write_plan_file(plan)).map(|read| read.value).unwrap_or_default())
}

fn of_session(started: &SessionStarted, options: &RecordOptions, recorder: &Recorder) -> TestFile {
    let mut tools = started.catalogue.as_ref().clone();
    add_tools_of(&mut tools, &started.agents);
    let outer = Outer { policy: &started.policy, targets: names(&started.targets), tools: names_of(&tools) };
    let agent = match &options.agent {
        Some(path) => AgentSource::File(path.clone()),
        None => AgentSource::Inline(Box::new(agent_of_session(started, String::new(), &outer))),
    };
    let start = TestStart::Agent { agent, input: started.input.clone(), messages: recorder.messages.clone() };
    let policy = recorder.budgets.limit(&started.policy);
    let mut file = empty_file(start, started.seed, &policy, &started.templates);
    file.metadata = started.metadata.to_object();
    file.targets = names(&started.targets);
    file.tools = tools;
    file
}

fn names(targets: &[TargetName]) -> Vec<String> {
    targets.iter().map(ToString::to_string).collect()
}

fn add_tools_of(tools: &mut Catalogue, agents: &[SubAgent]) {
    for agent in agents {
        add_tools(tools, &agent.session.catalogue);
        add_tools_of(tools, &agent.session.agents);
    }
}

/// What agents have unless they say otherwise.
struct Outer<'a> {
    policy: &'a Policy,
    targets: Vec<String>,
    tools: Vec<String>,
}

fn test_agent(agent: &SubAgent, outer: &Outer<'_>) -> TestAgent {
    TestAgent { name: agent.name.clone(), ..agent_of_session(&agent.session, agent.description.clone(), outer) }
}

fn agent_of_session(session: &SessionStarted, description: String, outer: &Outer<'_>) -> TestAgent {
    let (tools, targets) = (names_of(&session.catalogue), names(&session.targets));
    let policy = (*session.policy != *outer.policy)
        .then(|| difference(&to_value(session.policy.as_ref()), &to_value(&Policy::default())));
    TestAgent {
        name: session.agent.clone(),
        description,
        prompt: session.prompt.clone(),
        rules: difference(&to_value(&session.rules), &to_value(&SessionRules::default())),
        tools: (tools != outer.tools).then_some(tools),
        targets: (targets != outer.targets).then_some(targets),
        policy,
        agents: session.agents.iter().map(|inner| test_agent(inner, outer)).collect(),
    }
}

/// The tools that a plan, its policy or its calls name, by themselves or by a capability.
fn used_tools(all: &Catalogue, calls: &[&str], texts: &[&str]) -> Catalogue {
    let is_named = |name: &str| texts.iter().any(|text| text.contains(name));
    let is_called = |tool: &str| calls.iter().any(|call| call.split_once('/').is_some_and(|(name, _)| name == tool));
    let is_used = |tool: &&CatalogueTool| {
        is_called(tool.name.as_str())
            || is_named(tool.name.as_str())
            || tool.capabilities.iter().any(|entry| is_named(entry.capability.name.as_str()))
    };
    Catalogue { tools: all.tools.iter().filter(is_used).cloned().collect() }
}

/// Adds the capabilities of another catalogue that this one does not have.
fn add_tools(all: &mut Catalogue, other: &Catalogue) {
    for tool in &other.tools {
        let Some(known) = all.tools.iter_mut().find(|known| known.name == tool.name) else {
            all.tools.push(tool.clone());
            continue;
        };
        let new = tool.capabilities.iter().filter(|entry| !known.capabilities.contains(entry));
        let new: Vec<CatalogueEntry> = new.cloned().collect();
        known.capabilities.extend(new);
    }
}

/// The capabilities, each as `tool/capability`.
fn names_of(catalogue: &Catalogue) -> Vec<String> {
    catalogue.tools.iter().flat_map(|tool| tool.capabilities.iter().map(|entry| tool.key(entry))).collect()
}
