//! What a machine tells those who watch many of them: spans, span events, metrics and lines for the log.
//!
//! ```text
//!   Tracer::observe(machine after the event, what is pending, the event) -> signals
//! ```
//!
//! [`table`] is the one list of names: nothing is told under a name, or with an attribute, that is not in it. The rest
//! follows from events and states alone, so whoever drives a machine only passes it on.
//!
//! - **Nothing twice.** Who takes a run over lets a tracer observe the events that were written before, and throws away
//!   what it says. So no metric counts twice, and no line is written twice.
//! - **Spans are told when they end**, whole: with their times, attributes and events. A span that was open when its process
//!   died was told by nobody; it is told by the process that sees its end, from its real beginning. A call or a question
//!   that was under way just then begins again, and so does its span.
//! - **Names of spans follow from the run's first event**: see [`TraceContext`]. So spans that two processes told belong
//!   together, and a tool can be told which span calls it before that span has ended.
//! - **Labels have closed sets of values**, or those of the catalogue (`agent`, `capability`). No step, no text.
//! - **Texts are cut and redacted** before they leave.

mod datum;
mod entry;
mod page;
mod prometheus;
pub(crate) mod redact;
mod signal;
pub(crate) mod table;
mod trace;
mod tracer;

pub use datum::Datum;
pub use entry::{Kind, Name, Severity};
pub use page::page;
pub use prometheus::{prometheus_name, prometheus_series};
pub use signal::{LogLine, Metric, Signal, Span, SpanEvent, SpanKind, SpanStatus};
pub use table::table;
pub use trace::{SpanId, TraceContext, TraceId, TraceParent, TraceParentError};
pub use tracer::Tracer;
