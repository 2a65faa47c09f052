//! Telemetry of the command: exports to a collector if the environment sets one, and prints the log if it is enabled.

use std::sync::Arc;

use reknit_engine::TraceParent;
use reknit_runtime::telemetry::log::{Log, LogSettings};
use reknit_runtime::telemetry::otlp::{EnvironmentError, Otlp};
use reknit_runtime::telemetry::{Propagation, Telemetry};
use tracing::level_filters::LevelFilter;

use crate::environment::variable;
use crate::failure::Failure;
use crate::print::print_warning;

/// The telemetry of the command.
#[derive(Debug)]
pub(crate) struct TelemetrySetup {
    collector: Option<Arc<Otlp>>,
    log: LogSettings,
    parent: Option<TraceParent>,
}

impl TelemetrySetup {
    /// Sets up the export to the collector of the environment. Fails if a variable is invalid.
    pub(crate) fn new(log: LogSettings) -> Result<Self, Failure> {
        let collector = Otlp::from_environment(&variable).map_err(|error| match error {
            EnvironmentError::Settings(error) => Failure::usage(error.to_string(), error.hint),
            EnvironmentError::Start(error) => Failure::start("telemetry")(error),
        })?;
        Ok(Self { collector, log, parent: parent() })
    }

    /// The telemetry of the driver. Installs a `tracing` subscriber that prints log lines with `write`, unless the log is off.
    pub(crate) fn telemetry(&self, write: impl Fn(&str) + Send + Sync + 'static) -> Telemetry {
        let mut telemetry = Telemetry::none().tracing(self.parent, Propagation::PassedOn);
        if let Some(collector) = &self.collector {
            telemetry = telemetry.with_collector(collector);
        }
        if self.log.level != LevelFilter::OFF {
            // This fails only if a subscriber is installed already. There is none: a command drives one run.
            let _ = tracing::subscriber::set_global_default(Log::new(self.log, write));
        }
        telemetry
    }

    /// Delivers pending signals. A failure is printed as a warning and does not change the exit status.
    pub(crate) async fn end(&self) {
        let Some(collector) = &self.collector else { return };
        if let Err(error) = Arc::clone(collector).deliver().await {
            let hint = "check that a collector accepts OTLP over HTTP at this address; docs/telemetry.md describes the settings";
            print_warning(&format!("{error}\n\nhint: {hint}"));
        }
        // Dropping the exporter would deliver all metrics again and wait for it. The process ends here anyway.
        std::mem::forget(Arc::clone(collector));
    }
}

/// The parent span of new runs.
fn parent() -> Option<TraceParent> {
    let text = variable("TRACEPARENT").filter(|text| !text.is_empty())?;
    match text.parse() {
        Ok(parent) => Some(parent),
        Err(error) => {
            print_warning(&format!("ignoring TRACEPARENT: {error}"));
            None
        }
    }
}
