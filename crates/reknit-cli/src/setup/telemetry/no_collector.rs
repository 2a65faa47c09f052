//! What stands for the collector in a program that was built without the feature `otlp`.

use reknit_runtime::telemetry::Telemetry;

use crate::environment::variable;
use crate::output::{Failure, print_warning};

const VARIABLES: [&str; 3] =
    ["OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT"];

#[derive(Debug)]
pub(super) struct Collector;

impl Collector {
    #[expect(clippy::unnecessary_wraps, reason = "a real collector can fail")]
    pub(super) fn of_environment() -> Result<Self, Failure> {
        if let Some(name) = VARIABLES.into_iter().find(|name| variable(name).is_some_and(|value| !value.is_empty())) {
            print_warning(&format!("`{name}` is ignored: this program was built without the feature `otlp`"));
        }
        Ok(Self)
    }

    #[expect(clippy::unused_self, reason = "a real collector is added")]
    pub(super) fn add_to(&self, telemetry: Telemetry) -> Telemetry {
        telemetry
    }

    #[expect(clippy::unused_async, clippy::unused_self, reason = "a real collector is waited for")]
    pub(super) async fn end(&self) {}
}
