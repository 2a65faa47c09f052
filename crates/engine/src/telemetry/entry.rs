//! One line of the table: a name, and what always comes with it.

use std::borrow::Cow;

use serde::Serialize;

use super::datum::{Datum, ERROR};
use super::signal::{LogLine, Metric, SpanEvent};

/// What a name is the name of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Something that takes time.
    Span,
    /// Something that happens in a span.
    SpanEvent,
    /// A number that only grows.
    Counter,
    /// How often which amount was seen.
    Histogram,
    /// A line for the log, by the words it opens with.
    Log(Severity, &'static str),
}

/// How bad something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub enum Severity {
    /// It went wrong for good.
    #[serde(rename = "ERR")]
    Error,
    /// It was wrong, and is being dealt with.
    #[serde(rename = "WRN")]
    Warning,
    /// It is over.
    #[serde(rename = "FIN")]
    Final,
    /// It went as it should, and somebody may want to know.
    #[serde(rename = "INF")]
    Info,
    /// All is well.
    #[serde(rename = "VRB")]
    Verbose,
}

impl Severity {
    /// Three letters.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Error => "ERR",
            Self::Warning => "WRN",
            Self::Final => "FIN",
            Self::Info => "INF",
            Self::Verbose => "VRB",
        }
    }
}

/// A name of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Name {
    /// What it names.
    pub kind: Kind,
    /// The name.
    pub name: &'static str,
    /// The attributes, labels or fields that always come with it.
    pub keys: &'static [&'static str],
    /// What a number is counted in; empty for a mere count.
    pub unit: &'static str,
    /// When it is told.
    pub words: &'static str,
}

/// A name with as many attributes as it has, so that none can be left out.
#[derive(Debug)]
pub(crate) struct Entry<const N: usize> {
    kind: Kind,
    name: &'static str,
    keys: [&'static str; N],
    unit: &'static str,
    words: &'static str,
}

impl<const N: usize> Entry<N> {
    pub(crate) const fn span(name: &'static str, keys: [&'static str; N], words: &'static str) -> Self {
        Self { kind: Kind::Span, name, keys, unit: "", words }
    }

    pub(crate) const fn event(name: &'static str, keys: [&'static str; N], words: &'static str) -> Self {
        Self { kind: Kind::SpanEvent, name, keys, unit: "", words }
    }

    pub(crate) const fn counter(name: &'static str, keys: [&'static str; N], words: &'static str) -> Self {
        Self { kind: Kind::Counter, name, keys, unit: "", words }
    }

    pub(crate) const fn histogram(
        name: &'static str,
        keys: [&'static str; N],
        unit: &'static str,
        words: &'static str,
    ) -> Self {
        Self { kind: Kind::Histogram, name, keys, unit, words }
    }

    pub(crate) const fn log(
        (severity, source): (Severity, &'static str),
        name: &'static str,
        keys: [&'static str; N],
        words: &'static str,
    ) -> Self {
        Self { kind: Kind::Log(severity, source), name, keys, unit: "", words }
    }

    pub(crate) const fn listed(&'static self) -> Name {
        Name { kind: self.kind, name: self.name, keys: &self.keys, unit: self.unit, words: self.words }
    }

    pub(crate) const fn name(&self) -> &'static str {
        self.name
    }

    /// The attributes with their values.
    pub(crate) fn with<T>(&self, values: [T; N]) -> Vec<(&'static str, T)> {
        self.keys.into_iter().zip(values).collect()
    }

    /// That it happened in a span.
    pub(crate) fn at(&self, at_ms: i64, values: [Datum; N]) -> SpanEvent {
        SpanEvent { name: self.name, at_ms, attributes: self.with(values) }
    }

    /// By how much it grew, or how much was seen.
    pub(crate) fn amount(&self, amount: u64, labels: [Cow<'static, str>; N]) -> Metric {
        Metric { name: self.name, kind: self.kind, labels: self.with(labels), value: amount }
    }

    /// The line, with what follows on its opening words: redacted, and cut to a length, for others may have written it.
    pub(crate) fn line(&self, rest: &str, values: [Datum; N]) -> LogLine {
        let (severity, source) = match self.kind {
            Kind::Log(severity, source) => (severity, source),
            // The table is checked by a test: only lines are asked for lines.
            Kind::Span | Kind::SpanEvent | Kind::Counter | Kind::Histogram => (Severity::Verbose, ""),
        };
        let message = format!("{}{}", self.name, Datum::words(rest, ERROR));
        LogLine { severity, source, name: self.name, message, fields: self.with(values) }
    }
}
