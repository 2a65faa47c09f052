//! From events to what is told about them.

mod children;
mod ending;
mod hearing;
mod mending;
mod planning;
mod sessions;
mod steps;

use std::borrow::Cow;
use std::collections::BTreeMap;

use reknit_dialogue::{Purpose, Request, TargetName};
use reknit_protocol::{AgentName, CapabilityName, StepId};

use super::datum::{Datum, WORDS};
use super::entry::Entry;
use super::signal::{LogLine, Metric, Signal, Span, SpanEvent, SpanKind, SpanStatus};
use super::table::{logs, spans};
use super::trace::TraceContext;
use crate::effect::{AskModel, Effect};
use crate::event::{Event, What};
use crate::machine::Machine;
use crate::run::Run;
use crate::run::glance::Glance;
use reknit_mend::{Advice, Rung};
use reknit_protocol::{CallTool, EffectId};

/// The key of the span that all others are in.
const ROOT: &str = "run";

/// Observes one machine, event after event, and says what is to be told.
#[derive(Debug, Clone)]
pub struct Tracer {
    context: TraceContext,
    /// The span of the run or the session; none once it was told.
    root: Option<OpenSpan>,
    turn: Option<(u32, OpenSpan)>,
    /// By who wants the effects: the step, or the turn and the call in it.
    steps: BTreeMap<String, StepTrace>,
    /// Those that tell of the plans and agents under way in a session, by what the names of their effects begin with.
    children: BTreeMap<String, Self>,
    /// What the names of the run's effects begin with: the turn, in a session.
    prefix: String,
    /// Which steps of the run, or of the turn by its name, are over: most are, and nobody looks at them again.
    over: (String, Vec<bool>),
    under_way: BTreeMap<EffectId, UnderWay>,
    planning: Planning,
    /// How many records of a session were told.
    records: usize,
    module: &'static str,
    told: Vec<Signal>,
}

/// A span that has begun.
#[derive(Debug, Clone)]
struct OpenSpan {
    key: String,
    start_ms: i64,
    events: Vec<SpanEvent>,
}

/// What is known about a step.
#[derive(Debug, Clone, Default)]
struct StepTrace {
    span: Option<OpenSpan>,
    /// How many mends were told.
    mends: usize,
    /// The rungs that were told to have begun, and not how they ended.
    open: Vec<Rung>,
    /// The numbers of the rungs that were told to have begun.
    feedback: u32,
    context: u32,
    is_spent: bool,
}

/// An effect that is under way.
#[derive(Debug, Clone)]
struct UnderWay {
    since_ms: i64,
    what: Doing,
}

#[derive(Debug, Clone)]
enum Doing {
    Asking { target: TargetName, purpose: Purpose, max_tokens: u32, temperature: f64, attempt: u32 },
    Calling { step: StepId, agent: AgentName, capability: CapabilityName, attempt: u32 },
}

#[derive(Debug, Clone, Default)]
struct Planning {
    since_ms: Option<i64>,
    /// The how-manieth plan was asked for last.
    attempt: u32,
    chosen: bool,
}

