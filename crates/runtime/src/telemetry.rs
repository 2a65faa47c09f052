//! Delivers the signals of runs to sinks and to the log.
//!
//! The signals follow from the events ([`reknit_telemetry`]). They are delivered after the events are committed. The driver
//! never waits for a delivery, so a run does not stop because its telemetry cannot be delivered.
//!
//! Spans and metrics go to sinks such as `otlp::Otlp`. Log lines go to sinks, too, and always to the `tracing` subscriber
//! of the program ([`log`]).

pub mod log;
#[cfg(feature = "otlp")]
pub mod otlp;
pub mod prometheus;

use std::io::Write as _;
use std::sync::Arc;

use reknit_config::Config;
use reknit_engine::{Effect, Machine, Record, TraceParent};
use reknit_telemetry::{ModelIdentities, Signal, TraceContext, Tracer};
use tracing::level_filters::LevelFilter;

use self::log::Log;
#[cfg(feature = "otlp")]
use self::otlp::Otlp;

/// Receives signals. It must return at once: a sink that uses the network sends from a thread of its own.
pub trait Sink: Send + Sync + std::fmt::Debug {
    /// Receives the signals of one event.
    fn take(&self, batch: &SignalBatch<'_>);

    /// Whether it reads spans and log entries. Without such a sink, the texts in them are left out.
    fn reads_spans(&self) -> bool {
        true
    }
}

/// The signals of one event.
#[derive(Debug, Clone, Copy)]
pub struct SignalBatch<'a> {
    /// The time of the event, in milliseconds since 1970.
    pub at_ms: i64,
    pub context: &'a TraceContext,
    pub signals: &'a [Signal],
}

/// What tools receive as `traceparent`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Propagation {
    /// The span of the call.
    Sent,
    /// The parent of the run, if it has one. For runs whose spans are not exported.
    #[default]
    PassedOn,
}

/// The sinks of a driver, and the trace that its runs belong to.
#[derive(Debug, Clone, Default)]
pub struct Telemetry {
    sinks: Vec<Arc<dyn Sink>>,
    parent: Option<TraceParent>,
    propagation: Propagation,
    models: Arc<ModelIdentities>,
}

impl Telemetry {
    /// Telemetry without sinks.
    pub fn none() -> Self {
        Self::default()
    }

    /// The log of a configuration, if its level is not `off`.
    pub(crate) fn configured(config: &Config) -> Self {
        let log = match (config.log.level, config.log_writer()) {
            (LevelFilter::OFF, _) => return Self::none(),
            (_, Some(write)) => Log::new(config.log, move |line| write(line)),
            // A run does not fail because its log cannot be written.
            (_, None) => Log::new(config.log, |line| drop(std::io::stderr().write_all(line.as_bytes()))),
        };
        Self::none().with(Arc::new(log))
    }

    #[must_use]
    pub fn with(mut self, sink: Arc<dyn Sink>) -> Self {
        self.sinks.push(sink);
        self
    }

    /// Sets the parent span of new runs, and what tools receive.
    #[must_use]
    pub fn tracing(mut self, parent: Option<TraceParent>, propagation: Propagation) -> Self {
        (self.parent, self.propagation) = (parent, propagation);
        self
    }

    /// Adds the export to a collector. Tools receive the span of the call if spans are exported.
    #[cfg(feature = "otlp")]
    #[must_use]
    pub fn with_collector(mut self, collector: &Arc<Otlp>) -> Self {
        if collector.sends_spans() {
            self.propagation = Propagation::Sent;
        }
        self.with(Arc::clone(collector) as _)
    }

    /// Sets the models that spans name for the targets. [`Runtime::driver`](crate::Runtime::driver) sets those of its
    /// configuration.
    #[must_use]
    pub fn with_models(self, models: Arc<ModelIdentities>) -> Self {
        Self { models, ..self }
    }

    pub(crate) fn models(&self) -> &Arc<ModelIdentities> {
        &self.models
    }

    pub(crate) fn parent(&self) -> Option<TraceParent> {
        self.parent
    }

    /// The reporter of a run; `None` if there are no sinks and the program has no `tracing` subscriber.
    pub(crate) fn reporter(&self, run: &Machine) -> Option<Box<TelemetryReporter>> {
        let is_logged = log::is_observed();
        if self.sinks.is_empty() && !is_logged {
            return None;
        }
        let tracer = Tracer::new(TraceContext::of(run)).with_models(Arc::clone(&self.models));
        let has_readers = is_logged || self.sinks.iter().any(|sink| sink.reads_spans());
        let tracer = if has_readers { tracer } else { tracer.without_texts() };
        Some(Box::new(TelemetryReporter { tracer, pending: Vec::new() }))
    }

    /// The `traceparent` header of a tool call; `None` for other effects.
    pub(crate) fn traceparent(&self, run: &Machine, effect: &Effect) -> Option<String> {
        match (effect, self.propagation) {
            (Effect::CallTool(call), Propagation::Sent) => {
                Some(TraceContext::of(run).traceparent(&call.id.to_string()))
            }
            (Effect::CallTool(_), Propagation::PassedOn) => run.trace_parent().map(|parent| parent.to_string()),
            _ => None,
        }
    }

    /// Delivers the signals that a reporter has collected.
    pub(crate) fn deliver(&self, reporter: Option<&mut TelemetryReporter>) {
        let Some(reporter) = reporter else { return };
        for (at_ms, signals) in std::mem::take(&mut reporter.pending) {
            let batch = SignalBatch { at_ms, context: reporter.tracer.context(), signals: &signals };
            log::emit(&batch);
            self.sinks.iter().for_each(|sink| sink.take(&batch));
        }
    }
}

/// Collects the signals of one run until the events that they follow from are committed.
#[derive(Debug, Clone)]
pub(crate) struct TelemetryReporter {
    tracer: Tracer,
    pending: Vec<(i64, Vec<Signal>)>,
}

impl TelemetryReporter {
    pub(crate) fn observe(&mut self, at_ms: i64, records: &[Record]) {
        let signals = self.tracer.observe(at_ms, records);
        if !signals.is_empty() {
            self.pending.push((at_ms, signals));
        }
    }

    /// Discards the signals of replayed events: the process that committed the events has delivered them.
    pub(crate) fn forget(&mut self) {
        self.pending.clear();
    }
}
