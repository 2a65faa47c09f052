//! Maps decision records to signals.

mod calls;
mod models;
mod planning;
mod repairs;
mod run_end;
mod session_lines;
mod sessions;
mod steps;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use reknit_engine::{Metadata, ModelQuestion, Record, RecordKind, RunRecord};
use reknit_model_api::TargetName;
use reknit_protocol::{CallTool, EffectId, ScopeLevel, StepId, Value};

use crate::attribute_value::{AttributeValue, MAX_TEXT};
use crate::context::TraceContext;
use crate::redact::redact_object;
use crate::signal::{Definition, Signal, Span, SpanEvent, SpanKind, SpanStatus};
use crate::table::{self, logs, metrics};
use steps::StepTrace;

/// The key of the span that contains all others.
const ROOT: &str = "run";

/// The attributes for the metadata of a request begin with this.
const METADATA_PREFIX: &str = "reknit.meta.";

/// The provider and the model of a target, as standard telemetry names them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelIdentity {
    pub provider: String,
    pub model: String,
}

/// The model of each target. A target that is missing is reported under its own name.
pub type ModelIdentities = BTreeMap<TargetName, ModelIdentity>;

/// Maps the records of one machine, and of the machines nested in it, to signals.
#[derive(Debug, Clone)]
pub struct Tracer {
    context: TraceContext,
    /// The span of the run or session; `None` before it starts and after it was reported.
    root: Option<(OpenSpan, RootInfo)>,
    turn: Option<(u32, OpenSpan)>,
    steps: BTreeMap<StepKey, StepTrace>,
    /// The tracers of plans and agents in progress, by where they are nested.
    children: BTreeMap<Vec<ScopeLevel>, Self>,
    /// The calls and questions in progress.
    open: BTreeMap<EffectId, OpenEffect>,
    /// The open questions to a person: since when, and which rule asks.
    asked: BTreeMap<EffectId, (i64, String)>,
    planning: planning::Planning,
    /// The time of the event whose records are being observed.
    at_ms: i64,
    /// How long the question took whose end is among the records being observed; 0 if there is none.
    latency_ms: u64,
    /// How often the run was retried.
    retries: u32,
    module: &'static str,
    models: Arc<ModelIdentities>,
    /// The attempt of a turn that has ended; its span is closed when the machine has judged the answer.
    ended_attempt: Option<models::EndedAttempt>,
    signals: Vec<Signal>,
    /// Whether somebody reads the texts in span events.
    has_readers: bool,
}

#[derive(Debug, Clone)]
struct OpenSpan {
    key: String,
    start_ms: i64,
    events: Vec<SpanEvent>,
    metadata: Vec<(String, AttributeValue)>,
}

/// The attributes of the root span that are known at its start.
#[derive(Debug, Clone)]
enum RootInfo {
    Run { request: String, has_plan: bool },
    Session { agent: String, input: String },
}

/// A step of the run, or a tool call of a session's turn.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct StepKey {
    turn: Option<u32>,
    step: StepId,
}

#[derive(Debug, Clone)]
struct OpenEffect {
    since_ms: i64,
    kind: OpenKind,
}

#[derive(Debug, Clone)]
enum OpenKind {
    Question(ModelQuestion),
    Call(Arc<CallTool>),
}

impl Tracer {
    /// A tracer that has observed nothing yet.
    pub fn new(context: TraceContext) -> Self {
        Self {
            context,
            root: None,
            turn: None,
            steps: BTreeMap::new(),
            children: BTreeMap::new(),
            open: BTreeMap::new(),
            asked: BTreeMap::new(),
            planning: planning::Planning::default(),
            at_ms: 0,
            latency_ms: 0,
            retries: 0,
            module: table::ORCHESTRATION,
            models: Arc::default(),
            ended_attempt: None,
            signals: Vec::new(),
            has_readers: true,
        }
    }

    /// Leaves out the events about questions to models, whose texts take time to redact: for metrics alone.
    #[must_use]
    pub fn without_texts(self) -> Self {
        Self { has_readers: false, ..self }
    }

    /// Sets the models of the targets, which spans name.
    #[must_use]
    pub fn with_models(self, models: Arc<ModelIdentities>) -> Self {
        Self { models, ..self }
    }

    /// Maps the records that a machine produced for one event. `at_ms` is the time of that event.
    pub fn observe(&mut self, at_ms: i64, records: &[Record]) -> Vec<Signal> {
        self.at_ms = at_ms;
        self.latency_ms = 0;
        for record in records {
            self.map(&record.scope, &record.kind);
        }
        std::mem::take(&mut self.signals)
    }

    pub fn context(&self) -> &TraceContext {
        &self.context
    }

