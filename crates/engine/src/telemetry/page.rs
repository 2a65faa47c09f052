//! The table as a page for people.

use std::fmt::Write as _;

use super::entry::{Kind, Name};
use super::prometheus::prometheus_name;
use super::table::table;

/// The lists of the page about telemetry, in Markdown.
pub fn page() -> String {
    let mut page = String::new();
    let is_log = |kind: Kind| matches!(kind, Kind::Log(..));
    list(&mut page, "Spans", "attributes", |kind| kind == Kind::Span);
    list(&mut page, "Span events", "attributes", |kind| kind == Kind::SpanEvent);
    list(&mut page, "Metrics", "labels", |kind| matches!(kind, Kind::Counter | Kind::Histogram));
    list(&mut page, "Log lines", "fields", is_log);
    page
}

fn list(page: &mut String, title: &str, keys: &str, belongs: impl Fn(Kind) -> bool) {
    let names: Vec<Name> = table().into_iter().filter(|name| belongs(name.kind)).collect();
    let first = match names.first().map(|name| name.kind) {
        Some(Kind::Counter | Kind::Histogram) => "name | in Prometheus",
        Some(Kind::Log(..)) => "opens with | severity, source",
        _ => "name",
    };
    let columns = first.matches('|').count() + 3;
    // Writing to a string cannot fail.
    let _ = writeln!(page, "## {title}\n\n| {first} | {keys} | when |\n|{}", "---|".repeat(columns));
    for name in names {
        let keys: Vec<String> = name.keys.iter().map(|key| format!("`{key}`")).collect();
        let second = match name.kind {
            Kind::Counter => format!(" `{}` |", prometheus_name(name.name, name.kind)),
            Kind::Histogram => format!(" `{}_bucket` (and `_sum`, `_count`) |", prometheus_name(name.name, name.kind)),
            Kind::Log(severity, source) => format!(" {}, `{source}` |", severity.as_str()),
            Kind::Span | Kind::SpanEvent => String::new(),
        };
        let _ = writeln!(page, "| `{}` |{second} {} | {} |", name.name.trim_end(), keys.join(", "), name.words);
    }
    page.push('\n');
}
