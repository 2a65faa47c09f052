//! Who is told about runs: a collector, if the environment names one, and a log, if it asks for one.

use std::io::Write as _;
use std::sync::Arc;

use reknit_engine::telemetry::TraceParent;
use reknit_runtime::telemetry::log::{Level, Log, LogSettings};
use reknit_runtime::telemetry::otlp::{Otlp, OtlpSettings, SettingsError};
use reknit_runtime::telemetry::{Propagation, Telemetry};

use crate::failure::Failure;
use crate::work::environment;

/// Who is told.
#[derive(Debug)]
pub(crate) struct Telling {
    collector: Option<Arc<Otlp>>,
    log: LogSettings,
    parent: Option<TraceParent>,
}

impl Telling {
    /// A log as it is set, and whatever collector the environment names.
    pub(crate) fn new(log: LogSettings) -> Result<Self, Failure> {
        let settings = OtlpSettings::from_environment(&environment)
            .map_err(|error| Failure::Usage { what: error.to_string(), hint: Some(hint(&error).to_owned()) })?;
        let collector = settings.as_ref().map(Otlp::new).transpose();
        let collector =
            collector.map_err(|source| Failure::Start { what: "telemetry", source: Box::new(source) })?.map(Arc::new);
        Ok(Self { collector, log, parent: parent() })
    }

    /// Everybody who is told. Lines of the log are handed to `write`.
    pub(crate) fn telemetry(&self, write: impl Fn(&str) + Send + Sync + 'static) -> Telemetry {
        let sends_spans = self.collector.as_ref().is_some_and(|collector| collector.sends_spans());
        let propagation = if sends_spans { Propagation::Sent } else { Propagation::PassedOn };
        let mut telemetry = Telemetry::none().tracing(self.parent, propagation);
        if let Some(collector) = &self.collector {
            telemetry = telemetry.with(Arc::clone(collector) as _);
        }
        if self.log.level != Level::Off {
            telemetry = telemetry.with(Arc::new(Log::new(self.log, write)));
        }
        telemetry
    }

    /// Delivers what is not delivered yet. That it could not be delivered is said, and changes nothing else.
    pub(crate) async fn end(&self) {
        let Some(collector) = &self.collector else { return };
        if let Err(error) = Arc::clone(collector).deliver().await {
            let hint = "see whether a collector takes OTLP over HTTP there, and what it says; docs/telemetry.md has the settings";
            let _ = writeln!(std::io::stderr(), "warning: {error}\n\nhint: {hint}");
        }
        // To drop the exporter is to deliver all numbers once more, and to wait for that. The process ends here.
        std::mem::forget(Arc::clone(collector));
    }
}

/// What to write instead.
fn hint(error: &SettingsError) -> &'static str {
    match error {
        SettingsError::Protocol { .. } => {
            "set it to `http/protobuf`, or leave it out; collectors take that on port 4318"
        }
        SettingsError::Address { .. } => "write it like `http://127.0.0.1:4318`",
        SettingsError::Timeout { .. } => "`10000` is ten seconds; leave it out for three",
    }
}

/// The span that this process is a part of.
fn parent() -> Option<TraceParent> {
    let text = environment("TRACEPARENT").filter(|text| !text.is_empty())?;
    match text.parse() {
        Ok(parent) => Some(parent),
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "warning: TRACEPARENT is left aside: {error}");
            None
        }
    }
}
