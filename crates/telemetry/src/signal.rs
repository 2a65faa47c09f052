//! Signals: spans, metrics and log lines.

use std::borrow::Cow;

use reknit_engine::{SpanId, TraceId};

use crate::attribute_value::AttributeValue;
use crate::table_entry::{Severity, SignalKind};

/// One piece of telemetry.
#[derive(Debug, Clone, PartialEq)]
pub enum Signal {
    /// A span that has ended.
    Span(Box<Span>),
    /// An increment of a counter, or a measurement.
    Metric(Metric),
    /// A log line.
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
    /// The trace that contains the span.
    pub trace: TraceId,
    /// The id of the span.
    pub id: SpanId,
    /// The span that contains this one.
    pub parent: Option<SpanId>,
    /// Whether another program reports the parent.
    pub parent_is_remote: bool,
    /// The name.
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
    /// Whether the work succeeded.
    pub status: SpanStatus,
}

/// The relation of a span to other processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpanKind {
    /// Work of this process.
    Internal,
    /// A request to a tool or a model.
    Client,
}

/// Whether the work of a span succeeded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SpanStatus {
    /// It succeeded.
    Ok,
    /// It failed with this message.
    Error(String),
}

/// An event of a span.
#[derive(Debug, Clone, PartialEq)]
pub struct SpanEvent {
    /// The name.
    pub name: &'static str,
    /// The time, in milliseconds since 1970.
    pub at_ms: i64,
    /// The attributes, in the order of the table.
    pub attributes: Vec<(&'static str, AttributeValue)>,
}

/// An increment of a counter, or one measurement of a histogram.
#[derive(Debug, Clone, PartialEq)]
pub struct Metric {
    /// The name.
    pub name: &'static str,
    /// [`SignalKind::Counter`] or [`SignalKind::Histogram`].
    pub kind: SignalKind,
    /// The labels. Each has a closed set of values, or those of the catalogue.
    pub labels: Vec<(&'static str, Cow<'static, str>)>,
    /// The increment or the measurement.
    pub value: u64,
}

/// A log line.
#[derive(Debug, Clone, PartialEq)]
pub struct LogLine {
    /// The severity.
    pub severity: Severity,
    /// The component that logs the line, such as `agent:retry`.
    pub source: &'static str,
    /// The beginning of the message, which is the name in the table.
    pub name: &'static str,
    /// The message.
    pub message: String,
    /// The fields, in the order of the table.
    pub fields: Vec<(&'static str, AttributeValue)>,
}
