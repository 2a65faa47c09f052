//! The names of metrics in Prometheus, and the table of signals for docs/telemetry.md.
//!
//! Metrics are exported without a unit: with one, collectors would append it to names that already end with it, as in
//! `..._ms_milliseconds`.

use std::fmt::Write as _;

use crate::table::table;
use crate::table_entry::{SignalKind, TableEntry};

/// The name of a metric in Prometheus: dots become underscores, and a counter ends with `_total`.
pub fn prometheus_name(name: &str, kind: SignalKind) -> String {
    let plain: String = name.chars().map(|c| if c.is_ascii_alphanumeric() || c == ':' { c } else { '_' }).collect();
    match kind {
        SignalKind::Counter if !plain.ends_with("_total") => format!("{plain}_total"),
        _ => plain,
    }
}

/// The Prometheus series of a metric; empty for other kinds of signal.
pub fn prometheus_series(name: &str, kind: SignalKind) -> Vec<String> {
    let base = prometheus_name(name, kind);
    match kind {
        SignalKind::Counter => vec![base],
        SignalKind::Histogram => ["_bucket", "_sum", "_count"].iter().map(|suffix| format!("{base}{suffix}")).collect(),
        SignalKind::Span | SignalKind::SpanEvent | SignalKind::Log(..) => Vec::new(),
    }
}

/// Bucket boundaries of durations in milliseconds: from a local tool to a model with long reasoning.
const DURATION_BUCKETS: &[u64] =
    &[5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000, 120_000, 300_000, 600_000];
/// Bucket boundaries of numbers of turns and attempts.
const COUNT_BUCKETS: &[u64] = &[1, 2, 3, 4, 5, 7, 10, 15, 20];

pub fn histogram_buckets(name: &str) -> &'static [u64] {
    if name.ends_with("_ms") { DURATION_BUCKETS } else { COUNT_BUCKETS }
}

/// The Markdown tables of docs/telemetry.md: spans, span events, metrics and log lines.
pub fn markdown_tables() -> String {
    let mut page = String::new();
    write_table(&mut page, "Spans", "attributes", |kind| kind == SignalKind::Span);
    write_table(&mut page, "Span events", "attributes", |kind| kind == SignalKind::SpanEvent);
    write_table(&mut page, "Metrics", "labels", |kind| matches!(kind, SignalKind::Counter | SignalKind::Histogram));
    write_table(&mut page, "Log lines", "fields", |kind| matches!(kind, SignalKind::Log(..)));
    page
}

fn write_table(page: &mut String, title: &str, keys: &str, is_listed: impl Fn(SignalKind) -> bool) {
    let entries: Vec<TableEntry> = table().into_iter().filter(|entry| is_listed(entry.kind)).collect();
    let first = match entries.first().map(|entry| entry.kind) {
        Some(SignalKind::Counter | SignalKind::Histogram) => "name | in Prometheus",
        Some(SignalKind::Log(..)) => "message begins with | severity, source",
        _ => "name",
    };
    let columns = first.matches('|').count() + 3;
    // Writing to a string cannot fail.
    let _ = writeln!(page, "## {title}\n\n| {first} | {keys} | description |\n|{}", "---|".repeat(columns));
    for entry in entries {
        let keys: Vec<String> = entry.keys.iter().map(|key| format!("`{key}`")).collect();
        let second = match entry.kind {
            SignalKind::Counter => format!(" `{}` |", prometheus_name(entry.name, entry.kind)),
            SignalKind::Histogram => {
                format!(" `{}_bucket` (and `_sum`, `_count`) |", prometheus_name(entry.name, entry.kind))
            }
            SignalKind::Log(severity, source) => format!(" {}, `{source}` |", severity.as_str()),
            SignalKind::Span | SignalKind::SpanEvent => String::new(),
        };
        let _ = writeln!(page, "| `{}` |{second} {} | {} |", entry.name.trim_end(), keys.join(", "), entry.description);
    }
    page.push('\n');
}
