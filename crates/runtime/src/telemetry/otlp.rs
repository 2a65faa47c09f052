//! Exports traces and metrics to an OpenTelemetry collector.
//!
//! The exporter receives finished spans with their own ids and times; no tracer of the SDK is involved. Threads of the
//! exporter send them, so only [`Otlp::flush`] and [`Otlp::deliver`] wait. Losses are counted and reported at the end.

mod convert;
mod losses;
mod settings;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use opentelemetry::KeyValue;
use opentelemetry::metrics::{Counter, Histogram, Meter, MeterProvider as _};
use opentelemetry_otlp::{MetricExporter, SpanExporter, WithExportConfig as _, WithHttpConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkError;
use opentelemetry_sdk::metrics::SdkMeterProvider;
use opentelemetry_sdk::trace::{BatchConfigBuilder, BatchSpanProcessor, SpanProcessor};
use parking_lot::Mutex;
use reknit_protocol::redact_urls;
use reknit_telemetry::{Metric, Signal, SignalKind, histogram_buckets, table};

use super::{SignalBatch, Sink};
use losses::{CountingExporter, Losses};
pub use settings::{Destination, OtlpSettings, SettingsError};

/// The timeout of the last delivery, unless the environment sets a longer timeout for each delivery.
pub const FLUSH: Duration = Duration::from_secs(5);

/// The most spans that wait for delivery. A run of the largest plan has fewer.
const QUEUE: usize = 65_536;

/// A sink that exports traces and metrics to a collector.
#[derive(Debug)]
pub struct Otlp {
    spans: Option<SpanPipeline>,
    metrics: Option<MetricPipeline>,
    limit: Duration,
}

#[derive(Debug)]
struct SpanPipeline {
    processor: BatchSpanProcessor,
    losses: Arc<Losses>,
}

#[derive(Debug)]
struct MetricPipeline {
    provider: SdkMeterProvider,
    losses: Arc<Losses>,
    meter: Meter,
    instruments: Mutex<HashMap<&'static str, Instrument>>,
}

#[derive(Debug, Clone)]
enum Instrument {
    Counter(Counter<u64>),
    Histogram(Histogram<u64>),
}

/// Why the exporter could not be set up. It keeps only the message, with URLs redacted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("cannot set up the telemetry exporter: {0}")]
pub struct OtlpError(String);

/// Why the export that the environment describes cannot start.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EnvironmentError {
    #[error(transparent)]
    Settings(#[from] SettingsError),
    #[error(transparent)]
    Start(#[from] OtlpError),
}

/// Which signals were not delivered, to which address, and why.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("telemetry was not delivered: {0}")]
pub struct FlushError(String);

impl From<opentelemetry_otlp::ExporterBuildError> for OtlpError {
    fn from(error: opentelemetry_otlp::ExporterBuildError) -> Self {
        Self(redact_urls(&error.to_string()))
    }
}

impl Otlp {
    /// Sets up the exporters. Sends nothing yet, so it does not fail if the collector cannot be reached.
    pub fn new(settings: &OtlpSettings) -> Result<Self, OtlpError> {
        // This fails if the process has installed another provider before, which is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let resource = resource(settings);
        let spans = settings.traces.as_ref().map(|to| SpanPipeline::new(to, &resource)).transpose()?;
        let metrics = settings.metrics.as_ref().map(|to| MetricPipeline::new(to, resource)).transpose()?;
        let limits = settings.traces.iter().chain(&settings.metrics).map(|to| to.limit);
        Ok(Self { spans, metrics, limit: limits.fold(FLUSH, Duration::max) })
    }

    /// Sets up the export to the collector of the standard variables, such as `OTEL_EXPORTER_OTLP_ENDPOINT`. Returns `None`
    /// if they set none, or disable the export. Headers and compression are those of the environment of the process.
    pub fn from_environment(
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Option<Arc<Self>>, EnvironmentError> {
        let settings = OtlpSettings::from_environment(environment)?;
        Ok(settings.as_ref().map(Self::new).transpose()?.map(Arc::new))
    }

    pub fn sends_spans(&self) -> bool {
        self.spans.is_some()
    }

    /// Delivers pending signals within the timeout. Fails if any signal was lost since the start. Blocks the thread.
    pub fn flush(&self) -> Result<(), FlushError> {
        self.flush_spans();
        self.flush_metrics();
        self.outcome()
    }

    /// Like [`flush`](Self::flush), but does not block the thread. Gives up after [`FLUSH`] or the timeout of the environment.
    pub async fn deliver(self: Arc<Self>) -> Result<(), FlushError> {
        let (done, mut all_done) = tokio::sync::mpsc::channel::<()>(1);
        for flush in [Self::flush_spans, Self::flush_metrics] {
            // These threads are not joined: they end with the process.
            let (exporter, done) = (Arc::clone(&self), done.clone());
            let thread = std::thread::Builder::new().name("telemetry".to_owned()).spawn(move || {
                flush(&exporter);
                drop(done);
            });
            thread.map_err(|error| FlushError(error.to_string()))?;
        }
        drop(done);
        // Signals that were not delivered in time count as lost.
        let _ = tokio::time::timeout(self.limit, all_done.recv()).await;
        self.outcome()
    }

    fn flush_spans(&self) {
        let Some(spans) = &self.spans else { return };
        let until = Instant::now() + self.limit;
        // The processor gives up after five seconds, even if the timeout of a delivery is longer.
        while matches!(spans.processor.force_flush(), Err(OTelSdkError::Timeout(_))) && Instant::now() < until {}
    }

    fn flush_metrics(&self) {
        // `Losses` counts the outcome.
        let _ = self.metrics.as_ref().map(|metrics| metrics.provider.force_flush());
    }

    /// Fails if any signal was lost since the start.
    fn outcome(&self) -> Result<(), FlushError> {
        let losses =
            self.spans.iter().map(|spans| &spans.losses).chain(self.metrics.iter().map(|metrics| &metrics.losses));
        let lost: Vec<String> = losses.filter(|losses| !losses.is_empty()).map(ToString::to_string).collect();
        if lost.is_empty() { Ok(()) } else { Err(FlushError(lost.join("; "))) }
    }
}

fn resource(settings: &OtlpSettings) -> Resource {
    let mut resource = Resource::builder().with_attribute(KeyValue::new(
        // Each process counts from zero: without this attribute, the series of several processes would be mixed.
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

impl SpanPipeline {
    fn new(to: &Destination, resource: &Resource) -> Result<Self, OtlpError> {
        let exporter = SpanExporter::builder()
            .with_http()
            .with_endpoint(to.endpoint.0.as_str())
            .with_timeout(to.limit)
            .with_retry_policy(opentelemetry_otlp::RetryPolicy::disabled())
            .build()?;
        let losses = Losses::new("spans", &to.address);
        let config = BatchConfigBuilder::default().with_max_queue_size(QUEUE).build();
        let mut processor = BatchSpanProcessor::new(CountingExporter::new(exporter, &losses), config);
        processor.set_resource(resource);
        Ok(Self { processor, losses })
    }
}

impl MetricPipeline {
    fn new(to: &Destination, resource: Resource) -> Result<Self, OtlpError> {
        let exporter = MetricExporter::builder()
            .with_http()
            .with_endpoint(to.endpoint.0.as_str())
            .with_timeout(to.limit)
            .with_retry_policy(opentelemetry_otlp::RetryPolicy::disabled())
            .build()?;
        let losses = Losses::new("metric deliveries", &to.address);
        let exporter = CountingExporter::new(exporter, &losses);
        let provider = SdkMeterProvider::builder().with_periodic_exporter(exporter).with_resource(resource).build();
        let meter = provider.meter_with_scope(convert::scope());
        Ok(Self { provider, losses, meter, instruments: Mutex::default() })
    }

    fn record(&self, metric: &Metric) {
        let labels: Vec<KeyValue> =
            metric.labels.iter().map(|(name, value)| KeyValue::new(*name, value.to_string())).collect();
        let mut instruments = self.instruments.lock();
        match instruments.entry(metric.name).or_insert_with(|| self.instrument(metric)) {
            Instrument::Counter(counter) => counter.add(metric.value, &labels),
            Instrument::Histogram(histogram) => histogram.record(metric.value, &labels),
        }
    }

    /// Creates the instrument of a metric, without a unit: collectors would append it to a name that already has it.
    fn instrument(&self, metric: &Metric) -> Instrument {
        let description = table().iter().find(|entry| entry.name == metric.name).map_or("", |entry| entry.description);
        match metric.kind {
            SignalKind::Histogram => {
                #[expect(clippy::cast_precision_loss, reason = "the boundaries are small")]
                let bounds = histogram_buckets(metric.name).iter().map(|bound| *bound as f64).collect();
                let histogram = self.meter.u64_histogram(metric.name).with_description(description);
                Instrument::Histogram(histogram.with_boundaries(bounds).build())
            }
            SignalKind::Counter | SignalKind::Span | SignalKind::SpanEvent | SignalKind::Log(..) => {
                Instrument::Counter(self.meter.u64_counter(metric.name).with_description(description).build())
            }
        }
    }
}

impl Sink for Otlp {
    fn take(&self, batch: &SignalBatch<'_>) {
        for signal in batch.signals {
            match (signal, &self.spans, &self.metrics) {
                (Signal::Span(span), Some(spans), _) if batch.context.is_sampled() => {
                    spans.losses.add_sent(1);
                    spans.processor.on_end(convert::span(span));
                }
                (Signal::Metric(metric), _, Some(metrics)) => metrics.record(metric),
                _ => {}
            }
        }
    }
}
