//! The standard variables of OpenTelemetry, as far as they decide whether anything is sent, and how long that may take.
//! Headers are read by the exporter itself, by the same standard, and so are addresses, which are only looked at here.

use std::time::Duration;

use reknit_protocol::shown_url;

const ENDPOINT: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";
const PROTOCOL: &str = "OTEL_EXPORTER_OTLP_PROTOCOL";
const TIMEOUT: &str = "OTEL_EXPORTER_OTLP_TIMEOUT";

/// How long one delivery may take if nobody says. It is tried once: at the end of a command somebody waits for it.
const DELIVERY: Duration = Duration::from_secs(3);

/// What is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OtlpSettings {
    /// Where spans are, if they are.
    pub traces: Option<Destination>,
    /// Where metrics are, if they are.
    pub metrics: Option<Destination>,
    /// What the service is called, if the environment does not say.
    pub service: Option<&'static str>,
}

/// Where a kind of signal is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Destination {
    /// The address, without what may be secret in it.
    pub address: String,
    /// How long one delivery may take.
    pub limit: Duration,
}

/// A variable that asks for what there is not.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SettingsError {
    /// Another protocol.
    #[error("`{variable}` asks for the protocol `{value}`; telemetry is only sent as `http/protobuf`")]
    Protocol {
        /// Which variable.
        variable: String,
        /// What it says.
        value: String,
    },
    /// No address.
    #[error("`{variable}` is `{value}`; write an http or https address")]
    Address {
        /// Which variable.
        variable: String,
        /// What it says, without what may be secret in it.
        value: String,
    },
    /// No time.
    #[error("`{variable}` is `{value}`; write a whole number of milliseconds that is not 0")]
    Timeout {
        /// Which variable.
        variable: String,
        /// What it says.
        value: String,
    },
}

/// Looks a variable up.
type Get<'a> = &'a dyn Fn(&str) -> Option<String>;

impl OtlpSettings {
    /// Reads what the environment says; nothing if it names no collector, or does not want to hear from us.
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

/// Where a kind of signal is sent, if there is an address for it, and nobody names another way for it.
fn destination(signal: &str, get: Get<'_>) -> Result<Option<Destination>, SettingsError> {
    // What is said for one kind of signal beats what is said for all.
    let first = |name: &str| {
        let own = name.replace("OTLP_", &format!("OTLP_{signal}_"));
        [own, name.to_owned()].into_iter().find_map(|name| Some((get(&name)?, name)))
    };
    let ways = get(&format!("OTEL_{signal}_EXPORTER")).unwrap_or_else(|| "otlp".to_owned());
    let Some((address, variable)) = first(ENDPOINT).filter(|_| ways.split(',').any(|way| way.trim() == "otlp")) else {
        return Ok(None);
    };
    let lower = address.to_ascii_lowercase();
    if !["http://", "https://"].iter().any(|scheme| lower.starts_with(scheme)) {
        return Err(SettingsError::Address { variable, value: shown_url(&address) });
    }
    match first(PROTOCOL) {
        Some((value, variable)) if value != "http/protobuf" => return Err(SettingsError::Protocol { variable, value }),
        _ => {}
    }
    let limit = match first(TIMEOUT) {
        None => DELIVERY,
        Some((value, variable)) => match value.parse() {
            Ok(ms) if ms > 0 => Duration::from_millis(ms),
            _ => return Err(SettingsError::Timeout { variable, value }),
        },
    };
    let path = format!("/v1/{}", signal.to_ascii_lowercase());
    let address = if variable == ENDPOINT { format!("{}{path}", address.trim_end_matches('/')) } else { address };
    Ok(Some(Destination { address: shown_url(&address), limit }))
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
    fn the_standard_variables_decide_what_is_sent() {
        const THERE: (&str, &str) = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4318");
        for (variables, expected) in [
            (&[][..], None),
            (&[("OTEL_EXPORTER_OTLP_ENDPOINT", "")], None),
            (&[THERE], Some((true, true))),
            (&[THERE, ("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf")], Some((true, true))),
            (&[THERE, ("OTEL_SDK_DISABLED", "TRUE")], None),
            (&[THERE, ("OTEL_METRICS_EXPORTER", "none")], Some((true, false))),
            (&[THERE, ("OTEL_TRACES_EXPORTER", "console"), ("OTEL_METRICS_EXPORTER", "prometheus")], None),
            (&[("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://127.0.0.1:1/v1/traces")], Some((true, false))),
            (
                &[
                    THERE,
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
    fn how_long_a_delivery_may_take_is_said_in_milliseconds_for_all_or_for_one() {
        let limits = |variables: &[(&str, &str)]| {
            let variables = [&[("OTEL_EXPORTER_OTLP_ENDPOINT", "http://me:s3cret@a/")], variables].concat();
            let get = |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, it)| (*it).to_owned());
            let settings = OtlpSettings::from_environment(&get).map_err(|error| error.to_string())?.unwrap();
            let (traces, metrics) = (settings.traces.unwrap(), settings.metrics.unwrap());
            assert_eq!(traces.address, "http://[redacted]@a/v1/traces");
            Ok((traces.limit.as_millis(), metrics.limit.as_millis()))
        };
        assert_eq!(limits(&[]), Ok((3_000, 3_000)));
        let all = ("OTEL_EXPORTER_OTLP_TIMEOUT", "10000");
        assert_eq!(limits(&[all]), Ok((10_000, 10_000)));
        assert_eq!(limits(&[all, ("OTEL_EXPORTER_OTLP_METRICS_TIMEOUT", "500")]), Ok((10_000, 500)));
        assert_eq!(limits(&[("OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "500")]), Ok((500, 3_000)));
        for value in ["soon", "0", "-1", "1.5", "10s"] {
            let variable = "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT";
            let error = format!("`{variable}` is `{value}`; write a whole number of milliseconds that is not 0");
            assert_eq!(limits(&[all, (variable, value)]), Err(error));
        }
    }

    #[test]
    fn what_is_no_address_is_an_error_that_shows_no_secret() {
        let error = read(&[("OTEL_EXPORTER_OTLP_ENDPOINT", "me:s3cret@a:4318")]);
        let words = "`OTEL_EXPORTER_OTLP_ENDPOINT` is `[redacted]@a:4318`; write an http or https address";
        assert_eq!(error, Err(words.to_owned()));
    }

    #[test]
    fn a_protocol_that_is_not_spoken_is_an_error_that_names_it() {
        let error = read(&[("OTEL_EXPORTER_OTLP_ENDPOINT", "http://a"), ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")]);
        assert_eq!(
            error,
            Err(
                "`OTEL_EXPORTER_OTLP_PROTOCOL` asks for the protocol `grpc`; telemetry is only sent as `http/protobuf`"
                    .to_owned()
            )
        );
        assert_eq!(read(&[("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")]), Ok(None), "without an address nothing is sent");
    }
}
