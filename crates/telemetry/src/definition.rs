//! The definition of one signal: its name and the keys of its attributes.

use std::borrow::Cow;

use crate::attribute_value::{AttributeValue, MAX_ERROR};
use crate::signal::{LogLine, Metric, SpanEvent};
use crate::table_entry::{Severity, SignalKind, TableEntry};

/// Defines a signal with `N` attributes. `N` makes the compiler check that a signal has a value for each of them.
#[derive(Debug)]
pub(crate) struct Definition<const N: usize> {
    kind: SignalKind,
    name: &'static str,
    keys: [&'static str; N],
    unit: &'static str,
    description: &'static str,
}

impl<const N: usize> Definition<N> {
    pub(crate) const fn span(name: &'static str, keys: [&'static str; N], description: &'static str) -> Self {
        Self { kind: SignalKind::Span, name, keys, unit: "", description }
    }

    pub(crate) const fn event(name: &'static str, keys: [&'static str; N], description: &'static str) -> Self {
        Self { kind: SignalKind::SpanEvent, name, keys, unit: "", description }
    }

    pub(crate) const fn counter(name: &'static str, keys: [&'static str; N], description: &'static str) -> Self {
        Self { kind: SignalKind::Counter, name, keys, unit: "", description }
    }

    pub(crate) const fn histogram(
        name: &'static str,
        keys: [&'static str; N],
        unit: &'static str,
        description: &'static str,
    ) -> Self {
        Self { kind: SignalKind::Histogram, name, keys, unit, description }
    }

    pub(crate) const fn log(
        (severity, source): (Severity, &'static str),
        name: &'static str,
        keys: [&'static str; N],
        description: &'static str,
    ) -> Self {
        Self { kind: SignalKind::Log(severity, source), name, keys, unit: "", description }
    }

    /// The row of the table.
    pub(crate) const fn entry(&'static self) -> TableEntry {
        TableEntry {
            kind: self.kind,
            name: self.name,
            keys: &self.keys,
            unit: self.unit,
            description: self.description,
        }
    }

    pub(crate) const fn name(&self) -> &'static str {
        self.name
    }

    /// Pairs the keys with their values.
    pub(crate) fn attributes<T>(&self, values: [T; N]) -> Vec<(&'static str, T)> {
        self.keys.into_iter().zip(values).collect()
    }

    /// An event of a span.
    pub(crate) fn event_at(&self, at_ms: i64, values: [AttributeValue; N]) -> SpanEvent {
        SpanEvent { name: self.name, at_ms, attributes: self.attributes(values) }
    }

    /// A metric: the increment of a counter, or one measurement of a histogram.
    pub(crate) fn metric(&self, value: u64, labels: [Cow<'static, str>; N]) -> Metric {
        Metric { name: self.name, kind: self.kind, labels: self.attributes(labels), value }
    }

    /// A log line whose message is the name followed by `rest`. `rest` is redacted and truncated, because it may contain
    /// text of a provider or a tool.
    pub(crate) fn log_line(&self, rest: &str, values: [AttributeValue; N]) -> LogLine {
        let (severity, source) = match self.kind {
            SignalKind::Log(severity, source) => (severity, source),
            // Unreachable: tests produce a signal for each definition of the table, and check its kind.
            SignalKind::Span | SignalKind::SpanEvent | SignalKind::Counter | SignalKind::Histogram => {
                (Severity::Verbose, "")
            }
        };
        let message = format!("{}{}", self.name, AttributeValue::excerpt(rest, MAX_ERROR));
        LogLine { severity, source, name: self.name, message, fields: self.attributes(values) }
    }
}
