//! Passes on what is told about runs: to a collector, to a log, to whoever wants it.
//!
//! What is told follows from the events ([`reknit_engine::telemetry`]). It is passed on once the events are committed, and
//! never waited for: a run does not stop because nobody can be told of it.

pub mod log;
pub mod otlp;

use std::sync::Arc;

use reknit_engine::telemetry::{Signal, TraceContext, TraceParent, Tracer};
use reknit_engine::{Effect, Event, Machine};
use reknit_journal::Record;

use crate::record::{RestoreError, from_row};

/// Takes what is told. It must return at once: whoever sends something over the network does so elsewhere.
pub trait Sink: Send + Sync + std::fmt::Debug {
    /// Takes what is told about one event.
    fn take(&self, told: &Told<'_>);
}

const _: fn(&dyn Sink) = |_| {};

/// What is told about one event.
#[derive(Debug, Clone, Copy)]
pub struct Told<'a> {
    /// When it happened, in milliseconds since 1970.
    pub at_ms: i64,
    /// Which run, and how its spans are called.
    pub context: &'a TraceContext,
    /// What is told.
    pub signals: &'a [Signal],
}

/// What tools are sent as `traceparent`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Propagation {
    /// The span that calls them.
    Sent,
    /// The span that the run is a part of, if there is one: nobody records those of the run.
    #[default]
    PassedOn,
}

/// Who is told about runs.
#[derive(Debug, Clone, Default)]
pub struct Telemetry {
    sinks: Vec<Arc<dyn Sink>>,
    parent: Option<TraceParent>,
    propagation: Propagation,
}

impl Telemetry {
    /// Nobody is told.
    pub fn none() -> Self {
        Self::default()
    }

    /// One more is told.
    #[must_use]
    pub fn with(mut self, sink: Arc<dyn Sink>) -> Self {
        self.sinks.push(sink);
        self
    }

    /// Runs that begin are a part of somebody's trace, and so are those of tools.
    #[must_use]
    pub fn tracing(mut self, parent: Option<TraceParent>, propagation: Propagation) -> Self {
        (self.parent, self.propagation) = (parent, propagation);
        self
    }

    /// The span that runs are a part of that begin now.
    pub(crate) fn parent(&self) -> Option<TraceParent> {
        self.parent
    }

    /// Whoever tells of a run; nobody if there is nobody to tell.
    pub(crate) fn teller(&self, run: &Machine) -> Option<Teller> {
        (!self.sinks.is_empty()).then(|| Teller::new(TraceContext::of(run)))
    }

    /// What a tool is sent, if the effect is a call.
    pub(crate) fn traceparent(&self, run: &Machine, effect: &Effect) -> Option<String> {
        match (effect, self.propagation) {
            (Effect::CallTool(call), Propagation::Sent) => {
                Some(TraceContext::of(run).traceparent(&call.id.to_string()))
            }
            (Effect::CallTool(_), Propagation::PassedOn) => run.trace_parent().map(|parent| parent.to_string()),
            _ => None,
        }
    }

    /// Passes on what a teller has to tell.
    pub(crate) fn pass_on(&self, teller: Option<&mut Teller>) {
        let Some(teller) = teller else { return };
        for (at_ms, signals) in std::mem::take(&mut teller.told) {
            let told = Told { at_ms, context: teller.tracer.context(), signals: &signals };
            self.sinks.iter().for_each(|sink| sink.take(&told));
        }
    }
}

/// Tells of one run: what follows from an event is kept until the event is committed.
#[derive(Debug, Clone)]
pub(crate) struct Teller {
    tracer: Tracer,
    told: Vec<(i64, Vec<Signal>)>,
}

impl Teller {
    fn new(context: TraceContext) -> Self {
        Self { tracer: Tracer::new(context), told: Vec::new() }
    }

    pub(crate) fn observe(&mut self, machine: &Machine, pending: &[Effect], event: &Event) {
        let signals = self.tracer.observe(machine, pending, event);
        if !signals.is_empty() {
            self.told.push((event.at_ms, signals));
        }
    }

    /// What was read back was told by whoever wrote it.
    pub(crate) fn forget(&mut self) {
        self.told.clear();
    }

    /// A teller that has seen these events, and told nothing of them.
    pub(crate) fn after(mut self, records: &[Record]) -> Result<Self, RestoreError> {
        let mut machine: Option<Machine> = None;
        for record in records {
            let event = from_row(record)?;
            let refused = |source| RestoreError::Refused { seq: record.seq, source };
            let machine = match &mut machine {
                None => machine.insert(Machine::begin(&event).map_err(refused)?),
                Some(machine) => {
                    machine.apply(&event).map_err(refused)?;
                    machine
                }
            };
            self.observe(machine, &machine.pending(), &event);
        }
        self.forget();
        Ok(self)
    }
}