    fn map(&mut self, scope: &[ScopeLevel], record: &RecordKind) {
        let turn = match scope {
            [] => None,
            [ScopeLevel::Turn(turn)] => Some(*turn),
            [turn, call, rest @ ..] => return self.map_child(&[*turn, *call], rest, record),
            [ScopeLevel::Call(_)] => return,
        };
        match record {
            RecordKind::Model(record) => self.map_model(scope, record),
            RecordKind::Run(record) => self.map_run(turn, record),
            RecordKind::Session(record) => self.map_session(record),
        }
    }

    /// Passes a record to the tracer of the nested machine that made it.
    fn map_child(&mut self, child: &[ScopeLevel], scope: &[ScopeLevel], record: &RecordKind) {
        let mut tracer = self.children.remove(child).unwrap_or_else(|| {
            let context = self.context.within(child, self.context.span(&self.step_parent()));
            let models = Arc::clone(&self.models);
            Self { module: self.module, models, has_readers: self.has_readers, ..Self::new(context) }
        });
        tracer.at_ms = self.at_ms;
        tracer.map(scope, record);
        self.signals.append(&mut tracer.signals);
        if tracer.root.is_some() {
            self.children.insert(child.to_vec(), tracer);
        }
    }

    fn map_run(&mut self, turn: Option<u32>, record: &RunRecord) {
        match record {
            RunRecord::Started { request, has_plan, metadata } => self.start_run(request, *has_plan, metadata),
            RunRecord::Resumed => self.restart_open_effects(),
            RunRecord::Retried { times, request, has_plan, metadata, .. } => {
                self.retries = *times;
                self.start_run(request, *has_plan, metadata);
            }
            RunRecord::ToolsSelected(selection) => {
                self.measure(&metrics::TOKENS_SAVED, selection.saved_tokens, [self.module()]);
            }
            RunRecord::PlanAccepted { .. } => self.end_planning("success"),
            RunRecord::Replanning { .. } => self.begin_replanning(),
            RunRecord::ReplanningGivenUp { .. } => self.end_planning("error"),
            RunRecord::PlanRejected { attempt, cause, problems, will_retry } => {
                self.map_rejected_plan(*attempt, *cause, problems, *will_retry);
            }
            RunRecord::StepStarted(step) => self.start_step(turn, step),
            RunRecord::CallStarted(call) => self.start_call(turn, call),
            RunRecord::CallEnded { call, end, fault } => self.end_call(turn, call, end, fault.as_ref()),
            RunRecord::CallSkipped { id, until_ms } => self.skip_effect(&id_in_turn(turn, id), *until_ms),
            RunRecord::KeyFound { id, .. } => _ = self.open.remove(&id_in_turn(turn, id)),
            RunRecord::ApprovalRequested(ask) => {
                let rule = ask.question.rule();
                self.count(&metrics::QUESTIONS, [self.module(), rule.clone().into()]);
                self.asked.insert(id_in_turn(turn, &ask.id), (self.at_ms, rule));
            }
            RunRecord::ApprovalDecided { id, decision, expired, .. } => {
                if let Some((since_ms, rule)) = self.asked.remove(&id_in_turn(turn, id)) {
                    let decision = if *expired { "expired" } else { decision.as_str() };
                    let labels = [decision.into(), self.module(), rule.into()];
                    self.measure(&metrics::DECISION_MS, elapsed_ms(since_ms, self.at_ms), labels);
                }
            }
            RunRecord::RungStarted(start) => self.start_rung(turn, start),
            RunRecord::AdviceRead { step, rung, advice, answer } => {
                self.map_advice(&StepKey::new(turn, step), *rung, advice, answer);
            }
            RunRecord::Mended { step, mend, detail } => {
                self.map_mend(&StepKey::new(turn, step), mend, detail);
            }
            RunRecord::FeedbackExhausted(step) => self.map_exhausted_feedback(&StepKey::new(turn, step)),
            RunRecord::StepEnded { step, end, calls, mends } => {
                self.end_step(&StepKey::new(turn, step), end, (*calls, *mends));
            }
            // The run of a turn's calls is not a request of its own.
            RunRecord::Ended { .. } if turn.is_some() => {}
            RunRecord::Ended { status, reason, steps, spent } => self.end_run(*status, reason, *steps, spent),
            _ => {}
        }
    }

    fn start_run(&mut self, request: &str, has_plan: bool, metadata: &Metadata) {
        let info = RootInfo::Run { request: request.to_owned(), has_plan };
        let mut root = OpenSpan::root(self.at_ms, metadata);
        root.key = self.retried_key(root.key);
        self.root = Some((root, info));
        // A nested run is part of a session, which has logged its own start.
        if !self.context.is_nested() {
            let request = AttributeValue::excerpt(request, MAX_TEXT);
            self.log(&logs::STARTED, ["process_request".into(), self.run_id(), request]);
        }
    }

    /// Restarts the calls and questions in progress: the process that had started them is gone.
    fn restart_open_effects(&mut self) {
        self.open.values_mut().for_each(|effect| effect.since_ms = self.at_ms);
    }

