//! One row of the table of signals.

use reknit_protocol::word_enum;

/// A signal of the table: its name, its attributes and when it is produced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TableEntry {
    pub kind: SignalKind,
    /// The name; for a log line, the beginning of its message.
    pub name: &'static str,
    /// The keys of the attributes, labels or fields that the signal always has.
    pub keys: &'static [&'static str],
    /// When the signal is produced, or what a metric counts.
    pub description: &'static str,
}

/// The kind of a signal in the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SignalKind {
    /// A span: work with a start and an end.
    Span,
    /// An event of a span: something that happened at one moment.
    SpanEvent,
    /// A metric that only grows.
    Counter,
    /// A metric that records the distribution of measurements.
    Histogram,
    /// A log line, with its severity and its source.
    Log(Severity, &'static str),
}

word_enum! {
    /// The severity of a log line, with its abbreviation.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum Severity {
        Error = "ERR",
        /// A failure that is being handled.
        Warning = "WRN",
        /// The end of a run or session.
        Final = "FIN",
        /// A notable event of normal operation.
        Info = "INF",
        /// A detail of normal operation.
        Verbose = "VRB",
    }
}
