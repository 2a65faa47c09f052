//! Reads the standard variables of OpenTelemetry that decide which signals are exported, and the timeout.
//!
//! The exporter reads the variables for headers and compression itself, from the environment of the process.

use std::fmt;
use std::time::Duration;

use reknit_protocol::redact_url;

const ENDPOINT: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";
const PROTOCOL: &str = "OTEL_EXPORTER_OTLP_PROTOCOL";
const TIMEOUT: &str = "OTEL_EXPORTER_OTLP_TIMEOUT";

/// The default timeout of a delivery. A delivery is not retried, because the user waits for the last one.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(3);

/// Which signals are exported, and to which address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OtlpSettings {
    /// The destination of spans; `None` if they are not exported.
    pub traces: Option<Destination>,
    /// The destination of metrics; `None` if they are not exported.
    pub metrics: Option<Destination>,
    /// The name of the service; `None` if the environment sets it, because the exporter reads it there.
    pub service: Option<&'static str>,
}

/// The destination of one kind of signal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Destination {
    /// The address, redacted.
    pub address: String,
    pub limit: Duration,
    pub(super) endpoint: Endpoint,
}

/// The address to which signals are sent. It may contain a secret, which debug output does not show.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Endpoint(pub(super) String);

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Endpoint").field(&redact_url(&self.0)).finish()
    }
}

/// An invalid or unsupported value of a variable.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{variable}` is `{value}`{problem}")]
pub struct SettingsError {
    pub variable: String,
    /// Its value, redacted if it is an address.
    pub value: String,
    problem: &'static str,
    pub hint: &'static str,
}

/// Returns the value of a variable.
type Get<'a> = &'a dyn Fn(&str) -> Option<String>;

impl OtlpSettings {
    /// Reads the environment. Returns `None` if it sets no address of a collector, or disables the export.
    pub fn from_environment(environment: &dyn Fn(&str) -> Option<String>) -> Result<Option<Self>, SettingsError> {
        let get = |name: &str| environment(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty());
        if get("OTEL_SDK_DISABLED").is_some_and(|value| value.eq_ignore_ascii_case("true")) {
            return Ok(None);
        }
        let traces = destination("TRACES", &get)?;
        let metrics = destination("METRICS", &get)?;
        let is_named = get("OTEL_SERVICE_NAME").is_some()
            || get("OTEL_RESOURCE_ATTRIBUTES").is_some_and(|list| list.contains("service.name="));
        let service = (!is_named).then_some("reknit");
        Ok((traces.is_some() || metrics.is_some()).then_some(Self { traces, metrics, service }))
    }
}

