//! Traces and metrics to an OpenTelemetry collector.
//!
//! The machine's own spans are handed to the exporter as they are, with their times and names: there is no second tracer
//! that would make its own. Sending is done by threads of the exporter. So nothing here waits, but for [`Otlp::flush`].
//! What does not arrive is counted, and told at the end.

mod convert;
mod losses;
mod settings;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use opentelemetry::KeyValue;
use opentelemetry::metrics::{Counter, Histogram, Meter, MeterProvider as _};
use opentelemetry_otlp::{MetricExporter, SpanExporter, WithExportConfig as _, WithHttpConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkError;
use opentelemetry_sdk::metrics::SdkMeterProvider;
use opentelemetry_sdk::trace::{BatchConfigBuilder, BatchSpanProcessor, SpanProcessor};
use reknit_engine::telemetry::{Kind, Metric, Signal, table};

use losses::{Losses, Noted};
use reknit_protocol::shown_urls;
pub use settings::{Destination, OtlpSettings, SettingsError};

use super::{Sink, Told};

/// How long the last delivery of all may take, unless the environment gives every one more time.
pub const FLUSH: Duration = Duration::from_secs(5);

/// How many spans may wait for their delivery. A run of the largest plan has fewer.
const QUEUE: usize = 65_536;

/// Bounds of what is measured in milliseconds: from a tool nearby to a model that thinks for long.
const MS: [f64; 16] = [
    5.0, 10.0, 25.0, 50.0, 100.0, 250.0, 500.0, 1_000.0, 2_500.0, 5_000.0, 10_000.0, 30_000.0, 60_000.0, 120_000.0,
    300_000.0, 600_000.0,
];
/// Bounds of what is counted in turns and attempts.
const TURNS: [f64; 9] = [1.0, 2.0, 3.0, 4.0, 5.0, 7.0, 10.0, 15.0, 20.0];

/// Sends traces and metrics to a collector.
#[derive(Debug)]
pub struct Otlp {
    spans: Option<Spans>,
    metrics: Option<Meters>,
    limit: Duration,
}

#[derive(Debug)]
struct Spans {
    processor: BatchSpanProcessor,
    losses: Arc<Losses>,
}

#[derive(Debug)]
struct Meters {
    provider: SdkMeterProvider,
    losses: Arc<Losses>,
    meter: Meter,
    known: Mutex<HashMap<&'static str, Instrument>>,
}

#[derive(Debug, Clone)]
enum Instrument {
    Counter(Counter<u64>),
    Histogram(Histogram<u64>),
}

/// Why nothing can be sent. Only its words are kept, without what may be secret in an address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("telemetry cannot be sent: {0}")]
pub struct OtlpError(String);

/// What was not delivered, where to, and why.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("telemetry was not delivered: {0}")]
pub struct FlushError(String);

impl From<opentelemetry_otlp::ExporterBuildError> for OtlpError {
    fn from(error: opentelemetry_otlp::ExporterBuildError) -> Self {
        Self(shown_urls(&error.to_string()))
    }
}

impl Otlp {
    /// Makes ready to send. Nothing is sent yet, and nobody is asked whether the collector is there.
    pub fn new(settings: &OtlpSettings) -> Result<Self, OtlpError> {
        // Another part of the process may have chosen a provider before; any will do.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let resource = resource(settings);
        let spans = settings.traces.as_ref().map(|to| Spans::new(to, &resource)).transpose()?;
        let metrics = settings.metrics.as_ref().map(|to| Meters::new(to, resource)).transpose()?;
        let limits = settings.traces.iter().chain(&settings.metrics).map(|to| to.limit);
        Ok(Self { spans, metrics, limit: limits.fold(FLUSH, Duration::max) })
    }

    /// Whether spans are sent.
    pub fn sends_spans(&self) -> bool {
        self.spans.is_some()
    }

    /// Delivers what has not been delivered, in a bounded time, and says whether anything was lost until now. To be called
    /// where nothing else must go on: it blocks.
    pub fn flush(&self) -> Result<(), FlushError> {
        self.flush_spans();
        self.flush_metrics();
        self.outcome()
    }

    /// The same, beside whatever else goes on, and given up after [`FLUSH`] or what the environment allows.
    pub async fn deliver(self: Arc<Self>) -> Result<(), FlushError> {
        let (told, mut heard) = tokio::sync::mpsc::channel::<()>(1);
        for flush in [Self::flush_spans, Self::flush_metrics] {
            // Threads that nobody waits for: at the end of a process they end with it.
            let (collector, told) = (Arc::clone(&self), told.clone());
            let thread = std::thread::Builder::new().name("telemetry".to_owned()).spawn(move || {
                flush(&collector);
                drop(told);
            });
            thread.map_err(|error| FlushError(error.to_string()))?;
        }
        drop(told);
        // What has not arrived when the time is over counts as lost.
        let _ = tokio::time::timeout(self.limit, heard.recv()).await;
        self.outcome()
    }

    fn flush_spans(&self) {
        let Some(spans) = &self.spans else { return };
        let until = Instant::now() + self.limit;
        // It gives up after five seconds, also where one delivery may take longer.
        while matches!(spans.processor.force_flush(), Err(OTelSdkError::Timeout(_))) && Instant::now() < until {}
    }

    fn flush_metrics(&self) {
        // What comes of it is counted.
        let _ = self.metrics.as_ref().map(|meters| meters.provider.force_flush());
    }

    /// Whether everything arrived that was ever told.
    fn outcome(&self) -> Result<(), FlushError> {
        let losses =
            self.spans.iter().map(|spans| &spans.losses).chain(self.metrics.iter().map(|meters| &meters.losses));
        let lost: Vec<String> = losses.filter(|losses| !losses.is_none()).map(ToString::to_string).collect();
        if lost.is_empty() { Ok(()) } else { Err(FlushError(lost.join("; "))) }
    }
}

fn resource(settings: &OtlpSettings) -> Resource {
    let mut resource = Resource::builder().with_attribute(KeyValue::new(
        // Every process counts from zero: without it, their series would be one that jumps.
        "service.instance.id",
        uuid::Uuid::now_v7().to_string(),
    ));
    if let Some(name) = settings.service {
        resource = resource
            .with_service_name(name)
            .with_attribute(KeyValue::new("service.version", env!("CARGO_PKG_VERSION")));
    }
    resource.build()
}

impl Spans {
    fn new(to: &Destination, resource: &Resource) -> Result<Self, OtlpError> {
        let exporter = SpanExporter::builder()
            .with_http()
            .with_timeout(to.limit)
            .with_retry_policy(opentelemetry_otlp::RetryPolicy::disabled())
            .build()?;
        let losses = Losses::new("spans", &to.address);
        let config = BatchConfigBuilder::default().with_max_queue_size(QUEUE).build();
        let mut processor = BatchSpanProcessor::new(Noted::new(exporter, &losses), config);
        processor.set_resource(resource);
        Ok(Self { processor, losses })
    }
}

impl Meters {
    fn new(to: &Destination, resource: Resource) -> Result<Self, OtlpError> {
        let exporter = MetricExporter::builder()
            .with_http()
            .with_timeout(to.limit)
            .with_retry_policy(opentelemetry_otlp::RetryPolicy::disabled())
            .build()?;
        let losses = Losses::new("deliveries of metrics", &to.address);
        let exporter = Noted::new(exporter, &losses);
        let provider = SdkMeterProvider::builder().with_periodic_exporter(exporter).with_resource(resource).build();
        let meter = provider.meter_with_scope(convert::scope());
        Ok(Self { provider, losses, meter, known: Mutex::default() })
    }

    fn record(&self, metric: &Metric) {
        let labels: Vec<KeyValue> =
            metric.labels.iter().map(|(name, value)| KeyValue::new(*name, value.to_string())).collect();
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        match known.entry(metric.name).or_insert_with(|| self.instrument(metric)) {
            Instrument::Counter(counter) => counter.add(metric.value, &labels),
            Instrument::Histogram(histogram) => histogram.record(metric.value, &labels),
        }
    }

    /// Without a unit: the name has it, and collectors would write it there once more.
    fn instrument(&self, metric: &Metric) -> Instrument {
        let words = table().iter().find(|name| name.name == metric.name).map_or("", |name| name.words);
        match metric.kind {
            Kind::Histogram => {
                let bounds = if metric.name.ends_with("_ms") { MS.to_vec() } else { TURNS.to_vec() };
                let histogram = self.meter.u64_histogram(metric.name).with_description(words);
                Instrument::Histogram(histogram.with_boundaries(bounds).build())
            }
            Kind::Counter | Kind::Span | Kind::SpanEvent | Kind::Log(..) => {
                Instrument::Counter(self.meter.u64_counter(metric.name).with_description(words).build())
            }
        }
    }
}

impl Sink for Otlp {
    fn take(&self, told: &Told<'_>) {
        for signal in told.signals {
            match (signal, &self.spans, &self.metrics) {
                (Signal::Span(span), Some(spans), _) if told.context.is_sampled() => {
                    spans.losses.tell(1);
                    spans.processor.on_end(convert::span(span));
                }
                (Signal::Metric(metric), _, Some(meters)) => meters.record(metric),
                _ => {}
            }
        }
    }
}
