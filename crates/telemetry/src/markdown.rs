//! The table of signals as Markdown, for docs/telemetry.md.

use std::fmt::Write as _;

use crate::prometheus::prometheus_name;
use crate::table::table;
use crate::table_entry::{SignalKind, TableEntry};

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
