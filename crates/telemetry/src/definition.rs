//! The definition of one signal: its name and the keys of its attributes.

use std::borrow::Cow;

use crate::attribute_value::{AttributeValue, MAX_ERROR};
use crate::signal::{LogLine, Metric, SpanEvent};
use crate::table_entry::{Severity, SignalKind, TableEntry};

/// Defines a signal with `N` attributes. `N` makes the compiler check that a signal has a value for each of them.
#[derive(Debug)]
pub(crate) struct Definition<const N: usize> {
    pub(crate) entry: TableEntry,
}

/// The number of attributes, for the type of a definition.
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
        let message = format!("{}{}", self.entry.name, AttributeValue::excerpt(rest, MAX_ERROR));
        LogLine { severity, source, name: self.entry.name, message, fields: self.attributes(values) }
    }
}
