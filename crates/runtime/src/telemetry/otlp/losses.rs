//! Counts the signals that were sent and did not arrive.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::{OTelSdkError, OTelSdkResult};
use opentelemetry_sdk::metrics::Temporality;
use opentelemetry_sdk::metrics::data::ResourceMetrics;
use opentelemetry_sdk::metrics::exporter::PushMetricExporter;
use opentelemetry_sdk::trace::{SpanData, SpanExporter};
use parking_lot::Mutex;

/// Counts sent and delivered signals of one kind. The difference was lost, wherever it was lost.
#[derive(Debug)]
pub(super) struct Losses {
    /// The kind of signal, in the plural.
    kind: &'static str,
    address: String,
    sent: AtomicU64,
    delivered: AtomicU64,
    /// The reason of the last failed delivery.
    reason: Mutex<Option<String>>,
}

impl Losses {
    pub(super) fn new(kind: &'static str, address: &str) -> Arc<Self> {
        let (sent, delivered) = (AtomicU64::new(0), AtomicU64::new(0));
        Arc::new(Self { kind, address: address.to_owned(), sent, delivered, reason: Mutex::default() })
    }

    /// Counts signals that were handed to the exporter.
    pub(super) fn add_sent(&self, count: u64) {
        self.sent.fetch_add(count, Ordering::Relaxed);
    }

    /// Whether every signal was delivered so far.
    pub(super) fn is_empty(&self) -> bool {
        self.delivered.load(Ordering::Relaxed) >= self.sent.load(Ordering::Relaxed)
    }

    fn add_delivered(&self, count: u64) {
        self.delivered.fetch_add(count, Ordering::Relaxed);
    }

    fn set_reason(&self, error: &OTelSdkError) {
        let reason = match error {
            OTelSdkError::AlreadyShutdown => "the exporter was shut down".to_owned(),
            OTelSdkError::Timeout(limit) => format!("no response within {limit:?}"),
            OTelSdkError::InternalFailure(reason) => reason.clone(),
        };
        *self.reason.lock() = Some(reason);
    }
}

impl fmt::Display for Losses {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (sent, delivered) = (self.sent.load(Ordering::Relaxed), self.delivered.load(Ordering::Relaxed));
        let lost = sent.saturating_sub(delivered);
        let reason = self.reason.lock();
        let reason = reason.as_deref().unwrap_or("no response in time");
        write!(out, "{lost} of {sent} {} to {} ({reason})", self.kind, self.address)
    }
}

/// An exporter that counts delivered signals.
#[derive(Debug)]
pub(super) struct CountingExporter<E> {
    exporter: E,
    losses: Arc<Losses>,
}

impl<E> CountingExporter<E> {
    pub(super) fn new(exporter: E, losses: &Arc<Losses>) -> Self {
        Self { exporter, losses: Arc::clone(losses) }
    }
}

impl<E: SpanExporter> SpanExporter for CountingExporter<E> {
    /// Spans count as sent when the processor receives them, because it may drop some before this call.
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let count = u64::try_from(batch.len()).unwrap_or(u64::MAX);
        let outcome = self.exporter.export(batch).await;
        match &outcome {
            Ok(()) => self.losses.add_delivered(count),
            Err(error) => self.losses.set_reason(error),
        }
        outcome
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.exporter.shutdown_with_timeout(timeout)
    }

    fn shutdown(&self) -> OTelSdkResult {
        self.exporter.shutdown()
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.exporter.force_flush()
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.exporter.set_resource(resource);
    }
}

impl<E: PushMetricExporter> PushMetricExporter for CountingExporter<E> {
    async fn export(&self, metrics: &ResourceMetrics) -> OTelSdkResult {
        self.losses.add_sent(1);
        let outcome = self.exporter.export(metrics).await;
        match &outcome {
            // Cumulative metrics make up for every delivery that failed before.
            Ok(()) if self.exporter.temporality() == Temporality::Cumulative => {
                self.losses.delivered.store(self.losses.sent.load(Ordering::Relaxed), Ordering::Relaxed);
            }
            Ok(()) => self.losses.add_delivered(1),
            Err(error) => self.losses.set_reason(error),
        }
        outcome
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.exporter.force_flush()
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.exporter.shutdown_with_timeout(timeout)
    }

    fn shutdown(&self) -> OTelSdkResult {
        self.exporter.shutdown()
    }

    fn temporality(&self) -> Temporality {
        self.exporter.temporality()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fails on every other call.
    #[derive(Debug)]
    struct FlakyExporter {
        calls: AtomicU64,
        temporality: Temporality,
    }

    impl FlakyExporter {
        fn outcome(&self) -> OTelSdkResult {
            match self.calls.fetch_add(1, Ordering::Relaxed) % 2 {
                0 => Err(OTelSdkError::InternalFailure("connection refused".to_owned())),
                _ => Ok(()),
            }
        }
    }

    impl PushMetricExporter for FlakyExporter {
        async fn export(&self, _metrics: &ResourceMetrics) -> OTelSdkResult {
            self.outcome()
        }

        fn force_flush(&self) -> OTelSdkResult {
            Ok(())
        }

        fn shutdown_with_timeout(&self, _timeout: Duration) -> OTelSdkResult {
            Ok(())
        }

        fn temporality(&self) -> Temporality {
            self.temporality
        }
    }

    impl SpanExporter for FlakyExporter {
        async fn export(&self, _batch: Vec<SpanData>) -> OTelSdkResult {
            self.outcome()
        }
    }

    fn exporter(kind: &'static str, temporality: Temporality) -> (CountingExporter<FlakyExporter>, Arc<Losses>) {
        let losses = Losses::new(kind, "http://collector");
        (CountingExporter::new(FlakyExporter { calls: AtomicU64::new(0), temporality }, &losses), losses)
    }

    #[tokio::test]
    async fn spans_that_were_not_delivered_are_counted() {
        let (exporter, losses) = exporter("spans", Temporality::Cumulative);
        assert!(losses.is_empty());
        losses.add_sent(1);
        assert_eq!(losses.to_string(), "1 of 1 spans to http://collector (no response in time)");
        let span = super::super::convert::tests::any_span();
        for _ in 0..2 {
            losses.add_sent(2);
            let _ = SpanExporter::export(&exporter, vec![span.clone(), span.clone()]).await;
        }
        assert_eq!(losses.to_string(), "3 of 5 spans to http://collector (connection refused)");
        assert!(!losses.is_empty());
    }

    #[tokio::test]
    async fn a_delivery_of_cumulative_metrics_makes_up_for_failed_ones() {
        for (temporality, lost) in [(Temporality::Cumulative, 0), (Temporality::Delta, 1)] {
            let (exporter, losses) = exporter("metric deliveries", temporality);
            let metrics = ResourceMetrics::default();
            let _ = PushMetricExporter::export(&exporter, &metrics).await;
            assert_eq!(losses.to_string(), "1 of 1 metric deliveries to http://collector (connection refused)");
            let _ = PushMetricExporter::export(&exporter, &metrics).await;
            assert_eq!(losses.is_empty(), lost == 0, "{losses}");
        }
    }
}
