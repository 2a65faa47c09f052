//! Signals: spans, metrics and log lines, and their definitions.

use std::borrow::Cow;

use reknit_engine::{SpanId, TraceId};

use crate::attribute_value::AttributeValue;
use crate::table_entry::{Severity, SignalKind, TableEntry};

/// One piece of telemetry.
#[derive(Debug, Clone, PartialEq)]
pub enum Signal {
    Span(Box<Span>),
    /// An increment of a counter, or a measurement.
    Metric(Metric),
    Log(LogLine),
}

impl Signal {
    /// The names of the table that the signal uses, including those of a span's events.
    pub fn names(&self) -> Vec<&'static str> {
        match self {
            Self::Span(span) => [span.name].into_iter().chain(span.events.iter().map(|event| event.name)).collect(),
            Self::Metric(metric) => vec![metric.name],
            Self::Log(line) => vec![line.name],
        }
    }
}

/// A span that has ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Span {
    pub trace: TraceId,
    pub id: SpanId,
    pub parent: Option<SpanId>,
    pub parent_is_remote: bool,
    pub name: &'static str,
    /// Whether the span is work of this process or a request to another one.
    pub kind: SpanKind,
    /// The start, in milliseconds since 1970.
    pub start_ms: i64,
    /// The end, in milliseconds since 1970.
    pub end_ms: i64,
    /// The attributes, in the order of the table.
    pub attributes: Vec<(&'static str, AttributeValue)>,
    /// More attributes: the metadata of the request, on the span of a run or session. A key begins with `reknit.meta.`.
    pub metadata: Vec<(String, AttributeValue)>,
    /// The events, in the order of time.
    pub events: Vec<SpanEvent>,
    pub status: SpanStatus,
}

/// The relation of a span to other processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpanKind {
    Internal,
    /// A request to a tool or a model.
    Client,
}

/// Whether the work of a span succeeded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SpanStatus {
    Ok,
    Error(String),
}

/// An event of a span.
#[derive(Debug, Clone, PartialEq)]
pub struct SpanEvent {
    pub name: &'static str,
    /// The time, in milliseconds since 1970.
    pub at_ms: i64,
    /// The attributes, in the order of the table.
    pub attributes: Vec<(&'static str, AttributeValue)>,
}

/// An increment of a counter, or one measurement of a histogram.
#[derive(Debug, Clone, PartialEq)]
pub struct Metric {
    pub name: &'static str,
    /// [`SignalKind::Counter`] or [`SignalKind::Histogram`].
    pub kind: SignalKind,
    /// The labels. Each has a closed set of values, or those of the catalogue.
    pub labels: Vec<(&'static str, Cow<'static, str>)>,
    pub value: u64,
}

/// A log line.
#[derive(Debug, Clone, PartialEq)]
pub struct LogLine {
    pub severity: Severity,
    /// The component that logs the line, such as `agent:retry`.
    pub source: &'static str,
    /// The beginning of the message, which is the name in the table.
    pub name: &'static str,
    pub message: String,
    /// The fields, in the order of the table.
    pub fields: Vec<(&'static str, AttributeValue)>,
}

/// Defines a signal with `N` attributes. `N` makes the compiler check that a signal has a value for each of them.
#[derive(Debug)]
pub(crate) struct Definition<const N: usize> {
    pub(crate) entry: TableEntry,
}

pub(crate) const fn count<const N: usize>(_: &[&str; N]) -> usize {
    N
}

impl<const N: usize> Definition<N> {
    /// `description` is the text of a doc comment, which begins with a blank.
    pub(crate) const fn new(
        kind: SignalKind,
        name: &'static str,
        keys: &'static [&'static str; N],
        description: &'static str,
    ) -> Self {
        Self { entry: TableEntry { kind, name, keys, description: description.trim_ascii_start() } }
    }

    pub(crate) fn attributes<T>(&self, values: [T; N]) -> Vec<(&'static str, T)> {
        self.entry.keys.iter().copied().zip(values).collect()
    }

    pub(crate) fn event_at(&self, at_ms: i64, values: [AttributeValue; N]) -> SpanEvent {
        SpanEvent { name: self.entry.name, at_ms, attributes: self.attributes(values) }
    }

    /// A metric: the increment of a counter, or one measurement of a histogram.
    pub(crate) fn metric(&self, value: u64, labels: [Cow<'static, str>; N]) -> Metric {
        Metric { name: self.entry.name, kind: self.entry.kind, labels: self.attributes(labels), value }
    }

    /// A log line whose message is the name and `rest`, which is redacted and truncated: it may be text of a provider or a tool.
    pub(crate) fn log_line(&self, rest: &str, values: [AttributeValue; N]) -> LogLine {
        let (severity, source) = match self.entry.kind {
            SignalKind::Log(severity, source) => (severity, source),
            // Unreachable: tests produce a signal for each definition of the table, and check its kind.
            SignalKind::Span | SignalKind::SpanEvent | SignalKind::Counter | SignalKind::Histogram => {
                (Severity::Verbose, "")
            }
        };
        let message = format!("{}{}", self.entry.name, AttributeValue::error(rest));
        LogLine { severity, source, name: self.entry.name, message, fields: self.attributes(values) }
    }
}
