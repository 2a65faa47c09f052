//! Keeps the metrics of all runs of this process in the text format of Prometheus.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use parking_lot::Mutex;
use reknit_telemetry::{Metric, Signal, SignalKind, histogram_buckets, prometheus_name, table};

use super::{SignalBatch, Sink};

/// The most series that are kept. Labels have closed sets of values or those of the catalogue, so only a broken tool could exceed it.
const MAX_SERIES: usize = 50_000;

/// A sink that keeps metrics until Prometheus asks for them.
///
/// ```
/// use reknit_runtime::telemetry::prometheus::PrometheusMetrics;
///
/// let metrics = PrometheusMetrics::default();
/// metrics.count("reknit_gateway_requests_total", "Requests.", &[("status", "200")], 1);
/// assert!(metrics.render().contains("reknit_gateway_requests_total{status=\"200\"} 1\n"));
/// ```
#[derive(Debug, Default)]
pub struct PrometheusMetrics {
    families: Mutex<BTreeMap<String, MetricFamily>>,
}

/// The series of one name.
#[derive(Debug)]
struct MetricFamily {
    help: String,
    series: BTreeMap<String, MetricSeries>,
}

#[derive(Debug)]
enum MetricSeries {
    Counter(u64),
    Histogram { buckets: &'static [u64], counts: Vec<u64>, sum: u64, count: u64 },
}

impl PrometheusMetrics {
    /// Adds to a counter of the program, beside those of runs. Its name ends with `_total`.
    pub fn count(&self, name: &str, help: &str, labels: &[(&str, &str)], value: u64) {
        self.add(name, || help.to_owned(), &label_text(labels.iter().copied()), value, None);
    }

    pub fn render(&self) -> String {
        let mut text = String::new();
        for (name, family) in self.families.lock().iter() {
            let kind = match family.series.values().next() {
                Some(MetricSeries::Histogram { .. }) => "histogram",
                _ => "counter",
            };
            if !family.help.is_empty() {
                let _ = writeln!(text, "# HELP {name} {}", family.help.replace('\\', r"\\").replace('\n', r"\n"));
            }
            let _ = writeln!(text, "# TYPE {name} {kind}");
            for (labels, series) in &family.series {
                write_series(&mut text, name, labels, series);
            }
        }
        text
    }

    fn add_metric(&self, metric: &Metric) {
        let name = prometheus_name(metric.name, metric.kind);
        let labels = label_text(metric.labels.iter().map(|(key, value)| (*key, value.as_ref())));
        let buckets = (metric.kind == SignalKind::Histogram).then(|| histogram_buckets(metric.name));
        let help = || {
            let entries = table();
            let entry = entries.iter().find(|entry| entry.name == metric.name);
            entry.map_or_else(String::new, |entry| entry.description.to_owned())
        };
        self.add(&name, help, &labels, metric.value, buckets);
    }

    fn add(
        &self,
        name: &str,
        help: impl FnOnce() -> String,
        labels: &str,
        value: u64,
        buckets: Option<&'static [u64]>,
    ) {
        let mut families = self.families.lock();
        if !families.contains_key(name) {
            families.insert(name.to_owned(), MetricFamily { help: help(), series: BTreeMap::new() });
        }
        let Some(family) = families.get_mut(name) else { return };
        if !family.series.contains_key(labels) {
            if family.series.len() >= MAX_SERIES {
                return;
            }
            let series = match buckets {
                None => MetricSeries::Counter(0),
                Some(buckets) => MetricSeries::Histogram { buckets, counts: vec![0; buckets.len()], sum: 0, count: 0 },
            };
            family.series.insert(labels.to_owned(), series);
        }
        match family.series.get_mut(labels) {
            Some(MetricSeries::Counter(total)) => *total = total.saturating_add(value),
            Some(MetricSeries::Histogram { buckets, counts, sum, count }) => {
                for (bound, bucket) in buckets.iter().zip(counts) {
                    *bucket += u64::from(value <= *bound);
                }
                *sum = sum.saturating_add(value);
                *count += 1;
            }
            None => {}
        }
    }
}

impl Sink for PrometheusMetrics {
    fn take(&self, batch: &SignalBatch<'_>) {
        for signal in batch.signals {
            if let Signal::Metric(metric) = signal {
                self.add_metric(metric);
            }
        }
    }

    fn reads_spans(&self) -> bool {
        false
    }
}

/// `key="value",...`, with what the format escapes.
fn label_text<'a>(labels: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let escaped = |value: &str| value.replace('\\', r"\\").replace('"', r#"\""#).replace('\n', r"\n");
    labels.map(|(key, value)| format!("{key}=\"{}\"", escaped(value))).collect::<Vec<_>>().join(",")
}

fn write_series(text: &mut String, name: &str, labels: &str, series: &MetricSeries) {
    let braces = |labels: &str| if labels.is_empty() { String::new() } else { format!("{{{labels}}}") };
    match series {
        MetricSeries::Counter(total) => {
            let _ = writeln!(text, "{name}{} {total}", braces(labels));
        }
        MetricSeries::Histogram { buckets, counts, sum, count } => {
            let comma = if labels.is_empty() { "" } else { "," };
            for (bound, bucket) in buckets.iter().zip(counts) {
                let _ = writeln!(text, "{name}_bucket{{{labels}{comma}le=\"{bound}\"}} {bucket}");
            }
            let _ = writeln!(text, "{name}_bucket{{{labels}{comma}le=\"+Inf\"}} {count}");
            let _ = writeln!(text, "{name}_sum{} {sum}", braces(labels));
            let _ = writeln!(text, "{name}_count{} {count}", braces(labels));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::*;

    #[test]
    fn counters_and_histograms_are_written_as_prometheus_reads_them() {
        let metrics = PrometheusMetrics::default();
        let metric =
            |name, kind, value| Metric { name, kind, labels: vec![("agent", Cow::Borrowed("a\"b\nc"))], value };
        metrics.add_metric(&metric("orchestration.type_coercion.applied", SignalKind::Counter, 2));
        metrics.add_metric(&metric("orchestration.type_coercion.applied", SignalKind::Counter, 1));
        for value in [3, 700, 10_000_000] {
            metrics.add_metric(&metric("plan_generation.duration_ms", SignalKind::Histogram, value));
        }
        let text = metrics.render();
        let lines: Vec<&str> = text
            .lines()
            .filter(|line| !line.contains("le=\"") || line.contains("1000") || line.contains("+Inf"))
            .collect();
        insta::assert_snapshot!(lines.join("\n"), @r#"
        # HELP orchestration_type_coercion_applied_total steps whose parameters were coerced to the schema
        # TYPE orchestration_type_coercion_applied_total counter
        orchestration_type_coercion_applied_total{agent="a\"b\nc"} 3
        # HELP plan_generation_duration_ms duration of generating a plan, including retries
        # TYPE plan_generation_duration_ms histogram
        plan_generation_duration_ms_bucket{agent="a\"b\nc",le="1000"} 2
        plan_generation_duration_ms_bucket{agent="a\"b\nc",le="10000"} 2
        plan_generation_duration_ms_bucket{agent="a\"b\nc",le="+Inf"} 3
        plan_generation_duration_ms_sum{agent="a\"b\nc"} 10000703
        plan_generation_duration_ms_count{agent="a\"b\nc"} 3
        "#);
    }
}
