//! What is told.

use std::borrow::Cow;

use serde::Serialize;

use super::datum::Datum;
use super::entry::{Kind, Severity};
use super::trace::{SpanId, TraceId};

/// One thing that is told.
#[derive(Debug, Clone, PartialEq)]
pub enum Signal {
    /// Something took time, and is over.
    Span(Box<Span>),
    /// Something is counted or measured.
    Metric(Metric),
    /// A line for the log.
    Log(LogLine),
}

impl Signal {
    /// The names of the table that it uses, those of the events in a span included.
    pub fn names(&self) -> Vec<&'static str> {
        match self {
            Self::Span(span) => [span.name].into_iter().chain(span.events.iter().map(|event| event.name)).collect(),
            Self::Metric(metric) => vec![metric.name],
            Self::Log(line) => vec![line.name],
        }
    }
}

impl From<Metric> for Signal {
    fn from(metric: Metric) -> Self {
        Self::Metric(metric)
    }
}

impl From<LogLine> for Signal {
    fn from(line: LogLine) -> Self {
        Self::Log(line)
    }
}

/// Something that took time.
#[derive(Debug, Clone, PartialEq)]
pub struct Span {
    /// The trace that it belongs to.
    pub trace: TraceId,
    /// Its own name in the trace.
    pub id: SpanId,
    /// The span that it is a part of.
    pub parent: Option<SpanId>,
    /// Whether that one was told by somebody else.
    pub parent_is_remote: bool,
    /// What it is called.
    pub name: &'static str,
    /// Whether it is work of ours or waits for others.
    pub kind: SpanKind,
    /// When it began, in milliseconds since 1970.
    pub start_ms: i64,
    /// When it ended.
    pub end_ms: i64,
    /// What is known about it.
    pub attributes: Vec<(&'static str, Datum)>,
    /// What happened in it.
    pub events: Vec<SpanEvent>,
    /// How it ended.
    pub status: SpanStatus,
}

/// Whose work a span is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpanKind {
    /// Ours.
    Internal,
    /// Somebody's who was asked.
    Client,
}

/// How a span ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SpanStatus {
    /// Well.
    Ok,
    /// Badly, in words.
    Error(String),
}

/// Something that happened in a span.
#[derive(Debug, Clone, PartialEq)]
pub struct SpanEvent {
    /// What.
    pub name: &'static str,
    /// When, in milliseconds since 1970.
    pub at_ms: i64,
    /// What is known about it.
    pub attributes: Vec<(&'static str, Datum)>,
}

/// A number to count or to measure.
#[derive(Debug, Clone, PartialEq)]
pub struct Metric {
    /// Its name.
    pub name: &'static str,
    /// How it adds up.
    pub kind: Kind,
    /// Its labels, each from a closed set.
    pub labels: Vec<(&'static str, Cow<'static, str>)>,
    /// By how much, or how much.
    pub value: u64,
}

/// A line for the log.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LogLine {
    /// How bad it is.
    pub severity: Severity,
    /// Who says it: `agent:retry`.
    pub source: &'static str,
    /// The words it opens with, under which it stands in the table.
    #[serde(skip)]
    pub name: &'static str,
    /// What is said.
    pub message: String,
    /// What is known about it.
    pub fields: Vec<(&'static str, Datum)>,
}
