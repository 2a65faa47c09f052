//! The names of metrics in Prometheus.
//!
//! Metrics are exported without a unit: with one, collectors would append it to names that already end with it, as in
//! `..._ms_milliseconds`.

use crate::table_entry::SignalKind;

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

/// The boundaries of the buckets of a histogram.
pub fn histogram_buckets(name: &str) -> &'static [u64] {
    if name.ends_with("_ms") { DURATION_BUCKETS } else { COUNT_BUCKETS }
}
