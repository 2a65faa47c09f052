//! How Prometheus spells a name.
//!
//! Metrics are sent without a unit, for their names say it: with one, collectors would make `..._ms_milliseconds` of them.

use super::entry::Kind;

/// The name of a metric as Prometheus has it: dots are underscores, and what is counted ends with `_total`, once.
pub fn prometheus_name(name: &str, kind: Kind) -> String {
    let plain: String = name.chars().map(|c| if c.is_ascii_alphanumeric() || c == ':' { c } else { '_' }).collect();
    match kind {
        Kind::Counter if !plain.ends_with("_total") => format!("{plain}_total"),
        _ => plain,
    }
}

/// The series that a metric has there; none for what is no metric.
pub fn prometheus_series(name: &str, kind: Kind) -> Vec<String> {
    let spelled = prometheus_name(name, kind);
    match kind {
        Kind::Counter => vec![spelled],
        Kind::Histogram => ["_bucket", "_sum", "_count"].iter().map(|part| format!("{spelled}{part}")).collect(),
        Kind::Span | Kind::SpanEvent | Kind::Log(..) => Vec::new(),
    }
}
