//! Telemetry of runs and sessions: spans, span events, metrics and log lines, mapped from decision records.
//!
//! ```text
//!   machine.apply(event) -> records -> Tracer::observe(time, records) -> signals -> collector, log
//! ```
//!
//! ```
//! use reknit_engine::{Metadata, Record, RecordKind, RunRecord};
//! use reknit_telemetry::{TraceContext, Tracer};
//!
//! let mut tracer = Tracer::new(TraceContext::new(&"run-1".into(), None));
//! let started =
//!     RunRecord::Started { request: "What does tea cost?".to_owned(), has_plan: false, metadata: Metadata::default() };
//! let signals = tracer.observe(1_000, &[Record { scope: Vec::new(), kind: RecordKind::Run(started) }]);
//! assert!(!signals.is_empty());
//! ```
//!
//! [`table`] lists all names: no signal has a name or an attribute that is not in it.
//!
//! - **No signal is produced twice.** A process that resumes a run lets a tracer observe the records of the stored events
//!   and discards its signals. So no metric counts twice, and no line is logged twice.
//! - **A span is reported when it ends**, with its times, attributes and events. If a process dies, the process that sees
//!   the end of a span reports it, from its real beginning. A call or question that was in progress starts again, and so
//!   does its span.
//! - **Span ids follow from the run's first event** ([`TraceContext`]), so spans that two processes report belong together,
//!   and a tool can be sent the id of the span that calls it before that span has ended.
//! - **Labels have closed sets of values**, or those of the catalogue (`agent`, `capability`): no step ids, no text.
//! - **Texts are truncated and redacted** before they leave.
//!
//! Where to go next: [`Tracer`] maps records to [`Signal`]s, [`interactions`] lists the questions to models of a run.

mod attribute_value;
mod compat;
mod context;
mod interaction;
mod prometheus;
mod redact;
mod signal;
mod table;
mod table_entry;
mod tracer;

pub use attribute_value::AttributeValue;
pub use context::TraceContext;
pub use interaction::{Interaction, interactions, owner_interactions};
pub use prometheus::{histogram_buckets, markdown_tables, prometheus_name, prometheus_series};
pub use redact::redact_object;
pub use signal::{LogLine, Metric, Signal, Span, SpanEvent, SpanKind, SpanStatus};
pub use table::table;
pub use table_entry::{Severity, SignalKind, TableEntry};
pub use tracer::{ModelIdentities, ModelIdentity, Tracer};