/// The destination of one kind of signal; `None` if it has no address, or if `otlp` is not among its exporters.
fn destination(signal: &str, get: Get<'_>) -> Result<Option<Destination>, SettingsError> {
    // A variable for one kind of signal takes precedence over the one for all kinds.
    let lookup = |name: &str| {
        let own = name.replace("OTLP_", &format!("OTLP_{signal}_"));
        [own, name.to_owned()].into_iter().find_map(|name| Some((get(&name)?, name)))
    };
    let exporters = get(&format!("OTEL_{signal}_EXPORTER")).unwrap_or_else(|| "otlp".to_owned());
    let Some((address, variable)) =
        lookup(ENDPOINT).filter(|_| exporters.split(',').any(|exporter| exporter.trim() == "otlp"))
    else {
        return Ok(None);
    };
    let lower = address.to_ascii_lowercase();
    if !["http://", "https://"].iter().any(|scheme| lower.starts_with(scheme)) {
        let (problem, hint) = ("; write an http or https address", "for example, `http://127.0.0.1:4318`");
        return Err(SettingsError { variable, value: redact_url(&address), problem, hint });
    }
    match lookup(PROTOCOL) {
        Some((value, variable)) if value != "http/protobuf" => {
            let problem = ", but telemetry can only be sent as `http/protobuf`";
            let hint = "set it to `http/protobuf`, or unset it; collectors accept this protocol on port 4318";
            return Err(SettingsError { variable, value, problem, hint });
        }
        _ => {}
    }
    let limit = match lookup(TIMEOUT) {
        None => DEFAULT_TIMEOUT,
        Some((value, variable)) => match value.parse() {
            Ok(ms) if ms > 0 => Duration::from_millis(ms),
            _ => {
                let problem = "; write a positive whole number of milliseconds";
                let hint = "`10000` is ten seconds; unset it for the default of three seconds";
                return Err(SettingsError { variable, value, problem, hint });
            }
        },
    };
    let path = format!("/v1/{}", signal.to_ascii_lowercase());
    let address = if variable == ENDPOINT { format!("{}{path}", address.trim_end_matches('/')) } else { address };
    Ok(Some(Destination { address: redact_url(&address), limit, endpoint: Endpoint(address) }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(variables: &[(&str, &str)]) -> Result<Option<(bool, bool)>, String> {
        let environment =
            |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
        let read = OtlpSettings::from_environment(&environment);
        read.map(|settings| settings.map(|it| (it.traces.is_some(), it.metrics.is_some())))
            .map_err(|error| error.to_string())
    }

    #[test]
    fn the_standard_variables_decide_which_signals_are_exported() {
        const ENDPOINT: (&str, &str) = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4318");
        for (variables, expected) in [
            (&[][..], None),
            (&[("OTEL_EXPORTER_OTLP_ENDPOINT", "")], None),
            (&[ENDPOINT], Some((true, true))),
            (&[ENDPOINT, ("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf")], Some((true, true))),
            (&[ENDPOINT, ("OTEL_SDK_DISABLED", "TRUE")], None),
            (&[ENDPOINT, ("OTEL_METRICS_EXPORTER", "none")], Some((true, false))),
            (&[ENDPOINT, ("OTEL_TRACES_EXPORTER", "console"), ("OTEL_METRICS_EXPORTER", "prometheus")], None),
            (&[("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://127.0.0.1:1/v1/traces")], Some((true, false))),
            (
                &[
                    ENDPOINT,
                    ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "http/protobuf"),
                    ("OTEL_METRICS_EXPORTER", "none"),
                    ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"),
                ],
                Some((true, false)),
            ),
        ] {
            assert_eq!(read(variables), Ok(expected), "{variables:?}");
        }
    }

    #[test]
    fn the_timeout_is_set_for_all_signals_or_for_one_kind() {
        let limits = |variables: &[(&str, &str)]| {
            let variables = [&[("OTEL_EXPORTER_OTLP_ENDPOINT", "http://me:s3cret@a/")], variables].concat();
            let get = |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, it)| (*it).to_owned());
            let settings = OtlpSettings::from_environment(&get).map_err(|error| error.to_string())?.unwrap();
            let (traces, metrics) = (settings.traces.unwrap(), settings.metrics.unwrap());
            assert_eq!(traces.address, "http://[redacted]@a/v1/traces");
            assert!(!format!("{traces:?}").contains("s3cret"), "{traces:?}");
            Ok((traces.limit.as_millis(), metrics.limit.as_millis()))
        };
        assert_eq!(limits(&[]), Ok((3_000, 3_000)));
        let all = ("OTEL_EXPORTER_OTLP_TIMEOUT", "10000");
        assert_eq!(limits(&[all]), Ok((10_000, 10_000)));
        assert_eq!(limits(&[all, ("OTEL_EXPORTER_OTLP_METRICS_TIMEOUT", "500")]), Ok((10_000, 500)));
        assert_eq!(limits(&[("OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "500")]), Ok((500, 3_000)));
        for value in ["soon", "0", "-1", "1.5", "10s"] {
            let variable = "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT";
            let error = format!("`{variable}` is `{value}`; write a positive whole number of milliseconds");
            assert_eq!(limits(&[all, (variable, value)]), Err(error));
        }
    }

    #[test]
    fn an_invalid_address_or_protocol_is_an_error_that_shows_no_secret() {
        let (endpoint, protocol) = ("OTEL_EXPORTER_OTLP_ENDPOINT", ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"));
        let address = "`OTEL_EXPORTER_OTLP_ENDPOINT` is `[redacted]@a:4318`; write an http or https address";
        assert_eq!(read(&[(endpoint, "me:s3cret@a:4318")]), Err(address.to_owned()));
        let grpc = "`OTEL_EXPORTER_OTLP_PROTOCOL` is `grpc`, but telemetry can only be sent as `http/protobuf`";
        assert_eq!(read(&[(endpoint, "http://a"), protocol]), Err(grpc.to_owned()));
        assert_eq!(read(&[protocol]), Ok(None), "without an address the protocol does not matter");
    }
}
