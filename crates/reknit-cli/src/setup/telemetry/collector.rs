//! The collector of the environment.

use std::sync::Arc;

use reknit_runtime::telemetry::Telemetry;
use reknit_runtime::telemetry::otlp::{EnvironmentError, Otlp};

use crate::environment::variable;
use crate::output::{Failure, print_warning};

/// The collector, if the environment names one.
#[derive(Debug)]
pub(super) struct Collector(Option<Arc<Otlp>>);

impl Collector {
    /// Fails if a variable is invalid.
    pub(super) fn of_environment() -> Result<Self, Failure> {
        let collector = Otlp::from_environment(&variable).map_err(|error| match error {
            EnvironmentError::Settings(error) => Failure::usage(error.to_string(), error.hint),
            EnvironmentError::Start(error) => Failure::start("telemetry")(error),
        })?;
        Ok(Self(collector))
    }

    /// Telemetry that goes to the collector as well.
    pub(super) fn add_to(&self, telemetry: Telemetry) -> Telemetry {
        match &self.0 {
            Some(collector) => telemetry.with_collector(collector),
            None => telemetry,
        }
    }

    /// Delivers pending signals. A failure is printed as a warning.
    pub(super) async fn end(&self) {
        let Some(collector) = &self.0 else { return };
        if let Err(error) = Arc::clone(collector).deliver().await {
            let hint = "check that a collector accepts OTLP over HTTP at this address; docs/telemetry.md describes the settings";
            print_warning(&format!("{error}\n\nhint: {hint}"));
        }
        // Dropping the exporter would deliver all metrics again and wait for it. The process ends here anyway.
        std::mem::forget(Arc::clone(collector));
    }
}