/// What became of a question about a step.
struct Heard<'a> {
    owner: String,
    ms: u64,
    text: &'a str,
    /// What was advised, or why that cannot be read; none if there was no answer.
    advice: Option<Result<Advice, String>>,
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
            prefix: String::new(),
            over: (String::new(), Vec::new()),
            under_way: BTreeMap::new(),
            planning: Planning::default(),
            records: 0,
            module: super::table::ORCHESTRATION,
            told: Vec::new(),
        }
    }

    /// Takes in what happened, with the machine as it is then and what it wants, and says what is to be told about it.
    pub fn observe(&mut self, machine: &Machine, pending: &[Effect], event: &Event) -> Vec<Signal> {
        if matches!(event.what, What::Started(_) | What::SessionStarted(_)) {
            self.begin(machine, event.at_ms);
        }
        self.look(machine, pending, Some(&event.what), event.at_ms);
        std::mem::take(&mut self.told)
    }

    /// Takes in what is new. What happened is not known to a machine inside another if it was about something else.
    fn look(&mut self, machine: &Machine, pending: &[Effect], what: Option<&What>, at_ms: i64) {
        if matches!(what, Some(What::Resumed)) {
            // Whoever had begun them is gone: they begin anew.
            self.under_way.values_mut().for_each(|effect| effect.since_ms = at_ms);
        }
        let run = match machine {
            Machine::Run(run) => Some(run.as_ref()),
            Machine::Session(session) => session.told_run(),
        };
        self.prefix = match machine {
            Machine::Run(_) => String::new(),
            Machine::Session(_) => run.map(prefix).unwrap_or_default(),
        };
        let heard = what.and_then(|what| self.hear(run, what, at_ms));
        if let Some(run) = run {
            self.look_at_steps(run, heard.as_ref(), what, at_ms);
        }
        if let Machine::Session(session) = machine {
            self.look_at_children(session, what, at_ms);
            self.look_at_records(session, at_ms);
        }
        self.begin_effects(run, pending, at_ms);
        self.drop_effects(pending, at_ms);
        self.end(machine, at_ms);
    }

    /// The names of its spans.
    pub fn context(&self) -> &TraceContext {
        &self.context
    }

    fn begin(&mut self, machine: &Machine, at_ms: i64) {
        self.root = Some(OpenSpan::new(ROOT, at_ms));
        match machine {
            // Its session has told of it.
            Machine::Run(_) if self.context.is_nested() => {}
            Machine::Run(run) => {
                let request = Datum::words(&run.started().request, WORDS);
                self.say(logs::STARTED.line("", ["process_request".into(), self.run_id(), request]));
            }
            Machine::Session(_) => self.module = super::table::AGENT,
        }
    }

    /// The run, as attributes name it.
    fn run_id(&self) -> Datum {
        self.context.run().as_str().into()
    }

    fn begin_effects(&mut self, run: Option<&Run>, pending: &[Effect], at_ms: i64) {
        for effect in pending {
            match effect {
                effect if effect.id().is_some_and(|id| self.is_of_child(&id.to_string())) => {}
                Effect::AskModel(ask) if !self.under_way.contains_key(&ask.id) => self.begin_question(run, ask, at_ms),
                Effect::CallTool(call) if !self.under_way.contains_key(&call.id) => self.begin_call(call, at_ms),
                _ => {}
            }
        }
    }

    fn begin_call(&mut self, call: &CallTool, at_ms: i64) {
        let what = Doing::Calling {
            step: call.step.clone(),
            agent: call.agent.clone(),
            capability: call.capability.clone(),
            attempt: ordinal(&call.id),
        };
        self.under_way.insert(call.id.clone(), UnderWay { since_ms: at_ms, what });
    }

    fn begin_question(&mut self, run: Option<&Run>, ask: &AskModel, at_ms: i64) {
        let attempt = match (ask.purpose, run) {
            (Purpose::PlanGeneration, Some(run)) => run.plan_attempt(),
            _ => ordinal(&ask.id),
        };
        match ask.purpose {
            Purpose::PlanGeneration | Purpose::TieredSelection | Purpose::Synthesis => {
                self.begin_question_of_run(ask, attempt, at_ms);
            }
            Purpose::MicroResolution | Purpose::ErrorAnalysis | Purpose::SemanticRetry => {
                if let Some(run) = run {
                    self.begin_question_of_step(run, ask, at_ms);
                }
            }
            Purpose::Correction
            | Purpose::SynthesisStreaming
            | Purpose::HallucinationDetection
            | Purpose::AgentTurn => {}
        }
        let what = Doing::Asking {
            target: ask.target.clone(),
            purpose: ask.purpose,
            max_tokens: ask.request.max_tokens,
            temperature: temperature(&ask.request),
            attempt,
        };
        self.under_way.insert(ask.id.clone(), UnderWay { since_ms: at_ms, what });
    }

    /// What was under way and is no longer wanted was dropped: nobody will hear of it.
    fn drop_effects(&mut self, pending: &[Effect], at_ms: i64) {
        let is_wanted = |id: &EffectId| {
            pending.iter().any(|effect| match effect {
                Effect::Abort { effect, .. } => effect == id,
                effect => effect.id() == Some(id),
            })
        };
        let dropped: Vec<EffectId> = self.under_way.keys().filter(|id| !is_wanted(id)).cloned().collect();
        for id in dropped {
            if let Some(effect) = self.under_way.remove(&id) {
                self.close_abandoned(&id, &effect, at_ms);
            }
        }
    }

    fn say(&mut self, line: LogLine) {
        self.told.push(line.into());
    }

    fn count(&mut self, metric: Metric) {
        self.told.push(metric.into());
    }

    fn module(&self) -> Cow<'static, str> {
        self.module.into()
    }

    /// Something happened in the span of the run.
    fn happen(&mut self, event: SpanEvent) {
        if let Some(root) = &mut self.root {
            root.events.push(event);
        }
    }

    /// Something happened in the span of a step.
    fn happen_in(&mut self, owner: &str, event: SpanEvent) {
        if let Some(span) = self.steps.get_mut(owner).and_then(|step| step.span.as_mut()) {
            span.events.push(event);
        }
    }

    /// Tells of a span that is over.
    fn close<const N: usize>(
        &mut self,
        span: OpenSpan,
        kind: SpanKind,
        (entry, values): (&Entry<N>, [Datum; N]),
        status: SpanStatus,
        at_ms: i64,
    ) {
        let parent = match kind {
            _ if span.key == ROOT => None,
            SpanKind::Internal if entry.name() == spans::TURN.name() => Some(ROOT.to_owned()),
            SpanKind::Internal => Some(self.above_steps()),
            SpanKind::Client => Some(self.above_effect(&span.key)),
        };
        let parent = parent.map(|key| self.context.span(&key));
        self.told.push(Signal::Span(Box::new(Span {
            trace: self.context.trace(),
            id: self.context.span(&span.key),
            parent_is_remote: parent.is_none() && self.context.parent().is_some() && !self.context.is_nested(),
            parent: parent.or(self.context.parent()),
            name: entry.name(),
            kind,
            start_ms: span.start_ms,
            end_ms: at_ms.max(span.start_ms),
            attributes: entry.with(values).into_iter().filter(is_told).collect(),
            events: span.events,
            status,
        })));
    }

    /// The step that wants an effect.
    fn step_of<'a>(&self, run: &'a Run, owner: &str) -> Option<Glance<'a>> {
        let id = owner.strip_prefix(self.prefix.as_str())?;
        run.glances().find(|step| step.id().as_str() == id)
    }

    /// The span that steps are in: that of the turn, or of the run.
    fn above_steps(&self) -> String {
        self.turn.as_ref().map_or_else(|| ROOT.to_owned(), |(_, span)| span.key.clone())
    }

    /// The span that an effect is in: that of its step, of its turn, or of the run.
    fn above_effect(&self, effect: &str) -> String {
        let is_of_step = !matches!(effect.rsplit('/').nth(1), Some("ask" | "select"));
        let owner = owner(effect);
        if is_of_step && self.steps.contains_key(owner) { step_key(owner) } else { self.above_steps() }
    }
}

