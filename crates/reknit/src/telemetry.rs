//! Telemetry of the command: exports to a collector if the environment sets one, and prints the log if it is enabled.

use std::io::Write as _;
use std::sync::Arc;

use reknit_engine::TraceParent;
use reknit_runtime::telemetry::log::{Level, LogSettings, LogSubscriber};
use reknit_runtime::telemetry::otlp::{Otlp, OtlpSettings, SettingsError};
use reknit_runtime::telemetry::{Propagation, Telemetry};

use crate::environment::variable;
use crate::failure::Failure;

/// The telemetry settings of the command.
#[derive(Debug)]
pub(crate) struct Telling {
    collector: Option<Arc<Otlp>>,
    log: LogSettings,
    parent: Option<TraceParent>,
}

impl Telling {
    /// Sets up the export to the collector of the environment. Fails if a variable is invalid.
    pub(crate) fn new(log: LogSettings) -> Result<Self, Failure> {
        let settings = OtlpSettings::from_environment(&variable)
            .map_err(|error| Failure::Usage { message: error.to_string(), hint: Some(hint(&error).to_owned()) })?;
        let collector = settings.as_ref().map(Otlp::new).transpose();
        let collector =
            collector.map_err(|source| Failure::Start { what: "telemetry", source: Box::new(source) })?.map(Arc::new);
        Ok(Self { collector, log, parent: parent() })
    }

    /// The telemetry of the driver. Installs a `tracing` subscriber that prints log lines with `write`, unless the log is off.
    pub(crate) fn telemetry(&self, write: impl Fn(&str) + Send + Sync + 'static) -> Telemetry {
        let sends_spans = self.collector.as_ref().is_some_and(|collector| collector.sends_spans());
        let propagation = if sends_spans { Propagation::Sent } else { Propagation::PassedOn };
        let mut telemetry = Telemetry::none().tracing(self.parent, propagation);
        if let Some(collector) = &self.collector {
            telemetry = telemetry.with(Arc::clone(collector) as _);
        }
        if self.log.level != Level::Off {
            // This fails only if a subscriber is installed already. There is none: a command drives one run.
            let _ = tracing::subscriber::set_global_default(LogSubscriber::new(self.log, write));
        }
        telemetry
    }

    /// Delivers pending signals. A failure is printed as a warning and does not change the exit status.
    pub(crate) async fn end(&self) {
        let Some(collector) = &self.collector else { return };
        if let Err(error) = Arc::clone(collector).deliver().await {
            let hint = "check that a collector accepts OTLP over HTTP at this address; docs/telemetry.md describes the settings";
            let _ = writeln!(std::io::stderr(), "warning: {error}\n\nhint: {hint}");
        }
        // Dropping the exporter would deliver all metrics again and wait for it. The process ends here anyway.
        std::mem::forget(Arc::clone(collector));
    }
}

/// How to fix a variable.
fn hint(error: &SettingsError) -> &'static str {
    match error {
        SettingsError::Protocol { .. } => {
            "set it to `http/protobuf`, or unset it; collectors accept this protocol on port 4318"
        }
        SettingsError::Address { .. } => "for example, `http://127.0.0.1:4318`",
        SettingsError::Timeout { .. } => "`10000` is ten seconds; unset it for the default of three seconds",
    }
}

/// The parent span of new runs.
fn parent() -> Option<TraceParent> {
    let text = variable("TRACEPARENT").filter(|text| !text.is_empty())?;
    match text.parse() {
        Ok(parent) => Some(parent),
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "warning: ignoring TRACEPARENT: {error}");
            None
        }
    }
}
