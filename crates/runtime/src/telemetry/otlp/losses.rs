//! What was told and did not arrive.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::{OTelSdkError, OTelSdkResult};
use opentelemetry_sdk::metrics::Temporality;
use opentelemetry_sdk::metrics::data::ResourceMetrics;
use opentelemetry_sdk::metrics::exporter::PushMetricExporter;
use opentelemetry_sdk::trace::{SpanData, SpanExporter};

/// Counts what was told and what arrived of it: whatever happens to the rest on its way, it is the difference.
#[derive(Debug)]
pub(super) struct Losses {
    what: &'static str,
    address: String,
    told: AtomicU64,
    arrived: AtomicU64,
    /// Why something did not arrive, as it was last heard.
    reason: Mutex<Option<String>>,
}

impl Losses {
    pub(super) fn new(what: &'static str, address: &str) -> Arc<Self> {
        let (told, arrived) = (AtomicU64::new(0), AtomicU64::new(0));
        Arc::new(Self { what, address: address.to_owned(), told, arrived, reason: Mutex::default() })
    }

    /// So many are on their way.
    pub(super) fn tell(&self, count: u64) {
        self.told.fetch_add(count, Ordering::Relaxed);
    }

    /// Whether everything arrived so far.
    pub(super) fn is_none(&self) -> bool {
        self.arrived.load(Ordering::Relaxed) >= self.told.load(Ordering::Relaxed)
    }

    fn arrive(&self, count: u64) {
        self.arrived.fetch_add(count, Ordering::Relaxed);
    }

    fn fail(&self, error: &OTelSdkError) {
        let words = match error {
            OTelSdkError::AlreadyShutdown => "the exporter has ended".to_owned(),
            OTelSdkError::Timeout(limit) => format!("no answer within {limit:?}"),
            OTelSdkError::InternalFailure(reason) => reason.clone(),
        };
        *self.reason.lock().unwrap_or_else(PoisonError::into_inner) = Some(words);
    }
}

impl fmt::Display for Losses {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (told, arrived) = (self.told.load(Ordering::Relaxed), self.arrived.load(Ordering::Relaxed));
        let missing = told.saturating_sub(arrived);
        let reason = self.reason.lock().unwrap_or_else(PoisonError::into_inner);
        let reason = reason.as_deref().unwrap_or("no answer in time");
        write!(out, "{missing} of {told} {} to {} ({reason})", self.what, self.address)
    }
}

/// An exporter that notes what arrives.
#[derive(Debug)]
pub(super) struct Noted<E> {
    exporter: E,
    losses: Arc<Losses>,
}

impl<E> Noted<E> {
    pub(super) fn new(exporter: E, losses: &Arc<Losses>) -> Self {
        Self { exporter, losses: Arc::clone(losses) }
    }
}

impl<E: SpanExporter> SpanExporter for Noted<E> {
    /// They count as told when they are handed over: some may never come here.
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let count = u64::try_from(batch.len()).unwrap_or(u64::MAX);
        let outcome = self.exporter.export(batch).await;
        match &outcome {
            Ok(()) => self.losses.arrive(count),
            Err(error) => self.losses.fail(error),
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

impl<E: PushMetricExporter> PushMetricExporter for Noted<E> {
    async fn export(&self, metrics: &ResourceMetrics) -> OTelSdkResult {
        self.losses.tell(1);
        let outcome = self.exporter.export(metrics).await;
        match &outcome {
            // Numbers that add up make good for every delivery before them.
            Ok(()) if self.exporter.temporality() == Temporality::Cumulative => {
                self.losses.arrived.store(self.losses.told.load(Ordering::Relaxed), Ordering::Relaxed);
            }
            Ok(()) => self.losses.arrive(1),
            Err(error) => self.losses.fail(error),
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

    /// Works only every other time.
    #[derive(Debug)]
    struct Moody {
        calls: AtomicU64,
        temporality: Temporality,
    }

    impl Moody {
        fn outcome(&self) -> OTelSdkResult {
            match self.calls.fetch_add(1, Ordering::Relaxed) % 2 {
                0 => Err(OTelSdkError::InternalFailure("nobody listens".to_owned())),
                _ => Ok(()),
            }
        }
    }

    impl PushMetricExporter for Moody {
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

    impl SpanExporter for Moody {
        async fn export(&self, _batch: Vec<SpanData>) -> OTelSdkResult {
            self.outcome()
        }
    }

    fn noted(what: &'static str, temporality: Temporality) -> (Noted<Moody>, Arc<Losses>) {
        let losses = Losses::new(what, "http://here");
        (Noted::new(Moody { calls: AtomicU64::new(0), temporality }, &losses), losses)
    }

    #[tokio::test]
    async fn spans_that_did_not_arrive_are_counted_whatever_became_of_them() {
        let (exporter, losses) = noted("spans", Temporality::Cumulative);
        assert!(losses.is_none());
        losses.tell(1);
        assert_eq!(losses.to_string(), "1 of 1 spans to http://here (no answer in time)");
        let span = super::super::convert::tests::any_span();
        for _ in 0..2 {
            losses.tell(2);
            let _ = SpanExporter::export(&exporter, vec![span.clone(), span.clone()]).await;
        }
        assert_eq!(losses.to_string(), "3 of 5 spans to http://here (nobody listens)");
        assert!(!losses.is_none());
    }

    #[tokio::test]
    async fn metrics_that_add_up_are_missing_only_while_none_arrive() {
        for (temporality, missing) in [(Temporality::Cumulative, 0), (Temporality::Delta, 1)] {
            let (exporter, losses) = noted("deliveries of metrics", temporality);
            let metrics = ResourceMetrics::default();
            let _ = PushMetricExporter::export(&exporter, &metrics).await;
            assert_eq!(losses.to_string(), "1 of 1 deliveries of metrics to http://here (nobody listens)");
            let _ = PushMetricExporter::export(&exporter, &metrics).await;
            assert_eq!(losses.is_none(), missing == 0, "{losses}");
        }
    }
}
