//! Telemetry of the command: exports to a collector if the environment sets one, and prints the log if it is enabled.

#[cfg(feature = "otlp")]
mod collector;
#[cfg(not(feature = "otlp"))]
#[path = "telemetry/no_collector.rs"]
mod collector;

use reknit_engine::TraceParent;
use reknit_runtime::telemetry::log::{Log, LogSettings};
use reknit_runtime::telemetry::{Propagation, Telemetry};
use tracing::level_filters::LevelFilter;

use crate::environment::variable;
use crate::output::{Failure, print_warning};
use collector::Collector;

#[derive(Debug)]
pub(crate) struct TelemetrySetup {
    collector: Collector,
    log: LogSettings,
    parent: Option<TraceParent>,
}

impl TelemetrySetup {
    /// Sets up the export to the collector of the environment. Fails if a variable is invalid.
    pub(crate) fn new(log: LogSettings) -> Result<Self, Failure> {
        Ok(Self { collector: Collector::of_environment()?, log, parent: parent() })
    }

    /// The telemetry of the driver. Installs a `tracing` subscriber that prints log lines with `write`, unless the log is off.
    pub(crate) fn telemetry(&self, write: impl Fn(&str) + Send + Sync + 'static) -> Telemetry {
        let telemetry = self.collector.add_to(Telemetry::none().tracing(self.parent, Propagation::PassedOn));
        if self.log.level != LevelFilter::OFF {
            // This fails only if a subscriber is installed already. There is none: a command drives one run.
            let _ = tracing::subscriber::set_global_default(Log::new(self.log, write));
        }
        telemetry
    }

    /// Delivers pending signals. A failure is printed as a warning and does not change the exit status.
    pub(crate) async fn end(&self) {
        self.collector.end().await;
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
