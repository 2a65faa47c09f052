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

use reknit_engine::{ModelQuestion, Record, RecordKind, RunRecord};
use reknit_protocol::{CallTool, EffectId, ScopeLevel, StepId};

use crate::attribute_value::{AttributeValue, MAX_TEXT};
use crate::context::TraceContext;
use crate::definition::Definition;
use crate::signal::{LogLine, Metric, Signal, Span, SpanEvent, SpanKind, SpanStatus};
use crate::table::{self, logs};
use steps::StepTrace;

/// The key of the span that contains all others.
const ROOT: &str = "run";

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
    planning: planning::Planning,
    /// How long the question took whose end is among the records being observed; 0 if there is none.
    latency_ms: u64,
    module: &'static str,
    signals: Vec<Signal>,
}

/// A span in progress.
#[derive(Debug, Clone)]
struct OpenSpan {
    key: String,
    start_ms: i64,
    events: Vec<SpanEvent>,
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

/// A call or question in progress.
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
            planning: planning::Planning::default(),
            latency_ms: 0,
            module: table::ORCHESTRATION,
            signals: Vec::new(),
        }
    }

    /// Maps the records that a machine produced for one event. `at_ms` is the time of that event.
    pub fn observe(&mut self, at_ms: i64, records: &[Record]) -> Vec<Signal> {
        self.latency_ms = 0;
        for record in records {
            self.map(at_ms, &record.scope, &record.kind);
        }
        std::mem::take(&mut self.signals)
    }

    /// The ids of the spans.
    pub fn context(&self) -> &TraceContext {
        &self.context
    }

    fn map(&mut self, at_ms: i64, scope: &[ScopeLevel], record: &RecordKind) {
        let turn = match scope {
            [] => None,
            [ScopeLevel::Turn(turn)] => Some(*turn),
            [turn, call, rest @ ..] => return self.map_child(at_ms, &[*turn, *call], rest, record),
            [ScopeLevel::Call(_)] => return,
        };
        match record {
            RecordKind::Model(record) => self.map_model(at_ms, scope, record),
            RecordKind::Run(record) => self.map_run(at_ms, turn, record),
            RecordKind::Session(record) => self.map_session(at_ms, record),
        }
    }

    /// Passes a record to the tracer of the nested machine that made it.
    fn map_child(&mut self, at_ms: i64, child: &[ScopeLevel], scope: &[ScopeLevel], record: &RecordKind) {
        let mut tracer = self.children.remove(child).unwrap_or_else(|| {
            let parent = self.context.span(&self.step_parent());
            Self { module: self.module, ..Self::new(self.context.within(child, parent)) }
        });
        tracer.map(at_ms, scope, record);
        self.signals.append(&mut tracer.signals);
        if tracer.root.is_some() {
            self.children.insert(child.to_vec(), tracer);
        }
    }

    fn map_run(&mut self, at_ms: i64, turn: Option<u32>, record: &RunRecord) {
        match record {
            RunRecord::Started { request, has_plan } => self.start_run(at_ms, request, *has_plan),
            RunRecord::Resumed => self.restart_open_effects(at_ms),
            RunRecord::ToolsSelected { saved_tokens, .. } => self.count_saved_tokens(*saved_tokens),
            RunRecord::PlanAccepted { .. } => self.end_planning("success", at_ms),
            RunRecord::PlanRejected { attempt, cause, problems, will_retry } => {
                self.map_rejected_plan(at_ms, *attempt, *cause, problems, *will_retry);
            }
            RunRecord::StepStarted(step) => self.start_step(at_ms, turn, step),
            RunRecord::CallStarted { call } => self.start_call(at_ms, turn, call),
            RunRecord::CallEnded { call, end, fault } => self.end_call(at_ms, turn, call, end, fault.as_ref()),
            RunRecord::CallSkipped { id, until_ms } => self.skip_effect(at_ms, &id_in_turn(turn, id), *until_ms),
            RunRecord::RungStarted(start) => self.start_rung(at_ms, turn, start),
            RunRecord::AdviceRead { step, rung, advice, answer } => {
                self.map_advice(at_ms, &StepKey::new(turn, step), *rung, advice, answer);
            }
            RunRecord::Mended { step, mend, detail } => {
                self.map_mend(at_ms, &StepKey::new(turn, step), mend, detail);
            }
            RunRecord::FeedbackExhausted { step } => self.map_exhausted_feedback(at_ms, &StepKey::new(turn, step)),
            RunRecord::StepEnded { step, end, calls, mends } => {
                self.end_step(at_ms, &StepKey::new(turn, step), end, (*calls, *mends));
            }
            // The run of a turn's calls is not a request of its own.
            RunRecord::Ended { .. } if turn.is_some() => {}
            RunRecord::Ended { status, reason, steps, spent } => self.end_run(at_ms, *status, reason, *steps, spent),
            RunRecord::StepBound { .. }
            | RunRecord::WaitStarted { .. }
            | RunRecord::WaitEnded { .. }
            | RunRecord::ApprovalRequested(_)
            | RunRecord::ApprovalDecided { .. }
            | RunRecord::LateOutcome { .. } => {}
        }
    }

    fn start_run(&mut self, at_ms: i64, request: &str, has_plan: bool) {
        self.root = Some((OpenSpan::new(ROOT, at_ms), RootInfo::Run { request: request.to_owned(), has_plan }));
        // A nested run is part of a session, which has logged its own start.
        if !self.context.is_nested() {
            let request = AttributeValue::excerpt(request, MAX_TEXT);
            self.log(logs::STARTED.log_line("", ["process_request".into(), self.run_id(), request]));
        }
    }

    /// Restarts the calls and questions in progress: the process that had started them is gone.
    fn restart_open_effects(&mut self, at_ms: i64) {
        self.open.values_mut().for_each(|effect| effect.since_ms = at_ms);
    }

    fn run_id(&self) -> AttributeValue {
        self.context.run().as_str().into()
    }

    fn log(&mut self, line: LogLine) {
        self.signals.push(line.into());
    }

    fn count(&mut self, metric: Metric) {
        self.signals.push(metric.into());
    }

    fn module(&self) -> Cow<'static, str> {
        self.module.into()
    }

    /// Adds an event to the span of the run or session.
    fn add_event(&mut self, event: SpanEvent) {
        if let Some((root, _)) = &mut self.root {
            root.events.push(event);
        }
    }

    /// Reports a span that has ended.
    fn close<const N: usize>(
        &mut self,
        span: OpenSpan,
        (kind, parent): (SpanKind, Option<String>),
        (definition, values): (&Definition<N>, [AttributeValue; N]),
        status: SpanStatus,
        at_ms: i64,
    ) {
        let parent = parent.map(|key| self.context.span(&key));
        self.signals.push(Signal::Span(Box::new(Span {
            trace: self.context.trace(),
            id: self.context.span(&span.key),
            parent_is_remote: parent.is_none() && self.context.parent().is_some() && !self.context.is_nested(),
            parent: parent.or(self.context.parent()),
            name: definition.name(),
            kind,
            start_ms: span.start_ms,
            end_ms: at_ms.max(span.start_ms),
            attributes: definition.attributes(values).into_iter().filter(is_reported).collect(),
            events: span.events,
            status,
        })));
    }

    /// The key of the span that contains the steps: of the turn, or of the run.
    fn step_parent(&self) -> String {
        self.turn.as_ref().map_or_else(|| ROOT.to_owned(), |(_, span)| span.key.clone())
    }

    /// The key of the span that contains an effect: of its step, of its turn, or of the run.
    fn effect_parent(&self, id: &EffectId) -> String {
        let step = StepKey::of(id).filter(|key| self.steps.contains_key(key));
        step.map_or_else(|| self.step_parent(), |key| key.span_key())
    }
}

impl StepKey {
    fn new(turn: Option<u32>, step: &StepId) -> Self {
        Self { turn, step: step.clone() }
    }

    /// The step that requests an effect.
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
        Self { key: key.into(), start_ms, events: Vec::new() }
    }
}

/// The id of an effect as the traced machine knows it: an effect of a turn's calls is nested in the turn.
fn id_in_turn(turn: Option<u32>, id: &EffectId) -> EffectId {
    match turn {
        Some(turn) => id.clone().nested_in(&[ScopeLevel::Turn(turn)]),
        None => id.clone(),
    }
}

/// Leaves out an empty `error.type`: by convention its presence means that there was an error.
fn is_reported((name, value): &(&'static str, AttributeValue)) -> bool {
    *name != "error.type" || *value != AttributeValue::from("")
}

fn elapsed_ms(start_ms: i64, end_ms: i64) -> u64 {
    u64::try_from(end_ms.saturating_sub(start_ms)).unwrap_or(0)
}