impl OpenSpan {
    fn new(key: impl Into<String>, start_ms: i64) -> Self {
        Self { key: key.into(), start_ms, events: Vec::new() }
    }
}

/// All attributes are told but `error.type`, which for everybody means that there was an error.
fn is_told((name, value): &(&'static str, Datum)) -> bool {
    *name != "error.type" || *value != Datum::from("")
}

/// Who wants an effect: its name without rung and number.
fn owner(effect: &str) -> &str {
    effect.rsplitn(3, '/').nth(2).unwrap_or(effect)
}

/// What the names of the calls of a turn begin with.
fn prefix(run: &Run) -> String {
    match run.started().run.as_str().rsplit_once("/turn-") {
        Some((_, turn)) => format!("turn-{turn}/"),
        None => String::new(),
    }
}

/// The number at the end of an effect's name.
fn ordinal(effect: &EffectId) -> u32 {
    effect.ordinal()
}

/// The key of a step's span: no step can be called like an effect or like the run.
fn step_key(owner: &str) -> String {
    format!("step {owner}")
}

fn temperature(request: &Request) -> f64 {
    request.temperature.map_or(-1.0, |temperature| f64::from(temperature.hundredths()) / 100.0)
}

fn since(start_ms: i64, end_ms: i64) -> u64 {
    u64::try_from(end_ms.saturating_sub(start_ms)).unwrap_or(0)
}