    fn run_id(&self) -> AttributeValue {
        self.context.run().as_str().into()
    }

    /// Logs a line whose message is the name in the table.
    fn log<const N: usize>(&mut self, definition: &Definition<N>, values: [AttributeValue; N]) {
        self.signals.push(Signal::Log(definition.log_line("", values)));
    }

    fn count<const N: usize>(&mut self, counter: &Definition<N>, labels: [Cow<'static, str>; N]) {
        self.measure(counter, 1, labels);
    }

    fn measure<const N: usize>(&mut self, metric: &Definition<N>, value: u64, labels: [Cow<'static, str>; N]) {
        self.signals.push(Signal::Metric(metric.metric(value, labels)));
    }

    fn module(&self) -> Cow<'static, str> {
        self.module.into()
    }

    fn add_event(&mut self, event: SpanEvent) {
        if let Some((root, _)) = &mut self.root {
            root.events.push(event);
        }
    }

    fn close<const N: usize>(
        &mut self,
        span: OpenSpan,
        (kind, parent): (SpanKind, Option<String>),
        (definition, values): (&Definition<N>, [AttributeValue; N]),
        status: SpanStatus,
    ) {
        let parent = parent.map(|key| self.context.span(&key));
        self.signals.push(Signal::Span(Box::new(Span {
            trace: self.context.trace(),
            id: self.context.span(&span.key),
            parent_is_remote: parent.is_none() && self.context.parent().is_some() && !self.context.is_nested(),
            parent: parent.or(self.context.parent()),
            name: definition.entry.name,
            kind,
            start_ms: span.start_ms,
            end_ms: self.at_ms.max(span.start_ms),
            attributes: definition.attributes(values).into_iter().filter(is_reported).collect(),
            metadata: span.metadata,
            events: span.events,
            status,
        })));
    }

    /// The key of the span that contains the steps: of the turn, or of the run.
    fn step_parent(&self) -> String {
        let root = || self.retried_key(ROOT.to_owned());
        self.turn.as_ref().map_or_else(root, |(_, span)| span.key.clone())
    }

    /// The key of a span that exists once in each attempt of a run.
    fn retried_key(&self, key: String) -> String {
        if self.retries == 0 { key } else { format!("{key}/retry-{}", self.retries) }
    }

    /// The key of the span that contains an effect: of its step, of its turn, or of the run.
    fn effect_parent(&self, id: &EffectId) -> String {
        let step = StepKey::of(id).filter(|key| self.steps.contains_key(key));
        step.map_or_else(|| self.step_parent(), |key| self.retried_key(key.span_key()))
    }
}

impl StepKey {
    fn new(turn: Option<u32>, step: &StepId) -> Self {
        Self { turn, step: step.clone() }
    }

    fn of(id: &EffectId) -> Option<Self> {
        let turn = match id.scope() {
            [ScopeLevel::Turn(turn)] => Some(*turn),
            _ => None,
        };
        Some(Self { turn, step: id.step()?.clone() })
    }

    /// The key of the step's span; it differs from the keys of effects and of the run.
    fn span_key(&self) -> String {
        match self.turn {
            Some(turn) => format!("step {}/{}", ScopeLevel::Turn(turn), self.step),
            None => format!("step {}", self.step),
        }
    }
}

impl OpenSpan {
    fn new(key: impl Into<String>, start_ms: i64) -> Self {
        Self { key: key.into(), start_ms, events: Vec::new(), metadata: Vec::new() }
    }

    /// The span of a run or session, with the metadata of its request.
    fn root(start_ms: i64, metadata: &Metadata) -> Self {
        let redacted = redact_object(&metadata.to_object());
        let text = |value: &Value| AttributeValue::excerpt(value.as_str().unwrap_or_default(), MAX_TEXT);
        let metadata = redacted.iter().map(|(key, value)| (format!("{METADATA_PREFIX}{key}"), text(value))).collect();
        Self { metadata, ..Self::new(ROOT, start_ms) }
    }
}

/// The id of an effect as the traced machine knows it: an effect of a turn's calls is nested in the turn.
fn id_in_turn(turn: Option<u32>, id: &EffectId) -> EffectId {
    match turn {
        Some(turn) => id.clone().nested_in(&[ScopeLevel::Turn(turn)]),
        None => id.clone(),
    }
}

/// Leaves out an empty `error.type`, whose presence means an error, and the attributes of a turn for other questions.
fn is_reported((name, value): &(&'static str, AttributeValue)) -> bool {
    !matches!(*name, "error.type" | "turn" | "backoff_ms") || *value != AttributeValue::from("")
}

fn elapsed_ms(start_ms: i64, end_ms: i64) -> u64 {
    u64::try_from(end_ms.saturating_sub(start_ms)).unwrap_or(0)
}
